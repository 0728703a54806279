// Ops that only look at a tensor in another way, as steps that can be undone: what is written
// through a view reaches the tensor that it looks at.
#ifndef GC_TOOLS_GC_IMPORT_VIEWS_H
#define GC_TOOLS_GC_IMPORT_VIEWS_H

#include "tools/gc-import/Emitter.h"

namespace gc::importer {

struct ViewStep {
  enum class Kind { Reshape, Permute, Slice, Expand };
  Kind kind;
  Shape shape; // Reshape, Expand
  Order order; // Permute
  size_t dim = 0;
  int64_t start = 0, size = 0; // Slice
};
using ViewSteps = std::vector<ViewStep>;

/// Whether the op is a view, or a copy only where PyTorch cannot avoid it.
bool isViewTarget(llvm::StringRef target);

struct ViewResult {
  std::vector<ViewSteps> outputs;
  std::string fault;   // why it is none that can be imported
  bool isCopy = false; // PyTorch makes new elements here
};
/// How each output of the node looks at its first argument.
ViewResult viewSteps(const Node &node, const TensorMeta &input);

Tensor apply(Emitter &emitter, const ViewStep &step, const Tensor &x);
/// The tensor `whole` with `part` written to where the step looks; empty where that is not
/// possible.
std::optional<Tensor> writeThrough(Emitter &emitter, const ViewStep &step, const Tensor &whole,
                                   const Tensor &part);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_VIEWS_H
