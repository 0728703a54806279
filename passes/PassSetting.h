//===- PassSetting.h - a pass option that may be left open ------*- C++ -*-===//
//
// A pipeline that is printed (gc-opt --dump-pass-pipeline) must be the same pipeline when it is
// parsed again. MLIR's own options cannot promise that here: they print every option, also those
// that nobody set (an optimizer refuses a setting that it does not have), and only six digits of a
// number.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_PASSSETTING_H
#define GC_PASSES_PASSSETTING_H

#include "llvm/Support/CommandLine.h"
#include <charconv>
#include <optional>

namespace gc {

/// The value of a pass option: a number, or nothing, which is written `default` and leaves the
/// choice to the pass.
template <typename Number> struct PassSetting {
  PassSetting() = default;
  PassSetting(std::optional<Number> value) : value(value) {}
  PassSetting(Number value) : value(value) {}

  std::optional<Number> value;
};

} // namespace gc

namespace llvm::cl {

/// Parses `default` or a number, and prints what it can parse: a number with as many digits as give
/// the same number again.
template <typename Number>
class parser<gc::PassSetting<Number>> : public basic_parser<gc::PassSetting<Number>> {
public:
  explicit parser(Option &option)
      : basic_parser<gc::PassSetting<Number>>(option), numbers(option) {}

  bool parse(Option &option, StringRef name, StringRef text, gc::PassSetting<Number> &setting) {
    setting.value.reset();
    if (text == "default")
      return false;
    Number number{};
    if (numbers.parse(option, name, text, number))
      return true;
    setting.value = number;
    return false;
  }

  static void print(raw_ostream &out, const gc::PassSetting<Number> &setting) {
    if (!setting.value) {
      out << "default";
      return;
    }
    char text[64];
    out << StringRef(text, std::to_chars(text, text + sizeof(text), *setting.value).ptr - text);
  }

  // LLVM asks for this; it serves --print-options alone, which knows no options of passes.
  void printOptionDiff(const Option &option, const gc::PassSetting<Number> &,
                       const OptionValue<gc::PassSetting<Number>> &, size_t width) const {
    this->printOptionNoValue(option, width);
  }

  StringRef getValueName() const override { return numbers.getValueName(); }

private:
  parser<Number> numbers;
};

} // namespace llvm::cl

#endif // GC_PASSES_PASSSETTING_H
