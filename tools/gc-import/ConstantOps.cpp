// What is computed of constants alone when a model is imported.
#include "tools/gc-import/Constant.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace gc::importer {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

const std::unordered_map<std::string_view, Unary> unaries = {
    {"neg", [](double a) { return -a; }},
    {"abs", [](double a) { return std::abs(a); }},
    {"exp", [](double a) { return std::exp(a); }},
    {"log", [](double a) { return std::log(a); }},
    {"log1p", [](double a) { return std::log1p(a); }},
    {"sqrt", [](double a) { return std::sqrt(a); }},
    {"rsqrt", [](double a) { return 1 / std::sqrt(a); }},
    {"reciprocal", [](double a) { return 1 / a; }},
    {"sin", [](double a) { return std::sin(a); }},
    {"cos", [](double a) { return std::cos(a); }},
    {"tanh", [](double a) { return std::tanh(a); }},
    {"sigmoid", [](double a) { return 1 / (1 + std::exp(-a)); }},
    {"sign", [](double a) { return double((a > 0) - (a < 0)); }},
    {"floor", [](double a) { return std::floor(a); }},
    {"ceil", [](double a) { return std::ceil(a); }},
    {"round", [](double a) { return std::nearbyint(a); }},
    {"logical_not", [](double a) { return double(a == 0); }},
};

const std::unordered_map<std::string_view, Binary> binaries = {
    {"add", [](double a, double b) { return a + b; }},
    {"sub", [](double a, double b) { return a - b; }},
    {"rsub", [](double a, double b) { return b - a; }},
    {"mul", [](double a, double b) { return a * b; }},
    {"div", [](double a, double b) { return a / b; }},
    {"floor_divide", [](double a, double b) { return std::floor(a / b); }},
    {"remainder", [](double a, double b) { return a - b * std::floor(a / b); }},
    {"pow", [](double a, double b) { return std::pow(a, b); }},
    {"minimum", [](double a, double b) { return std::min(a, b); }},
    {"maximum", [](double a, double b) { return std::max(a, b); }},
    {"min", [](double a, double b) { return std::min(a, b); }},
    {"max", [](double a, double b) { return std::max(a, b); }},
    {"eq", [](double a, double b) { return double(a == b); }},
    {"ne", [](double a, double b) { return double(a != b); }},
    {"lt", [](double a, double b) { return double(a < b); }},
    {"le", [](double a, double b) { return double(a <= b); }},
    {"gt", [](double a, double b) { return double(a > b); }},
    {"ge", [](double a, double b) { return double(a >= b); }},
    {"logical_and", [](double a, double b) { return double(a != 0 && b != 0); }},
    {"logical_or", [](double a, double b) { return double(a != 0 || b != 0); }},
    {"logical_xor", [](double a, double b) { return double((a != 0) != (b != 0)); }},
};

/// Folds one node.
class Folder {
public:
  explicit Folder(const FoldCall &call) : call(call) {
    std::string_view target = call.target;
    if (target.substr(0, 5) == "aten.")
      target.remove_prefix(5);
    size_t dot = target.find('.');
    name = target.substr(0, dot);
    if (name == "__and__" || name == "bitwise_and")
      name = call.result == DType::Bool ? "logical_and" : "";
    else if (name == "__or__" || name == "bitwise_or")
      name = call.result == DType::Bool ? "logical_or" : "";
    else if (name == "bitwise_not")
      name = call.result == DType::Bool ? "logical_not" : "";
  }

