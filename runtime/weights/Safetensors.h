// Safetensors files: eight bytes of header length, a JSON header that gives every tensor its dtype,
// shape and byte range, then the bytes. Reading trusts nothing in the header before checking it.
#ifndef GC_RUNTIME_WEIGHTS_SAFETENSORS_H
#define GC_RUNTIME_WEIGHTS_SAFETENSORS_H

#include "runtime/Error.h"
#include "runtime/process/AtomicFile.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gc::runtime {

/// Bytes of one element of a safetensors dtype name (`F32`, `I64`, ...); 0 where unknown.
size_t safetensorsElementBytes(std::string_view dtype);

/// `[2, 3]`, as messages print shapes.
std::string shapeText(const std::vector<int64_t> &shape);

struct SafetensorsEntry {
  std::string dtype;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0; // absolute bytes in the file
  uint64_t elements() const { return (end - begin) / safetensorsElementBytes(dtype); }
};

/// An open file. Move-only; owns the descriptor. read() may be called from several threads.
class SafetensorsFile {
public:
  /// Fails (bad input) unless the file is a whole, consistent safetensors file.
  static Result<SafetensorsFile> open(const std::string &path);

  SafetensorsFile(SafetensorsFile &&other) noexcept;
  SafetensorsFile &operator=(SafetensorsFile &&) = delete;
  ~SafetensorsFile();

  const std::string &path() const { return name; }
  const std::map<std::string, SafetensorsEntry> &tensors() const { return entries; }
  const std::map<std::string, std::string> &metadata() const { return strings; }
  /// Null where there is no such tensor.
  const SafetensorsEntry *find(const std::string &tensor) const;

  /// Reads `bytes` bytes from `offset` within the tensor. Allocates nothing unless it fails.
  Status read(const SafetensorsEntry &entry, uint64_t offset, void *target, size_t bytes) const;
  /// Reads elements [first, first + count) of an F32, F64, F16 or BF16 tensor as f32.
  Status readFloats(const SafetensorsEntry &entry, uint64_t first, float *target,
                    size_t count) const;

private:
  SafetensorsFile() = default;
  Status parseHeader(std::string_view json, uint64_t dataBegin, uint64_t fileBytes);

  std::string name;
  int fd = -1;
  std::map<std::string, SafetensorsEntry> entries;
  std::map<std::string, std::string> strings;
};

struct SafetensorsDeclaration {
  std::string name, dtype;
  std::vector<int64_t> shape;
};

/// Streams a file: declare all tensors first, then append their bytes in the order of order().
/// Nothing is visible under the final name before finish().
class SafetensorsWriter {
public:
  static Result<SafetensorsWriter> create(const std::string &path,
                                          std::vector<SafetensorsDeclaration> tensors,
                                          const std::map<std::string, std::string> &metadata = {});

  /// Sorted by element size, largest first, then by name: every tensor is aligned, and the bytes do
  /// not depend on the order of declaration.
  const std::vector<SafetensorsDeclaration> &order() const { return tensors; }
  Status append(const void *data, size_t bytes);
  /// Fails if the bytes appended are not those declared.
  Status finish();

private:
  SafetensorsWriter(AtomicFile file) : file(std::move(file)) {}
  AtomicFile file;
  std::vector<SafetensorsDeclaration> tensors;
  uint64_t expected = 0, appended = 0;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_SAFETENSORS_H
