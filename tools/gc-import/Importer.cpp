#include "tools/gc-import/Importer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tools/gc-import/Converters.h"
#include "tools/gc-import/LiveNodes.h"
#include "tools/gc-import/Starts.h"
#include "tools/gc-import/Values.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;

namespace gc::importer {

using runtime::badInput;
using runtime::Error;
using runtime::Status;

namespace {

class Importer {
public:
  Importer(MLIRContext &context, const Program &program, const ImportOptions &options,
           const ReadConstant &constant)
      : context(context), program(program), options(options), readConstant(constant) {
    context.loadDialect<GcDialect, func::FuncDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context), options.name);
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    function = func::FuncOp::create(builder, NameLoc::get(builder.getStringAttr("model")), "model",
                                    builder.getFunctionType({}, {}));
    body = builder.createBlock(&function.getBody());
    emitter.emplace(function, body);
    values.emplace(*emitter);
    emitter->archived = [&](const std::string &name) {
      runtime::Result<ConstantPtr> found = readConstant(name);
      return found ? *found : nullptr;
    };
  }

  runtime::Result<Imported> run() {
    live = liveNodes(program);
    if (Status done = readInputs(); !done)
      return done.error();
    findStarts(program, variables, emitter->initializers);
    for (auto [index, node] : llvm::enumerate(program.nodes))
      if (live[index])
        convert(node);
    if (!unsupported.empty())
      return badInput(unsupportedText(unsupported));
    if (Status done = finish(); !done)
      return done.error();
    removeUnused();
    Imported result;
    for (const InputSpec &spec : program.inputs)
      if (auto known = variables.find(spec.value);
          known != variables.end() && known->second.isDeclared)
        result.variables.push_back({spec.name, known->second.isParameter});
    if (failed(verify(*module)))
      return runtime::runFailed("the imported model does not verify; this is a bug in gc");
    result.module = std::move(module);
    return result;
  }

private:
  Type elementType(DType dtype) {
    bool isNumber = isFloat(dtype) || dtype == DType::Bool; // a mask is 0 or 1
    return isNumber ? Type(Float32Type::get(&context)) : IntegerType::get(&context, 32);
  }

  /// An argument of @model; images become NHWC.
  void addInput(const std::string &value, StringRef name, const TensorMeta &meta) {
    Order order = naturalOrder(meta.sizes.size());
    if (meta.sizes.size() == 4 && isFloat(meta.dtype))
      order = {0, 2, 3, 1};
    Shape shape;
    for (int dim : order)
      shape.push_back(meta.sizes[dim]);
    Type type = RankedTensorType::get(shape, elementType(meta.dtype));
    Value argument = body->addArgument(type, NameLoc::get(StringAttr::get(&context, name)));
    inputNames.push_back(name.str());
    Tensor tensor = emitter->wrap(argument, order);
    tensor.dtype = meta.dtype;
    values->define(value, tensor);
  }

  Status readInputs() {
    std::vector<const InputSpec *> users;
    std::set<std::string> statistics, names;
    for (const Node &node : program.nodes)
      for (const char *argument : {"running_mean", "running_var"})
        if (const Argument *found = node.find(argument); found && !found->tensors.empty())
          statistics.insert(found->tensors.front());
    for (const InputSpec &spec : program.inputs) {
      const TensorMeta *meta = program.find(spec.value);
      if (!meta)
        return badInput(llvm::formatv("the input '{0}' has no shape", spec.value).str());
      if (meta->elements() < 1 && spec.kind != InputSpec::Kind::Buffer)
        return badInput(llvm::formatv("the input '{0}' is empty", spec.value).str());
      if (spec.kind != InputSpec::Kind::User && !names.insert(spec.name).second)
        return badInput("two inputs are the parameter or buffer '" + spec.name + "'");
      switch (spec.kind) {
      case InputSpec::Kind::User:
        users.push_back(&spec);
        break;
      case InputSpec::Kind::Buffer:
        // One that no batch norm moves is a constant.
        if (!statistics.count(spec.value)) {
          archived[spec.value] = &spec;
          break;
        }
        [[fallthrough]];
      case InputSpec::Kind::Parameter: {
        auto tied = options.tied.find(spec.name);
        const std::string &one = tied == options.tied.end() ? spec.name : tied->second;
        auto [known, isNew] = parameters.try_emplace(one, spec.value);
        if (!isNew) {
          values->define(spec.value, values->read(known->second));
          break;
        }
        Tensor tensor;
        Variable &variable = variables[spec.value];
        variable.name = spec.name;
        variable.meta = *meta;
        variable.isParameter = spec.kind == InputSpec::Kind::Parameter;
        tensor.variable = &variable;
        tensor.dtype = meta->dtype;
        tensor.layout = Layout::plain(meta->sizes);
        values->define(spec.value, tensor);
        break;
      }
      case InputSpec::Kind::Constant:
        archived[spec.value] = &spec;
        break;
      }
    }
    if (users.empty() || users.size() > 2)
      return badInput(llvm::formatv("the model takes {0} tensors, and gc feeds one (and labels): "
                                    "wrap it in a module that takes one",
                                    users.size())
                          .str());
    const TensorMeta &first = *program.find(users[0]->value);
    if (first.sizes.empty())
      return badInput("the model's input has no dimensions, so no batch");
    if (!isFloat(first.dtype) && first.dtype != DType::I64 && first.dtype != DType::I32)
      return badInput("the model's input is neither floats nor whole numbers");
    addInput(users[0]->value, "image", first);
    if (users.size() == 2)
      addInput(users[1]->value, "label", *program.find(users[1]->value));
    return {};
  }