  ConstantPtr run() const {
    int64_t count = product(call.shape);
    if (count < 0 || count > maxConstantElements)
      return nullptr;
    ConstantPtr result = compute();
    if (!result || static_cast<int64_t>(result->values.size()) != count)
      return nullptr;
    result = reshapeConstant(*result, call.shape);
    return castConstant(*result, call.result);
  }

private:
  ConstantPtr tensor(const char *argument) const {
    auto found = call.tensors.find(argument);
    return found == call.tensors.end() || found->second.empty() ? nullptr : found->second[0];
  }
  double number(const char *argument, double usual) const {
    const Argument *found = call.node.find(argument);
    return found && found->kind == Argument::Kind::Number ? found->numbers[0] : usual;
  }
  /// A tensor, or a number as one.
  ConstantPtr operand(const char *argument) const {
    if (ConstantPtr found = tensor(argument))
      return found;
    const Argument *found = call.node.find(argument);
    if (found && found->kind == Argument::Kind::Number)
      return filled(DType::F64, {}, found->numbers[0]);
    return nullptr;
  }
  size_t dimOf(const Constant &x, const char *argument, int64_t usual) const {
    auto dim = static_cast<int64_t>(number(argument, static_cast<double>(usual)));
    auto rank = static_cast<int64_t>(x.shape.size());
    return static_cast<size_t>(
        std::clamp<int64_t>(dim < 0 ? dim + rank : dim, 0, std::max<int64_t>(rank - 1, 0)));
  }

  ConstantPtr compute() const {
    if (auto found = unaries.find(name); found != unaries.end())
      return unary(found->second);
    if (auto found = binaries.find(name); found != binaries.end())
      return binary(found->second);
    if (name == "arange")
      return arange();
    if (name == "zeros" || name == "new_zeros" || name == "zeros_like")
      return filled(call.result, call.shape, 0);
    if (name == "ones" || name == "new_ones" || name == "ones_like")
      return filled(call.result, call.shape, 1);
    if (name == "full" || name == "full_like" || name == "new_full")
      return fill("fill_value");
    if (name == "scalar_tensor")
      return fill("s");
    if (name == "fill")
      return tensor("value") ? expandConstant(*tensor("value"), call.shape) : fill("value");
    if (name == "zero")
      return filled(call.result, call.shape, 0);
    if (name == "eye")
      return triangle(filled(DType::F64, call.shape, 1), 0, 0);
    if (name == "where")
      return where(operand("condition"), operand("self"), operand("other"));
    if (name == "masked_fill")
      return where(operand("mask"), operand("value"), operand("self"));
    if (name == "cumsum")
      return cumsum();
    if (name == "diff")
      return diff();
    if (name == "sum" || name == "any" || name == "all" || name == "mean")
      return reduced();
    if (name == "tril")
      return triangle(tensor("self"), -INFINITY, number("diagonal", 0));
    if (name == "triu")
      return triangle(tensor("self"), number("diagonal", 0), INFINITY);
    if (name == "index")
      return index();
    if (name == "gather")
      return gather();
    if (name == "linspace")
      return linspace();
    return nullptr;
  }

  ConstantPtr fill(const char *argument) const {
    const Argument *value = call.node.find(argument);
    return value && value->kind == Argument::Kind::Number
               ? filled(call.result, call.shape, value->numbers[0])
               : nullptr;
  }

  ConstantPtr unary(Unary of) const {
    ConstantPtr x = tensor("self");
    if (!x)
      return nullptr;
    auto result = std::make_shared<Constant>(*x);
    for (double &value : result->values)
      value = of(value);
    return result;
  }

  ConstantPtr binary(Binary of) const {
    ConstantPtr a = operand("self"), b = operand(name == "pow" ? "exponent" : "other");
    if (!a || !b)
      return nullptr;
    std::string rounding;
    if (const Argument *mode = call.node.find("rounding_mode"))
      rounding = mode->kind == Argument::Kind::Text ? mode->text : "";
    ConstantPtr left = expandConstant(*a, call.shape), right = expandConstant(*b, call.shape);
    if (!left || !right)
      return nullptr;
    double alpha = number("alpha", 1);
    auto result = std::make_shared<Constant>(*left);
    for (size_t i = 0; i < result->values.size(); ++i)
      result->values[i] = of(left->values[i], alpha * right->values[i]);
    if (rounding == "floor" || rounding == "trunc")
      for (double &value : result->values)
        value = rounding == "floor" ? std::floor(value) : std::trunc(value);
    return result;
  }

  ConstantPtr arange() const {
    double start = number("start", 0), step = number("step", 1);
    auto result = std::make_shared<Constant>(Constant{call.result, call.shape, {}});
    for (int64_t i = 0; i < product(call.shape); ++i)
      result->values.push_back(start + static_cast<double>(i) * step);
    return result;
  }

