//===- Costs.cpp - measured costs of ops ----------------------------------===//
//
//   %0 = gc.conv2d %x, %w   =>   %0 = gc.conv2d %x, %w {gc.op = 7, gc.seconds = 2.1e-3}
//
// A profile has one entry per command, with the number of the op that it came from. An op may have
// several commands, whose times add up; commands of recomputed ops repeat a number and are left
// out, so that the profile of a budgeted plan serves as well.
//
//===----------------------------------------------------------------------===//
#include "compiler/Costs.h"
#include "compiler/Calibrate.h"
#include "dialects/Gc.h"
#include "dialects/OpName.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/analysis/Dependence.h"
#include "passes/analysis/OpCosts.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

using namespace mlir;
using nlohmann::json;

namespace gc {
namespace {

// What a profile says about one op.
struct Measured {
  std::string name, implementation;
  double flops = 0, bytes = 0, seconds = 0;

  bool isWorkOf(const Measured &other) const {
    return nameWithoutPlace(name) == nameWithoutPlace(other.name) && flops == other.flops &&
           bytes == other.bytes;
  }
  std::string text() const {
    return llvm::formatv("'{0}' ({1:F0} FLOP, {2:F0} bytes)", name, flops, bytes);
  }
};

std::string listOf(func::FuncOp function) {
  auto list = function->getAttrOfType<StringAttr>("gc.list");
  return list ? list.getValue().str() : "";
}

// What runs nothing has no commands and gets no number.
bool runs(Operation *op) { return isa<CostOpInterface>(op) && !isNothing(op); }

void numberOps(ModuleOp module) {
  Builder builder(module.getContext());
  for (auto function : module.getOps<func::FuncOp>()) {
    int64_t number = 0;
    for (Operation &op : function.getBody().front().without_terminator())
      if (runs(&op))
        op.setAttr("gc.op", builder.getI64IntegerAttr(number++));
  }
}

int64_t batchOf(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (listOf(function) == "micro_batch")
      for (Type type : function.getArgumentTypes())
        if (cast<ShapedType>(type).getRank() > 0)
          return cast<ShapedType>(type).getDimSize(0);
  return 0;
}

class CostsReader {
public:
  CostsReader(ModuleOp module, const std::string &file, const CostsFor &step)
      : module(module), file(file), step(step) {}

  std::string run() {
    json content;
    if (std::string error = parse(content); !error.empty())
      return error;
    warnOfThreads(content);
    if (content.contains("ops"))
      return useProfile(content);
    Roofline roofline;
    if (std::string error = readCalibration(content["roofline"], roofline); !error.empty())
      return error;
    roofline.set(module);
    return "";
  }

  std::string read(MeasuredCosts &costs) {
    json content;
    if (std::string error = parse(content); !error.empty())
      return error;
    costs.device = textOf(content, "device");
    if (!content.contains("ops"))
      return readRates(content, costs);
    if (std::string error = readProfile(content); !error.empty())
      return error;
    for (const auto &[place, op] : profile)
      if (place.first == "micro_batch" || place.first == "step")
        costs.ops.push_back({opKind(op.name), op.flops, op.bytes, op.seconds, op.implementation});
    return "";
  }

  std::string readText(StringRef text, MeasuredCosts &costs) {
    json content;
    if (std::string error = parse(text, content); !error.empty())
      return error;
    return content.contains("ops") ? wrong("is a profile") : readRates(content, costs);
  }

private:
  std::string parse(json &content) {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
    if (!buffer)
      return "--costs: cannot read '" + file + "': " + buffer.getError().message();
    return parse((*buffer)->getBuffer(), content);
  }

  std::string parse(StringRef text, json &content) {
    content = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (content.is_discarded())
      return wrong("is not JSON, or only a part of it");
    if (!content.is_object() || !(content.contains("ops") || content.contains("roofline")))
      return wrong("is neither a profile nor a calibration");
    return "";
  }

  std::string wrong(const std::string &what) const {
    return "--costs: '" + file + "' " + what +
           "; make one with gc-run MODEL --profile=FILE or gc-run --calibrate=FILE";
  }
  std::string another(const std::string &what) const {
    return "--costs: '" + file + "' is a profile of another step: " + what +
           "; measure this one with gc-run MODEL --profile=FILE and the same flags";
  }

