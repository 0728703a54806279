// What an exported program says, as plain data: PyTorch's schema (torch/_export/serde/schema.yaml)
// without what importing does not need. Shapes are numbers; what is symbolic is refused.
#ifndef GC_TOOLS_GC_IMPORT_PROGRAM_H
#define GC_TOOLS_GC_IMPORT_PROGRAM_H

#include "runtime/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc::importer {

/// PyTorch's numbers of its types. All others are refused where a value of them is used.
enum class DType : int {
  U8 = 1,
  I8 = 2,
  I16 = 3,
  I32 = 4,
  I64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  Bool = 12,
  BF16 = 13
};
/// As safetensors call it; empty for a type that gc does not know.
std::string_view fileTypeOf(DType type);
size_t bytesOf(DType type);
bool isFloat(DType type);

struct TensorMeta {
  DType dtype = DType::F32;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  int64_t elements() const;
  bool isContiguous() const;
};

/// An argument of an op. Numbers of every kind are in `numbers`: a bool is 0 or 1.
struct Argument {
  enum class Kind { None, Tensor, Tensors, Number, Numbers, Text, Other };
  Kind kind = Kind::None;
  std::vector<std::string> tensors; // their names; empty for an optional one that is not there
  std::vector<double> numbers;
  bool isInteger = false; // numbers are whole by type
  std::string text;       // a string, or what an argument of another kind is
};

struct Node {
  std::string target; // `aten.conv2d.default`
  std::vector<std::pair<std::string, Argument>> arguments;
  std::vector<std::string> outputs; // empty names where there is none
  std::string module;               // `layer1.0.conv1`; empty for the model itself
  bool inLayer = false;             // the module is one of torch.nn: an op is what it does

  /// Null where the exporter left the default.
  const Argument *find(std::string_view argument) const;
};

struct InputSpec {
  enum class Kind { User, Parameter, Buffer, Constant };
  Kind kind = Kind::User;
  std::string value; // in the graph
  std::string name;  // of a parameter, buffer or constant, as PyTorch has it
  bool persistent = true;
};

struct OutputSpec {
  enum class Kind { User, Loss, Other };
  Kind kind = Kind::User;
  std::string value;
};

struct Program {
  std::string torchVersion;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> values;

  const TensorMeta *find(const std::string &value) const;
};

/// A tensor beside the graph: its entry in the archive.
struct Payload {
  std::string entry;
  bool pickled = false;
  bool isWeight = false; // in the model's state_dict()
  TensorMeta meta;
};

/// Reads the archive's model.json. Fails (bad input) where it is not one, of another schema, or has
/// symbolic shapes.
runtime::Result<Program> parseProgram(std::string_view text);
/// Reads a table of tensors, whose entries are in `folder`: by their names.
runtime::Result<std::map<std::string, Payload>> parsePayloads(std::string_view text,
                                                              const std::string &folder);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_PROGRAM_H
