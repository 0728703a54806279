//===- CheckSizes.cpp - are the sizes of a network possible ---------------===//
#include "models/CheckSizes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using llvm::Twine;

namespace gc::models {

llvm::Error badSize(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Error checkSizes(std::initializer_list<Size> sizes) {
  for (const Size &size : sizes)
    if (size.value < size.smallest || size.value > size.largest)
      return badSize("--" + size.flag + "=" + Twine(size.value) + " is out of range: use " +
                     Twine(size.smallest) + " to " + Twine(size.largest));
  return llvm::Error::success();
}

llvm::Error checkOneOf(llvm::StringRef flag, int64_t value, llvm::ArrayRef<int64_t> allowed) {
  if (llvm::is_contained(allowed, value))
    return llvm::Error::success();
  std::string list;
  for (size_t i = 0; i < allowed.size(); ++i) {
    if (i > 0)
      list += i + 1 == allowed.size() ? " or " : ", ";
    list += std::to_string(allowed[i]);
  }
  return badSize("--" + flag + "=" + Twine(value) + " is not possible: use " + list);
}

llvm::Error checkBatchNorm(int64_t batch, int64_t side) {
  if (batch * side * side >= 2)
    return llvm::Error::success();
  return badSize("--batch=1 leaves batch norm a single value a channel where the image has become "
                 "1x1: use --batch=2 or more");
}

} // namespace gc::models