  static std::optional<double> number(const json &from, const char *key) {
    auto it = from.find(key);
    if (it == from.end() || !it->is_number())
      return std::nullopt;
    double value = it->get<double>();
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }
  static std::optional<int64_t> integer(const json &from, const char *key) {
    auto it = from.find(key);
    return it != from.end() && it->is_number_integer() ? std::optional(it->get<int64_t>())
                                                       : std::nullopt;
  }
  static std::string textOf(const json &from, const char *key) {
    auto it = from.find(key);
    return it != from.end() && it->is_string() ? it->get<std::string>() : "";
  }
  static std::string valueText(const json &from, const char *key) {
    auto it = from.find(key);
    return it == from.end()
               ? "none"
               : it->dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  }

  void warnOfThreads(const json &content) {
    std::optional<int64_t> threads = integer(content, "threads");
    if (threads && step.threads && *threads != step.threads)
      module.emitWarning() << "the costs in '" << file << "' were measured with " << *threads
                           << " threads, this plan is for " << step.threads;
  }

  std::string readRates(const json &content, MeasuredCosts &costs) {
    const char *input = "input_bytes_per_second";
    if (content.contains(input)) {
      costs.inputBytesPerSecond = number(content, input);
      if (costs.inputBytesPerSecond.value_or(0) <= 0)
        return wrong(std::string("gives ") + input + " the value " + valueText(content, input) +
                     ": expected a number above 0");
    }
    if (std::string error = readCalibration(content["roofline"], costs.roofline.emplace());
        !error.empty())
      return error;
    return readProducts(content, costs);
  }

  std::string readCalibration(const json &values, Roofline &roofline) {
    if (!values.is_object())
      return wrong("has a roofline that is no table");
    for (size_t i = 0; i < resourceCount; ++i) {
      const char *name = rateName(i);
      std::optional<double> value = number(values, name);
      if (!value || *value <= 0)
        return wrong(std::string("gives ") + name + " the value " + valueText(values, name) +
                     ": expected a number above 0");
      roofline.perSecond[i] = *value;
    }
    return "";
  }

  // Both lists may be missing: calibrations of a CPU have none.
  std::string readProducts(const json &content, MeasuredCosts &costs) {
    auto wayOf = [](const json &entry) { return textOf(entry, "way"); };
    for (const char *list : {"product_classes", "measured_ops"}) {
      if (!content.contains(list))
        continue;
      bool isOfClasses = list == std::string("product_classes");
      const char *subject = isOfClasses ? "class" : "kind",
                 *measure = isOfClasses ? "speed" : "seconds";
      if (!content[list].is_array())
        return wrong(std::string("has ") + list + " that are no list");
      for (const json &entry : content[list]) {
        if (!entry.is_object() || textOf(entry, subject).empty() ||
            (wayOf(entry) != "library" && wayOf(entry) != "generated"))
          return wrong(std::string("has an entry of ") + list + " without " + subject +
                       " or way (library, generated)");
        std::optional<double> value = number(entry, measure);
        if (!value || *value <= 0)
          return wrong("gives '" + textOf(entry, subject) + "' the " + measure + " " +
                       valueText(entry, measure) + ": expected a number above 0");
        bool byLibrary = wayOf(entry) == "library";
        if (isOfClasses)
          costs.classSpeeds.push_back({textOf(entry, "class"), byLibrary, *value});
        else
          costs.ops.push_back({textOf(entry, "kind"), number(entry, "flops").value_or(0),
                               number(entry, "bytes").value_or(0), *value,
                               byLibrary ? "cuDNN" : "generated"});
      }
    }
    return "";
  }