  // The name of an op for reports: its module, and what it does there where that is not all.
  std::string locationOf(const Node &node) {
    StringRef name = node.target;
    name.consume_front("aten.");
    name = name.take_until([](char c) { return c == '.'; }).rtrim('_');
    std::string place = node.module;
    if (!node.inLayer)
      place += (place.empty() ? "" : ".") + name.str();
    unsigned count = ++used[place];
    return count == 1 ? place : place + "_" + std::to_string(count);
  }

  // A value that nothing computes, in the place of what is not supported: importing goes on, so
  // that all that is missing is told at once.
  Tensor standIn(const std::string &output) {
    Tensor tensor;
    const TensorMeta *meta = program.find(output);
    tensor.missing = !meta || meta->elements() < 1;
    if (meta)
      tensor.dtype = meta->dtype;
    if (tensor.missing)
      return tensor;
    Order order = naturalOrder(meta->sizes.size());
    if (order.size() == 4)
      order = {0, 2, 3, 1};
    Shape shape;
    for (int dim : order)
      shape.push_back(meta->sizes[dim]);
    Type type = RankedTensorType::get(shape, elementType(meta->dtype));
    auto cast = emitter->create<UnrealizedConversionCastOp>(type, ValueRange());
    Tensor result = emitter->wrap(cast.getResult(0), order);
    result.dtype = meta->dtype;
    return result;
  }

  void refuse(const Node &node, const std::string &reason) {
    for (const std::string &output : node.outputs)
      if (!output.empty())
        values->define(output, standIn(output));
    for (Unsupported &known : unsupported)
      if (known.target == node.target && known.reason == reason) {
        known.modules.push_back(node.module);
        return;
      }
    unsupported.push_back({node.target, reason, {node.module}});
  }

  /// What depends on what is not known at all is not told.
  void skip(const Node &node) {
    for (const std::string &output : node.outputs)
      if (!output.empty())
        values->define(output, standIn(output));
  }

  /// The tensors that a node reads, by name. False where one of them is missing.
  bool readArguments(const Node &node, std::map<std::string, Tensor> &tensors) {
    for (const auto &[argument, value] : node.arguments)
      for (const std::string &name : value.tensors) {
        if (name.empty())
          continue;
        if (auto known = archived.find(name); known != archived.end() && !values->has(name)) {
          runtime::Result<ConstantPtr> constant = readConstant(known->second->name);
          if (!constant) {
            refuse(node, constant.error().message);
            return false;
          }
          values->define(name, constantTensor(*constant));
        }
        if (!values->has(name)) {
          refuse(node, "it reads '" + name + "', which nothing computes");
          return false;
        }
        const Tensor &tensor = values->read(name);
        if (tensor.missing) {
          skip(node);
          return false;
        }
        tensors.emplace(name, tensor);
      }
    return true;
  }

