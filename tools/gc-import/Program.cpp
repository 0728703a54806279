#include "tools/gc-import/Program.h"

#include "tools/gc-import/JsonReader.h"

#include <fmt/format.h>

namespace gc::importer {

using namespace runtime;
using nlohmann::json;

namespace {

// The schema that this reader was written for; a newer minor version only adds what may be absent.
constexpr int64_t schemaMajor = 8;
constexpr size_t maxNodes = 200'000, maxRank = 64;
// Of f32 in a tensor of gc.
// Rows of any dimensions are then no more than ops of the dialect count.
constexpr int64_t maxElements = (int64_t{1} << 31) - 1;

struct TypeRow {
  DType type;
  std::string_view inFile;
  size_t bytes;
  bool isFloat;
};
constexpr TypeRow types[] = {{DType::U8, "U8", 1, false},     {DType::I8, "I8", 1, false},
                             {DType::I16, "I16", 2, false},   {DType::I32, "I32", 4, false},
                             {DType::I64, "I64", 8, false},   {DType::F16, "F16", 2, true},
                             {DType::F32, "F32", 4, true},    {DType::F64, "F64", 8, true},
                             {DType::Bool, "BOOL", 1, false}, {DType::BF16, "BF16", 2, true}};

const TypeRow *rowOf(DType type) {
  for (const TypeRow &row : types)
    if (row.type == type)
      return &row;
  return nullptr;
}

/// Reads programs; `json` says what was wrong.
class ProgramReader {
public:
  JsonReader in;
  bool symbolic = false;

  Program program(const json &root) {
    Program result;
    if (const json *version = in.optional(root, "torch_version"))
      result.torchVersion = in.text(*version, "torch_version");
    const json &module = in.member(root, "graph_module");
    const json &graph = in.member(module, "graph");
    for (const auto &[name, meta] :
         in.object(in.member(graph, "tensor_values"), "tensor_values").items())
      result.values.emplace(name, tensor(meta));
    const json &nodes = in.array(in.member(graph, "nodes"), "nodes");
    if (nodes.size() > maxNodes) {
      in.fail(
          fmt::format("the graph has {} nodes, and at most {} are read", nodes.size(), maxNodes));
      return result;
    }
    for (const json &each : nodes)
      result.nodes.push_back(node(each));
    const json &signature = in.member(module, "signature");
    for (const json &spec : in.array(in.member(signature, "input_specs"), "input_specs"))
      if (std::optional<InputSpec> read = input(spec))
        result.inputs.push_back(std::move(*read));
    for (const json &spec : in.array(in.member(signature, "output_specs"), "output_specs"))
      result.outputs.push_back(output(spec));
    return result;
  }

  TensorMeta tensor(const json &meta) {
    TensorMeta result;
    result.dtype = static_cast<DType>(in.integer(in.member(meta, "dtype"), "a dtype"));
    for (const json &size : in.array(in.member(meta, "sizes"), "sizes"))
      result.sizes.push_back(symbolicInt(size));
    for (const json &stride : in.array(in.member(meta, "strides"), "strides"))
      result.strides.push_back(symbolicInt(stride));
    result.offset = symbolicInt(in.member(meta, "storage_offset"));
    if (result.sizes.size() > maxRank || result.sizes.size() != result.strides.size())
      in.fail(fmt::format("a tensor has {} sizes and {} strides", result.sizes.size(),
                          result.strides.size()));
    for (int64_t size : result.sizes)
      if (size < 0)
        in.fail(fmt::format("a tensor has the size {}", size));
    if (int64_t count = result.elements(); count < 0 || count > maxElements)
      in.fail(fmt::format("a tensor has more than {} elements", maxElements));
    return result;
  }

private:
  int64_t symbolicInt(const json &value) {
    auto [kind, number] = in.variant(value, "a size");
    if (kind == "as_int")
      return in.integer(*number, "a size");
    symbolic = true;
    return 1;
  }

  std::string tensorName(const json &argument) {
    return in.text(in.member(argument, "name"), "the name of a tensor");
  }