  std::string useProfile(const json &content) {
    if (std::string error = readProfile(content); !error.empty())
      return error;
    std::string model = module.getSymName().value_or("model").str();
    if (std::string theirs = textOf(content, "model"); theirs != model)
      return another("of model '" + theirs + "', this is '" + model + "'");
    int64_t batch = batchOf(module) * step.microBatches;
    if (integer(content, "batch") != batch ||
        integer(content, "micro_batches") != step.microBatches)
      return another(llvm::formatv("its batch is {0} in {1} micro-batches, this one's {2} in {3}",
                                   valueText(content, "batch"), valueText(content, "micro_batches"),
                                   batch, step.microBatches));
    return match();
  }

  std::string readProfile(const json &content) {
    const json &ops = content["ops"];
    if (!ops.is_array())
      return wrong("has no list of ops");
    for (const json &entry : ops) {
      if (!entry.is_object())
        return wrong("has an op that is no table");
      std::string name = textOf(entry, "name"), list = textOf(entry, "list");
      std::optional<int64_t> op = integer(entry, "op");
      const char *key =
          step.fastest && entry.contains("least_seconds") ? "least_seconds" : "median_seconds";
      std::optional<double> seconds = number(entry, key);
      if (!seconds || *seconds < 0)
        return wrong("gives op '" + name + "' the seconds " + valueText(entry, key) +
                     ": expected a number from 0 on");
      if (!op || list.empty())
        return wrong("does not say which op '" + name + "' is (keys op and list)");
      // Commands of recomputed ops repeat the number of the original op: they are not counted.
      auto recomputed = entry.find("recomputed");
      if (*op < 0 || (recomputed != entry.end() && *recomputed == true))
        continue;
      Measured &measured = profile[{list, *op}];
      if (measured.name.empty()) {
        measured.name = name;
        measured.implementation = textOf(entry, "implementation");
      }
      measured.flops += number(entry, "flops").value_or(0);
      measured.bytes += number(entry, "bytes_moved").value_or(0);
      measured.seconds += *seconds;
    }
    return "";
  }

  // Every op of a step must be there under its number, with its name and work, and nothing else.
  std::string match() {
    Builder builder(module.getContext());
    size_t ops = 0, matched = 0, theirs = 0;
    std::string first;
    for (const auto &[place, measured] : profile)
      theirs += place.first == "micro_batch" || place.first == "step";
    for (auto function : module.getOps<func::FuncOp>()) {
      std::string list = listOf(function);
      if (list != "micro_batch" && list != "step")
        continue;
      for (Operation &op : function.getBody().front().without_terminator()) {
        auto number = op.getAttrOfType<IntegerAttr>("gc.op");
        if (!number)
          continue;
        ++ops;
        auto cost = cast<CostOpInterface>(op);
        Measured here{displayName(&op), "", cost.getFlops(), cost.getBytesMoved()};
        auto there = profile.find({list, number.getInt()});
        if (there != profile.end() && there->second.isWorkOf(here)) {
          ++matched;
          op.setAttr("gc.seconds", builder.getF64FloatAttr(there->second.seconds));
        } else if (first.empty()) {
          first =
              llvm::formatv("op {0} of {1} is {2} here and {3} there", number.getInt(), list,
                            here.text(), there == profile.end() ? "missing" : there->second.text());
        }
      }
    }
    if (matched == ops && theirs == ops)
      return "";
    if (first.empty())
      first = llvm::formatv("it has {0} ops, this one {1}", theirs, ops);
    return another(llvm::formatv("{0}; {1} of {2} ops match", first, matched, ops));
  }

  ModuleOp module;
  const std::string &file;
  const CostsFor &step;
  std::map<std::pair<std::string, int64_t>, Measured> profile; // by list and number
};

} // namespace

std::string opKind(const std::string &name) {
  std::string plain = nameWithoutPlace(name);
  return plain.substr(plain.rfind(':') + 1); // npos + 1 is 0
}

std::string setCosts(ModuleOp module, const std::string &file, const CostsFor &step) {
  numberOps(module);
  return file.empty() ? "" : CostsReader(module, file, step).run();
}

std::string readCosts(const std::string &file, MeasuredCosts &costs) {
  return CostsReader(ModuleOp(), file, {}).read(costs);
}

std::string readRates(const std::string &text, const std::string &name, MeasuredCosts &costs) {
  return CostsReader(ModuleOp(), name, {}).readText(text, costs);
}

} // namespace gc