  void convert(const Node &node) {
    std::map<std::string, Tensor> tensors;
    if (!readArguments(node, tensors))
      return;
    if (isViewTarget(node.target))
      return look(node);
    if (std::string changed = changedByWriting(node); !changed.empty())
      return refuse(node, "it changes '" + changed + "', which the next step would see");
    const std::string target = functionalTarget(node.target);
    std::vector<Tensor> results;
    if (ConstantPtr known = fold(node, target, tensors)) {
      results.push_back(constantTensor(known));
    } else {
      auto converter = converters().find(target);
      if (converter == converters().end())
        return refuse(node, "");
      for (StringRef needed : requiredTensors(target)) {
        const Argument *found = node.find(needed);
        if (!found && needed == "input")
          found = node.find("self");
        if (!found || found->tensors.empty() || !tensors.count(found->tensors.front()))
          return refuse(node, "it lacks its tensor '" + needed.str() + "'");
      }
      // The dialect takes up to 2^20 numbers; one number, repeated, may be of any size.
      for (auto &[name, tensor] : tensors)
        if (tensor.constant && tensor.elements() > (1 << 20) &&
            !llvm::all_equal(tensor.constant->values))
          return refuse(node, "it takes more than 2^20 numbers that are known");
      constexpr double largestEpsilon = 1e30;
      if (const Argument *eps = node.find("eps");
          eps && eps->kind == Argument::Kind::Number &&
          !(eps->numbers[0] >= 0 && eps->numbers[0] <= largestEpsilon))
        return refuse(node, "its epsilon is negative, or no number of float32");
      emitter->setLocation(locationOf(node));
      Call call(program, node, *emitter, std::move(tensors));
      results = converter->second(call);
      if (!call.reason.empty())
        return refuse(node, call.reason);
    }
    store(node, std::move(results));
  }

  /// The parameter or buffer that a node writes to, by PyTorch's name.
  std::string changedByWriting(const Node &node) {
    if (isInPlace(node.target) && !node.arguments.empty())
      for (const InputSpec &spec : program.inputs)
        if (spec.kind != InputSpec::Kind::User &&
            llvm::is_contained(node.arguments[0].second.tensors, spec.value))
          return spec.name;
    return "";
  }

  void store(const Node &node, std::vector<Tensor> results) {
    for (auto [index, output] : llvm::enumerate(node.outputs)) {
      if (output.empty())
        continue;
      const TensorMeta *meta = program.find(output);
      if (index >= results.size() || !meta)
        return refuse(node, "gc computes fewer results");
      // A rule that is wrong about a shape is caught here, not in a network that trains badly.
      if (results[index].shape() != meta->sizes)
        return refuse(node, "its result has another shape than PyTorch's; this is a bug in gc");
      results[index].dtype = meta->dtype;
    }
    bool writes = isInPlace(node.target) && !node.arguments.empty() &&
                  node.arguments[0].second.kind == Argument::Kind::Tensor;
    if (isInPlace(node.target) &&
        (!writes || results.empty() ||
         results[0].shape() != values->read(node.arguments[0].second.tensors[0]).shape()))
      return refuse(node, "it writes to no tensor of its shape");
    if (!writes) {
      for (auto [index, output] : llvm::enumerate(node.outputs))
        if (!output.empty())
          values->define(output, results[index]);
      return;
    }
    const std::string &self = node.arguments[0].second.tensors[0];
    if (!values->write(self, results[0]))
      return refuse(node, "it writes to a tensor that is repeated");
    for (const std::string &output : node.outputs)
      values->view(output, self, {});
  }

  /// What is known of a node whose tensors are all known.
  ConstantPtr fold(const Node &node, const std::string &target,
                   const std::map<std::string, Tensor> &tensors) {
    // Of these the tensor only tells the shape or the type.
    bool makesNew =
        StringRef(target).starts_with("aten.new_") || StringRef(target).contains("_like.");
    if (!makesNew && llvm::any_of(tensors, [](const auto &each) { return !each.second.constant; }))
      return nullptr;
    const TensorMeta *meta = node.outputs.size() == 1 ? program.find(node.outputs[0]) : nullptr;
    if (!meta)
      return nullptr;
    std::map<std::string, std::vector<ConstantPtr>> constants;
    for (const auto &[argument, value] : node.arguments)
      for (const std::string &name : value.tensors) {
        auto known = tensors.find(name);
        constants[argument].push_back(known == tensors.end() ? nullptr : known->second.constant);
      }
    // A cast says its type by its result.
    auto self = constants.find("self");
    if (self != constants.end() &&
        (StringRef(target).starts_with("aten.to.") || target == "aten._to_copy.default" ||
         target == "aten.type_as.default"))
      return castConstant(*self->second[0], meta->dtype);
    return foldNode({node, target, constants, meta->dtype, meta->sizes});
  }