  ConstantPtr linspace() const {
    double start = number("start", 0), end = number("end", 0);
    int64_t count = product(call.shape);
    auto result = std::make_shared<Constant>(Constant{call.result, call.shape, {}});
    for (int64_t i = 0; i < count; ++i)
      result->values.push_back(count == 1 ? start
                                          : start + (end - start) * static_cast<double>(i) /
                                                        static_cast<double>(count - 1));
    return result;
  }

  ConstantPtr where(ConstantPtr condition, ConstantPtr yes, ConstantPtr no) const {
    if (!condition || !yes || !no)
      return nullptr;
    condition = expandConstant(*condition, call.shape);
    yes = expandConstant(*yes, call.shape);
    no = expandConstant(*no, call.shape);
    if (!condition || !yes || !no)
      return nullptr;
    auto result = std::make_shared<Constant>(*no);
    for (size_t i = 0; i < result->values.size(); ++i)
      if (condition->values[i] != 0)
        result->values[i] = yes->values[i];
    return result;
  }

  /// Elements whose column is from `first` to `last` right of the diagonal; the others are 0.
  ConstantPtr triangle(ConstantPtr x, double first, double last) const {
    if (!x || x->shape.size() < 2)
      return nullptr;
    auto result = std::make_shared<Constant>(*x);
    int64_t columns = x->shape.back(), rows = x->shape[x->shape.size() - 2];
    for (size_t i = 0; i < result->values.size(); ++i) {
      auto place = static_cast<int64_t>(i);
      double right = static_cast<double>(place % columns - place / columns % rows);
      if (right < first || right > last)
        result->values[i] = 0;
    }
    return result;
  }

  ConstantPtr cumsum() const {
    ConstantPtr x = tensor("self");
    if (!x || x->shape.empty())
      return x;
    size_t dim = dimOf(*x, "dim", 0);
    size_t inner = 1;
    for (size_t i = dim + 1; i < x->shape.size(); ++i)
      inner *= static_cast<size_t>(x->shape[i]);
    auto size = static_cast<size_t>(x->shape[dim]);
    auto result = std::make_shared<Constant>(*x);
    for (size_t i = 0; i < result->values.size(); ++i)
      if (i / inner % size != 0)
        result->values[i] += result->values[i - inner];
    return result;
  }

  ConstantPtr diff() const {
    ConstantPtr x = tensor("self"), before = tensor("prepend"), after = tensor("append");
    if (!x || x->shape.empty() || number("n", 1) != 1)
      return nullptr;
    size_t dim = dimOf(*x, "dim", -1);
    std::vector<ConstantPtr> parts;
    for (const ConstantPtr &part : {before, x, after}) {
      if (!part)
        continue;
      Shape sizes = part->shape;
      if (sizes.size() != x->shape.size())
        return nullptr;
      sizes[dim] = x->shape[dim];
      if (sizes != x->shape)
        return nullptr;
      parts.push_back(part);
    }
    ConstantPtr whole = concatConstants(parts, dim);
    int64_t size = whole->shape[dim];
    if (size < 2)
      return nullptr;
    ConstantPtr from = sliceConstant(*whole, dim, 0, size - 1);
    auto result = std::make_shared<Constant>(*sliceConstant(*whole, dim, 1, size - 1));
    bool truth = x->dtype == DType::Bool;
    for (size_t i = 0; i < result->values.size(); ++i)
      result->values[i] = truth ? double(result->values[i] != from->values[i])
                                : result->values[i] - from->values[i];
    return result;
  }