  Argument argument(const json &value) {
    Argument result;
    auto [kind, content] = in.variant(value, "an argument");
    auto numbers = [&](const json &list, Argument::Kind as, bool whole) {
      result.kind = as;
      result.isInteger = whole;
      for (const json &each : in.array(list, "an argument"))
        result.numbers.push_back(each.is_boolean() ? (each.get<bool>() ? 1 : 0)
                                                   : in.number(each, "an argument"));
    };
    auto one = [&](bool whole) { numbers(json::array({*content}), Argument::Kind::Number, whole); };
    if (kind == "as_none")
      return result;
    if (kind == "as_tensor") {
      result.kind = Argument::Kind::Tensor;
      result.tensors.push_back(tensorName(*content));
    } else if (kind == "as_tensors") {
      result.kind = Argument::Kind::Tensors;
      for (const json &each : in.array(*content, "an argument"))
        result.tensors.push_back(tensorName(each));
    } else if (kind == "as_optional_tensors") {
      result.kind = Argument::Kind::Tensors;
      for (const json &each : in.array(*content, "an argument")) {
        auto [which, tensor] = in.variant(each, "an argument");
        result.tensors.push_back(which == "as_tensor" ? tensorName(*tensor) : "");
      }
    } else if (kind == "as_optional_tensor") {
      auto [which, tensor] = in.variant(*content, "an argument");
      if (which == "as_tensor") {
        result.kind = Argument::Kind::Tensor;
        result.tensors.push_back(tensorName(*tensor));
      }
    } else if (kind == "as_int" || kind == "as_bool" || kind == "as_scalar_type" ||
               kind == "as_memory_format" || kind == "as_layout") {
      one(/*whole=*/true);
    } else if (kind == "as_float") {
      one(/*whole=*/false);
    } else if (kind == "as_ints" || kind == "as_bools") {
      numbers(*content, Argument::Kind::Numbers, /*whole=*/true);
    } else if (kind == "as_floats") {
      numbers(*content, Argument::Kind::Numbers, /*whole=*/false);
    } else if (kind == "as_string" || kind == "as_device") {
      result.kind = Argument::Kind::Text;
      if (content->is_string())
        result.text = content->get<std::string>();
    } else if (kind == "as_sym_int" || kind == "as_sym_ints" || kind == "as_sym_bool" ||
               kind == "as_sym_float") {
      // Sizes that were computed, and yet are numbers, come so.
      bool isList = content->is_array();
      result.kind = isList ? Argument::Kind::Numbers : Argument::Kind::Number;
      result.isInteger = kind != "as_sym_float";
      for (const json &each : isList ? *content : json::array({*content})) {
        auto [which, number] = in.variant(each, "an argument");
        if (which == "as_name") {
          symbolic = true;
          return {};
        }
        result.numbers.push_back(number->is_boolean() ? (number->get<bool>() ? 1 : 0)
                                                      : in.number(*number, "an argument"));
      }
    } else {
      result.kind = Argument::Kind::Other;
      result.text = kind;
    }
    return result;
  }

  Node node(const json &value) {
    Node result;
    result.target = in.text(in.member(value, "target"), "a target");
    constexpr std::string_view prefix = "torch.ops.";
    if (result.target.compare(0, prefix.size(), prefix) == 0)
      result.target.erase(0, prefix.size());
    for (const json &each : in.array(in.member(value, "inputs"), "inputs"))
      result.arguments.emplace_back(in.text(in.member(each, "name"), "the name of an argument"),
                                    argument(in.member(each, "arg")));
    for (const json &each : in.array(in.member(value, "outputs"), "outputs")) {
      Argument output = argument(each);
      if (output.tensors.empty())
        result.outputs.emplace_back();
      for (std::string &name : output.tensors)
        result.outputs.push_back(std::move(name));
    }
    if (const json *metadata = in.optional(value, "metadata"))
      if (const json *stack = in.optional(*metadata, "nn_module_stack");
          stack && stack->is_string())
        place(stack->get<std::string>(), result);
    return result;
  }

  // `L__self__,,torchvision.models.resnet.ResNet;L__self__conv1,conv1,torch.nn.modules.conv.Conv2d`
  static void place(const std::string &stack, Node &node) {
    size_t last = stack.rfind(';');
    std::string_view entry = std::string_view(stack).substr(last == stack.npos ? 0 : last + 1);
    size_t first = entry.find(','), second = entry.find(',', first == entry.npos ? 0 : first + 1);
    if (first == entry.npos || second == entry.npos)
      return;
    node.module = entry.substr(first + 1, second - first - 1);
    std::string_view type = entry.substr(second + 1);
    node.inLayer = type.find("torch.nn.modules.") == 0;
  }

  std::optional<InputSpec> input(const json &value) {
    auto [kind, spec] = in.variant(value, "an input");
    InputSpec result;
    auto named = [&](InputSpec::Kind as, const char *key) {
      result.kind = as;
      result.value = tensorName(in.member(*spec, "arg"));
      result.name = in.text(in.member(*spec, key), "the name of an input");
    };
    if (kind == "parameter") {
      named(InputSpec::Kind::Parameter, "parameter_name");
    } else if (kind == "buffer") {
      named(InputSpec::Kind::Buffer, "buffer_name");
      result.persistent = in.truth(in.member(*spec, "persistent"), "persistent");
    } else if (kind == "tensor_constant") {
      named(InputSpec::Kind::Constant, "tensor_constant_name");
      result.persistent = false;
    } else if (kind == "user_input") {
      Argument argument = this->argument(in.member(*spec, "arg"));
      if (argument.kind != Argument::Kind::Tensor)
        return std::nullopt; // a number or nothing, which the graph does not read
      result.value = argument.tensors.front();
    } else if (kind == "constant_input") {
      return std::nullopt; // likewise: it is written into the graph
    } else {
      in.fail(fmt::format("the model has an input of the kind '{}', which no tensor is", kind));
    }
    return result;
  }

