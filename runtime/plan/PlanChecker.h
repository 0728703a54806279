// The rules that a plan must keep so that executing it cannot leave its arena, wait for ever or ask
// for what no machine has. Every product and sum of numbers from the file goes through
// `multiply`/`add`, which saturate: a size that overflows is then simply larger than any buffer.
// Private to the folder; the rules are in three files: VerifyPlan.cpp, VerifyKernels.cpp and
// VerifyCommands.cpp.
#ifndef GC_RUNTIME_PLAN_PLANCHECKER_H
#define GC_RUNTIME_PLAN_PLANCHECKER_H

#include "runtime/plan/PlanFile.h"

#include <limits>

namespace gc::runtime {

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

inline uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_mul_overflow(a, b, &r) ? kHuge : r;
}
inline uint64_t add(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_add_overflow(a, b, &r) ? kHuge : r;
}
template <typename Vector> size_t count(const Vector *v) { return v ? v->size() : 0; }

inline std::string quote(const flatbuffers::String *name) {
  return std::string("'").append(name->string_view()).append("'");
}

/// Each check returns false and leaves a message at the first rule that is broken.
class PlanChecker {
public:
  explicit PlanChecker(const gc::plan::Plan &plan) : plan(plan), buffers(count(plan.buffers())) {}

  Status run();

private:
  const gc::plan::Plan &plan;
  const size_t buffers;
  std::string message;

  bool fail(std::string text) {
    message = std::move(text);
    return false;
  }
  const gc::plan::Buffer &buffer(uint64_t index) {
    return *plan.buffers()->Get(static_cast<uint32_t>(index));
  }
  size_t symbols() const { return plan.kernels() ? count(plan.kernels()->symbols()) : 0; }

  // VerifyPlan.cpp
  bool checkHeader();
  bool checkBuffers();
  bool checkPartOf(size_t index);
  bool checkLife(const gc::plan::Buffer &b);
  bool checkVariables();
  bool checkVariable(const gc::plan::Variable &v);
  bool checkInputs();
  bool checkMetrics();
  bool checkOutputs();
  bool checkContracts();
  bool checkUpdate(const gc::plan::Update &update);

  // VerifyKernels.cpp
  bool checkKernels();
  bool checkImages();
  bool checkGraphs();
  bool checkDispatch(const gc::plan::Dispatch &d);
  bool checkLaunch(const gc::plan::Launch &l);
  bool checkGraphCall(const gc::plan::GraphCall &g);
  bool checkLimits(uint32_t kernel, uint64_t items, const flatbuffers::Vector<uint32_t> *operands);
  bool checkAccess(const flatbuffers::Vector<uint8_t> *access, size_t operands);

  // VerifyCommands.cpp
  bool checkList(const gc::plan::CommandList *list, const char *listName);
  bool checkCommand(const gc::plan::Command &command);
  bool checkConvolution(const gc::plan::Convolution &c);
  bool checkMatMul(const gc::plan::MatMul &m);
  bool checkCopy(const gc::plan::Copy &copy);
  /// What a convolution or product is computed in.
  bool checkTypes(gc::plan::DType type, gc::plan::DType accumulator, gc::plan::DType result,
                  bool accumulates);
  /// A command has an optional buffer exactly if its spec has it.
  bool checkOptional(bool expected, int32_t index, const char *role);
  bool inRange(int64_t index, const char *role);
  bool holds(int64_t index, uint64_t needed, const char *role, gc::plan::DType type);
  bool optionalHolds(int32_t index, uint64_t needed, const char *role, gc::plan::DType type) {
    return index == -1 || holds(index, needed, role, type);
  }
  bool checkWorkspace(int32_t index, std::initializer_list<int64_t> operands);
};

} // namespace gc::runtime

#endif // GC_RUNTIME_PLAN_PLANCHECKER_H