  ConstantPtr reduced() const {
    ConstantPtr x = tensor("self");
    const Argument *dims = call.node.find("dim");
    if (!x ||
        (dims && dims->kind != Argument::Kind::Number && dims->kind != Argument::Kind::Numbers))
      return nullptr;
    std::vector<bool> isReduced(x->shape.size(), !dims || dims->numbers.empty());
    if (dims)
      for (double dim : dims->numbers) {
        auto at = static_cast<int64_t>(dim < 0 ? dim + static_cast<double>(x->shape.size()) : dim);
        if (at >= 0 && at < static_cast<int64_t>(x->shape.size()))
          isReduced[static_cast<size_t>(at)] = true;
      }
    Shape kept;
    double count = 1;
    for (size_t i = 0; i < x->shape.size(); ++i) {
      kept.push_back(isReduced[i] ? 1 : x->shape[i]);
      count *= isReduced[i] ? static_cast<double>(x->shape[i]) : 1;
    }
    auto result = std::make_shared<Constant>(*filled(DType::F64, kept, name == "all"));
    Constant places{DType::F64, kept, {}};
    for (size_t i = 0; i < result->values.size(); ++i)
      places.values.push_back(static_cast<double>(i));
    ConstantPtr place = expandConstant(places, x->shape);
    for (size_t i = 0; i < x->values.size(); ++i) {
      double &sum = result->values[static_cast<size_t>(place->values[i])];
      if (name == "any")
        sum = sum != 0 || x->values[i] != 0;
      else if (name == "all")
        sum = sum != 0 && x->values[i] != 0;
      else
        sum += name == "mean" ? x->values[i] / count : x->values[i];
    }
    return result;
  }

  /// x[i, j, ...] with indices for the first dimensions, all of them whole numbers.
  ConstantPtr index() const {
    ConstantPtr x = tensor("self");
    auto found = call.tensors.find("indices");
    if (!x || found == call.tensors.end() || found->second.size() > x->shape.size())
      return nullptr;
    Shape shape;
    for (const ConstantPtr &each : found->second) {
      if (!each || each->dtype == DType::Bool)
        return nullptr;
      std::optional<Shape> both = broadcastShape(shape, each->shape);
      if (!both)
        return nullptr;
      shape = *both;
    }
    size_t indexed = found->second.size(), row = 1;
    for (size_t i = indexed; i < x->shape.size(); ++i)
      row *= static_cast<size_t>(x->shape[i]);
    std::vector<ConstantPtr> indices;
    for (const ConstantPtr &each : found->second)
      indices.push_back(expandConstant(*each, shape));
    auto result = std::make_shared<Constant>(Constant{x->dtype, call.shape, {}});
    for (size_t i = 0; i < static_cast<size_t>(product(shape)); ++i) {
      size_t place = 0;
      for (size_t d = 0; d < indexed; ++d) {
        double at = indices[d]->values[i], size = static_cast<double>(x->shape[d]);
        at = at < 0 ? at + size : at;
        if (!(at >= 0 && at < size))
          return nullptr;
        place = place * static_cast<size_t>(size) + static_cast<size_t>(at);
      }
      auto begin = x->values.begin() + static_cast<std::ptrdiff_t>(place * row);
      result->values.insert(result->values.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
    }
    return result;
  }

  ConstantPtr gather() const {
    ConstantPtr x = tensor("self"), index = tensor("index");
    if (!x || !index || x->shape.size() != index->shape.size() || x->shape.empty())
      return nullptr;
    size_t dim = dimOf(*x, "dim", 0);
    for (size_t i = 0; i < x->shape.size(); ++i)
      if (i != dim && index->shape[i] > x->shape[i])
        return nullptr;
    auto result = std::make_shared<Constant>(*index);
    Shape at(index->shape.size(), 0);
    for (double &value : result->values) {
      size_t place = 0;
      for (size_t i = 0; i < at.size(); ++i) {
        double here = i == dim ? value : static_cast<double>(at[i]);
        if (!(here >= 0 && here < static_cast<double>(x->shape[i])))
          return nullptr;
        place = place * static_cast<size_t>(x->shape[i]) + static_cast<size_t>(here);
      }
      value = x->values[place];
      for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < index->shape[i])
          break;
        at[i] = 0;
      }
    }
    return result;
  }

  const FoldCall &call;
  std::string_view name;
};

} // namespace

ConstantPtr foldNode(const FoldCall &call) { return Folder(call).run(); }

} // namespace gc::importer
