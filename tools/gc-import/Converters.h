// What each op of PyTorch becomes. A converter is given the call, with every tensor that the op
// reads, and returns its results; what it cannot say in gc's ops it refuses with a reason, which
// ends up in the one listing of all that is not supported.
#ifndef GC_TOOLS_GC_IMPORT_CONVERTERS_H
#define GC_TOOLS_GC_IMPORT_CONVERTERS_H

#include "tools/gc-import/Emitter.h"
#include "llvm/ADT/StringMap.h"

namespace gc::importer {

class Call {
public:
  Call(const Program &program, const Node &node, Emitter &emitter,
       std::map<std::string, Tensor> tensors)
      : program(program), node(node), emit(emitter), tensors(std::move(tensors)) {}

  const Program &program;
  const Node &node;
  Emitter &emit;
  std::string reason; // why it is refused; empty while it is not

  /// Refuses: return what this returns.
  std::vector<Tensor> refuse(const llvm::Twine &why) {
    reason = why.str();
    return {};
  }

  /// The first tensor of an argument, one of requiredTensors(). An op that writes in place calls
  /// its input `self`.
  const Tensor &tensor(llvm::StringRef argument) const;
  /// Null where it is left out or a number.
  const Tensor *optional(llvm::StringRef argument) const;
  std::vector<Tensor> list(llvm::StringRef argument) const;
  double number(llvm::StringRef argument, double usual) const;
  bool truth(llvm::StringRef argument, bool usual) const {
    return number(argument, usual ? 1 : 0) != 0;
  }
  int64_t integer(llvm::StringRef argument, int64_t usual) const;
  /// A list, or one number `count` times.
  Shape integers(llvm::StringRef argument, const Shape &usual, size_t count = 0) const;
  bool has(llvm::StringRef argument) const;
  std::string text(llvm::StringRef argument, llvm::StringRef usual) const;
  /// A dimension that may be counted from behind.
  size_t dim(llvm::StringRef argument, int64_t usual, const Tensor &x) const;
  /// What PyTorch says of an output.
  const TensorMeta *output(size_t index = 0) const;

private:
  const std::map<std::string, Tensor> tensors; // by name in the graph
};

using Convert = std::vector<Tensor> (*)(Call &call);
using ConverterTable = llvm::StringMap<Convert>;

/// The arguments of an op that must be tensors; by target, as the table's.
std::vector<llvm::StringRef> requiredTensors(llvm::StringRef target);

/// By target, without the underscore of an op that writes to its first argument.
const ConverterTable &converters();

// The families that the table is made of.
void addConvolutions(ConverterTable &table);
void addElementwise(ConverterTable &table);
void addActivations(ConverterTable &table);
void addNorms(ConverterTable &table);
void addPools(ConverterTable &table);
void addProducts(ConverterTable &table);
void addAttention(ConverterTable &table);
void addReductions(ConverterTable &table);
void addRandom(ConverterTable &table);
void addShapes(ConverterTable &table);
void addLosses(ConverterTable &table);

// What several of them need.

Tensor addTensors(Emitter &emit, const Tensor &a, const Tensor &b);
/// Whether an optional parameter is left out, or a row of so many numbers.
bool isRowOf(const Tensor *x, int64_t size);
/// Whether a window of this size moves so over an image to what PyTorch says; the last one may hang
/// over the edge.
bool windowFits(int64_t input, int64_t output, int64_t kernel, int64_t stride, int64_t padding,
                int64_t dilation, bool ceil);
/// Of this shape: `a` where the mask is not 0, else `b`.
Tensor selected(Emitter &emit, const Tensor &mask, const Tensor &a, const Tensor &b,
                const Shape &shape);
Tensor multiply(Emitter &emit, const Tensor &a, const Tensor &b);
Tensor scaled(Emitter &emit, const Tensor &x, double factor);
/// Of the last dimension of both: x W^T + b, with a weight [N, K]. Null bias: none.
Tensor linear(Emitter &emit, const Tensor &x, const Tensor &weight, const Tensor *bias);
/// PyTorch's matmul.
Tensor matrixProduct(Call &call, const Tensor &a, const Tensor &b);
/// Nothing where `probability` is 0.
Tensor dropOut(Emitter &emit, const Tensor &x, double probability);
/// [rows, classes], where dimension `dim` is that of the classes.
mlir::Value rowsOfClasses(Emitter &emit, const Tensor &logits, size_t dim);
Tensor softmaxOver(Emitter &emit, const Tensor &x, size_t dim);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_CONVERTERS_H