  void look(const Node &node) {
    if (node.arguments.empty() || node.arguments[0].second.kind != Argument::Kind::Tensor ||
        node.outputs.empty())
      return refuse(node, "it looks at no tensor");
    const std::string &self = node.arguments[0].second.tensors[0];
    const TensorMeta *meta = program.find(self);
    if (!meta || meta->sizes != values->read(self).shape())
      return refuse(node, "its input has no shape");
    emitter->setLocation(locationOf(node));
    // What is known when importing has no gradient to hold back.
    bool isKnown = values->read(self).constant != nullptr;
    if (node.target == "aten.detach.default" && isKnown) {
      values->view(node.outputs[0], self, {});
      return;
    }
    ViewResult views = viewSteps(viewNode(node), *meta);
    if (!views.fault.empty())
      return refuse(node, views.fault);
    if (views.outputs.size() != node.outputs.size())
      return refuse(node, "gc computes another number of results");
    for (auto [output, steps] : llvm::zip_equal(node.outputs, views.outputs)) {
      values->view(output, self, steps);
      Tensor seen = values->read(output);
      const TensorMeta *result = program.find(output);
      if (!result || seen.shape() != result->sizes)
        return refuse(node, "its result has another shape than PyTorch's; this is a bug in gc");
      if (views.isCopy)
        values->define(output, seen);
    }
  }

  /// With the shape written out, where the shape is that of another tensor.
  Node viewNode(const Node &node) {
    Node result = node;
    for (auto [from, to] : {std::pair{"view_as", "view"}, std::pair{"reshape_as", "view"},
                            std::pair{"expand_as", "expand"}})
      if (node.target == std::string("aten.") + from + ".default") {
        result.target = std::string("aten.") + to + ".default";
        Argument size;
        size.kind = Argument::Kind::Numbers;
        if (const TensorMeta *meta = program.find(node.outputs[0]))
          size.numbers.assign(meta->sizes.begin(), meta->sizes.end());
        result.arguments.emplace_back("size", size);
      }
    return result;
  }

  // A cut whose parts were put together again, a layout that nothing asked for.
  void removeUnused() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
      if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() && !isa<ReadOp>(op) &&
          isPure(&op))
        op.erase();
  }

  // Loss and accuracy, and what the function takes and returns.
  Status finish();
  Status addLoss(const Tensor &output);

  MLIRContext &context;
  const Program &program;
  const ImportOptions &options;
  const ReadConstant &readConstant;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Block *body = nullptr;
  std::optional<Emitter> emitter;
  std::optional<Values> values;
  std::vector<bool> live;
  std::map<std::string, Variable> variables;     // by name in the graph
  std::map<std::string, std::string> parameters; // in the graph; of tied ones the first
  std::map<std::string, const InputSpec *> archived;
  std::map<std::string, unsigned> used; // how often a location was given
  std::vector<Unsupported> unsupported;
  std::vector<std::string> inputNames, outputNames;
  SmallVector<Value> outputs;
};

Status Importer::finish() {
  std::vector<std::string> results;
  for (const OutputSpec &output : program.outputs)
    if (output.kind != OutputSpec::Kind::Other)
      results.push_back(output.value);
  if (results.empty())
    return badInput("the model returns no tensor");
  for (const std::string &name : results)
    if (!values->has(name))
      return badInput("the model returns '" + name + "', which nothing computes");
  Tensor first = values->read(results[0]);
  emitter->setLocation("loss");
  bool isScalar = first.rank() == 0 && isFloat(first.dtype);
  bool own = options.loss ? *options.loss == Loss::Own : isScalar;
  if (own && !isScalar)
    return badInput("--loss=none is for a model that returns a loss, a number alone; this one "
                    "returns a tensor");
  if (!own && isScalar)
    return badInput("the model returns a number, its own loss: leave out --loss");
  if (!own && results.size() != 1)
    return badInput(llvm::formatv("the model returns {0} tensors, and gc trains on one: return the "
                                  "logits alone (auxiliary heads off), or a loss first",
                                  results.size())
                        .str());
  if (own) {
    outputs.push_back(emitter->plain(first));
    outputNames.push_back("loss");
    // Of a loss that is of the samples alone, as an autoencoder's, gc's labels are not read.
    if (inputNames.size() < 2) {
      auto labels =
          RankedTensorType::get({shapeOf(body->getArgument(0))[0]}, IntegerType::get(&context, 32));
      body->addArgument(labels, NameLoc::get(StringAttr::get(&context, "label")));
      inputNames.push_back("label");
    }
  } else if (Status added = addLoss(first); !added) {
    return added;
  }
  emitter->setLocation("model");
  emitter->create<func::ReturnOp>(ValueRange(outputs));
  SmallVector<Type> resultTypes(ValueRange(outputs).getTypes());
  function.setType(FunctionType::get(&context, body->getArgumentTypes(), resultTypes));
  for (auto [i, name] : llvm::enumerate(inputNames))
    function.setArgAttr(i, "gc.input", StringAttr::get(&context, name));
  for (auto [i, name] : llvm::enumerate(outputNames))
    function.setResultAttr(i, "gc.output", StringAttr::get(&context, name));
  return {};
}