  OutputSpec output(const json &value) {
    auto [kind, spec] = in.variant(value, "an output");
    OutputSpec result;
    if (kind == "user_output") {
      Argument argument = this->argument(in.member(*spec, "arg"));
      if (argument.kind == Argument::Kind::Tensor)
        result.value = argument.tensors.front();
      else
        result.kind = OutputSpec::Kind::Other;
    } else if (kind == "loss_output") {
      result.kind = OutputSpec::Kind::Loss;
      result.value = tensorName(in.member(*spec, "arg"));
    } else {
      result.kind = OutputSpec::Kind::Other; // a buffer's new value: its ops are in the graph
    }
    return result;
  }
};

Error notAProgram(const std::string &what) {
  return badInput(
      fmt::format("the archive's tables are not as torch.export.save writes them: {}", what));
}

Result<json> parse(std::string_view text) {
  if (std::string fault = faultOfText(text); !fault.empty())
    return notAProgram(fault);
  json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object())
    return notAProgram("a table is not JSON");
  return root;
}

} // namespace

std::string_view fileTypeOf(DType type) {
  const TypeRow *row = rowOf(type);
  return row ? row->inFile : "";
}
size_t bytesOf(DType type) {
  const TypeRow *row = rowOf(type);
  return row ? row->bytes : 0;
}
bool isFloat(DType type) {
  const TypeRow *row = rowOf(type);
  return row && row->isFloat;
}

int64_t TensorMeta::elements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return -1;
  return count;
}

bool TensorMeta::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected)
      return false;
    if (__builtin_mul_overflow(expected, std::max<int64_t>(sizes[i], 1), &expected))
      return false;
  }
  return true;
}

const Argument *Node::find(std::string_view argument) const {
  for (const auto &[name, value] : arguments)
    if (name == argument)
      return &value;
  return nullptr;
}

const TensorMeta *Program::find(const std::string &value) const {
  auto found = values.find(value);
  return found == values.end() ? nullptr : &found->second;
}

Result<Program> parseProgram(std::string_view text) {
  Result<json> root = parse(text);
  if (!root)
    return root.error();
  ProgramReader reader;
  const json &version = reader.in.member(*root, "schema_version");
  int64_t major = reader.in.integer(reader.in.member(version, "major"), "the schema's version");
  int64_t minor = reader.in.integer(reader.in.member(version, "minor"), "the schema's version");
  if (!reader.in.fault.empty())
    return notAProgram(reader.in.fault);
  if (major != schemaMajor)
    return badInput(fmt::format("the archive has version {}.{} of PyTorch's schema, and version {} "
                                "is read: export the model again with {} PyTorch (2.15 is known to "
                                "work)",
                                major, minor, schemaMajor,
                                major < schemaMajor ? "a newer" : "an older"));
  Program program = reader.program(*root);
  if (!reader.in.fault.empty())
    return notAProgram(reader.in.fault);
  if (reader.symbolic)
    return badInput("the model has dynamic shapes, and a plan has one size of each tensor: export "
                    "it again without dynamic_shapes (--batch=N gives another batch)");
  return program;
}

Result<std::map<std::string, Payload>> parsePayloads(std::string_view text,
                                                     const std::string &folder) {
  Result<json> root = parse(text);
  if (!root)
    return root.error();
  ProgramReader reader;
  std::map<std::string, Payload> result;
  const json &config = reader.in.member(*root, "config");
  for (const auto &[name, value] : reader.in.object(config, "config").items()) {
    Payload payload;
    std::string entry = reader.in.text(reader.in.member(value, "path_name"), "a path_name");
    if (entry.find('/') != entry.npos)
      reader.in.fail(fmt::format("the path_name '{}' of '{}' leads elsewhere", entry, name));
    payload.entry = folder + entry;
    payload.pickled = reader.in.truth(reader.in.member(value, "use_pickle"), "use_pickle");
    if (const json *meta = reader.in.optional(value, "tensor_meta"); meta && !meta->is_null())
      payload.meta = reader.tensor(*meta);
    else
      payload.pickled = true; // no tensor: an object that only Python could make again
    result.emplace(name, std::move(payload));
  }
  if (!reader.in.fault.empty())
    return notAProgram(reader.in.fault);
  if (reader.symbolic)
    return notAProgram("a weight has a symbolic size");
  return result;
}

} // namespace gc::importer
