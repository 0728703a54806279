// Tensors that are known when a model is imported: masks, indices, positions. Numbers are held as
// f64, which has every value of all types that come (whole numbers up to 2^53).
#ifndef GC_TOOLS_GC_IMPORT_CONSTANT_H
#define GC_TOOLS_GC_IMPORT_CONSTANT_H

#include "tools/gc-import/Layout.h"
#include "tools/gc-import/Program.h"

#include <functional>
#include <memory>

namespace gc::importer {

struct Constant {
  DType dtype = DType::F32;
  Shape shape;
  std::vector<double> values; // in the order of the dimensions
};
using ConstantPtr = std::shared_ptr<const Constant>;

/// A mask of a long sequence is a few million; no network computes more with its positions.
inline constexpr int64_t maxConstantElements = int64_t{1} << 26;

ConstantPtr filled(DType dtype, const Shape &shape, double value);
ConstantPtr reshapeConstant(const Constant &x, const Shape &shape);
ConstantPtr permuteConstant(const Constant &x, const std::vector<int> &dimensions);
ConstantPtr sliceConstant(const Constant &x, size_t dim, int64_t start, int64_t size);
/// Along new leading dimensions and those of size 1; null where the shape is not so.
ConstantPtr expandConstant(const Constant &x, const Shape &shape);
ConstantPtr concatConstants(const std::vector<ConstantPtr> &parts, size_t dim);
/// As its type holds it: f32 rounds, whole numbers lose their fraction, a bool is 0 or 1.
ConstantPtr castConstant(const Constant &x, DType dtype);

/// The shape that both broadcast to; empty optional where they do not.
std::optional<Shape> broadcastShape(const Shape &a, const Shape &b);

struct Node;
/// What a node computes of constants alone, by its functional name (`aten.add.Tensor`); null where
/// it is none that is folded. `fault` says why one that is cannot be.
struct FoldCall {
  const Node &node;
  std::string target;
  std::map<std::string, std::vector<ConstantPtr>> tensors; // by argument
  DType result;                                            // of the first output
  Shape shape;                                             // of the first output
};
ConstantPtr foldNode(const FoldCall &call);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_CONSTANT_H