Status Importer::addLoss(const Tensor &output) {
  if (inputNames.size() != 1)
    return badInput("the model takes two tensors and returns no loss: gc feeds samples alone, and "
                    "labels to the loss; wrap it in a module that takes one, or returns a loss");
  if (options.loss.value_or(Loss::CrossEntropy) != Loss::CrossEntropy)
    return badInput(
        "this loss needs targets that are no classes, which gc-run cannot feed yet: use "
        "--loss=cross-entropy, or return a loss of classes from the model");
  if (output.rank() < 2)
    return badInput(llvm::formatv("the model returns a tensor of {0} dimensions, and cross entropy "
                                  "takes rows of logits: return [batch, classes], [batch, "
                                  "positions, classes] of tokens, [batch, classes, height, width], "
                                  "or a loss",
                                  output.rank())
                        .str());
  // Of tokens the classes are last, as every language model has them; else they are where PyTorch's
  // cross entropy takes them.
  Value samples = body->getArgument(0);
  bool ofTokens = cast<RankedTensorType>(samples.getType()).getElementType().isInteger(32);
  size_t dim = ofTokens ? output.rank() - 1 : 1;
  int64_t batch = output.layout.size(0), classes = output.layout.size(dim);
  Shape input = shapeOf(samples), labelShape = output.shape();
  labelShape.erase(labelShape.begin() + static_cast<ptrdiff_t>(dim));
  if (input[0] != batch)
    return badInput(
        llvm::formatv("the model takes a batch of {0} and returns {1} rows", input[0], batch)
            .str());
  auto labels = RankedTensorType::get(labelShape, IntegerType::get(&context, 32));
  Value label = body->addArgument(labels, NameLoc::get(StringAttr::get(&context, "label")));
  inputNames.push_back("label");
  module.get()->setAttr("gc.classes", IntegerAttr::get(IntegerType::get(&context, 64), classes));
  Value logits = rowsOfClasses(*emitter, output, dim);
  outputs.push_back(emitter->create<CrossEntropyOp>(logits, label, emitter->f32(0)).getLoss());
  emitter->setLocation("correct");
  outputs.push_back(emitter->create<AccuracyOp>(logits, label).getCorrect());
  outputNames = {"loss", "correct"};
  return {};
}

} // namespace

runtime::Result<Imported> importProgram(MLIRContext &context, const Program &program,
                                        const ImportOptions &options,
                                        const ReadConstant &constant) {
  return Importer(context, program, options, constant).run();
}

std::string unsupportedText(const std::vector<Unsupported> &ops) {
  if (ops.empty())
    return "";
  std::string text;
  llvm::raw_string_ostream out(text);
  size_t uses = 0;
  for (const Unsupported &op : ops)
    uses += op.modules.size();
  out << "gc does not know " << uses << " of the model's ops:";
  for (const Unsupported &op : ops) {
    out << "\n  " << op.target << ", " << op.modules.size()
        << (op.modules.size() == 1 ? " use" : " uses") << ", "
        << (op.modules[0].empty() ? "in the model itself" : "in " + op.modules[0]);
    if (op.modules.size() > 1)
      out << " and elsewhere";
    if (!op.reason.empty())
      out << ": " << op.reason;
  }
  out << "\nwrite these parts of the model with other ops (docs/import.md lists what is known)";
  return text;
}

} // namespace gc::importer
