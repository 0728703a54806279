// Convolutions and matrix products on the CPU, as the rest of gc sees them: plain specs, the
// workspace each needs, and calls on raw pointers. Everything oneDNN is behind this header.
//
// The compiler asks `workspaceBytes` to plan memory; the cpu device builds the calls when it
// records a command buffer and executes them in the step. Both must see the same answer, so every
// choice of strategy follows from the spec and the number of threads alone (never from a
// measurement).
//
// No function here throws. Results are bit-identical from call to call for a fixed thread count.
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_LIBRARY_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_LIBRARY_H

#include "runtime/plan/Plan_generated.h"
#include "runtime/plan/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gc::runtime::cpu {

/// What is computed, in the plan's own terms (Plan.fbs): the compiler asks with the spec that a
/// command has later. Types that this library has no kernels for are bad input.
using ConvolutionSpec = gc::plan::ConvolutionSpecT;
using MatMulSpec = gc::plan::MatMulSpecT;

/// The spec of a plan's command. The plan must have been verified.
ConvolutionSpec specOf(const gc::plan::Convolution &command);
MatMulSpec specOf(const gc::plan::MatMul &command);

/// Bytes that are equal exactly for equal specs of one kind.
std::string specKey(const ConvolutionSpec &spec);
std::string specKey(const MatMulSpec &spec);

/// Bytes of workspace that a call with this spec needs; 0 when it needs none. `threads` is the
/// number of threads that will execute the plan (0: all that OpenMP would use now). Cheap when
/// asked again for the same spec. Fails (bad input) on a spec that no call can execute.
Result<size_t> workspaceBytes(const ConvolutionSpec &spec, int threads = 0);
Result<size_t> workspaceBytes(const MatMulSpec &spec, int threads = 0);

/// oneDNN asks for transient memory while a primitive executes: some 3 KiB of argument maps, and
/// for strided batched products up to 256 KiB (seen) in each thread, of at most 8 (with more
/// threads such products are done another way). The plan reserves a Workspace buffer of this many
/// bytes, alive throughout (Plan.transients), and the cpu device answers those requests from it;
/// see runtime/hal/allocation/README.md.
constexpr size_t kTransientPoolBytes = 4608 * 1024;

/// Every workspace must start at a multiple of this.
constexpr size_t kWorkspaceAlignment = 64;

/// What Target.library_version holds: "oneDNN 2.6.3". Workspaces depend on it.
std::string libraryVersion();

/// Operands by role; those that the spec does not mention may be null. `weights` and `bias` are
/// outputs of BackwardWeights, `src` is the output of BackwardData.
struct ConvolutionPointers {
  void *src = nullptr;
  void *weights = nullptr;
  void *dst = nullptr;
  void *bias = nullptr;
  const void *residual = nullptr;
  void *workspace = nullptr;
};

struct MatMulPointers {
  const void *a = nullptr;
  const void *b = nullptr;
  void *c = nullptr;
  const void *bias = nullptr;
  const void *residual = nullptr;
  void *workspace = nullptr;
};

/// A convolution ready to execute: primitives are built by `create`, `execute` only runs them.
/// Holds no data. One thread may execute it at a time; it uses OpenMP's pool inside.
class ConvolutionCall {
public:
  /// Uses as many threads as OpenMP's pool has now (omp_get_max_threads), and needs exactly that
  /// many to execute (Team.h).
  static Result<std::unique_ptr<ConvolutionCall>> create(const ConvolutionSpec &spec);
  virtual ~ConvolutionCall() = default;

  /// Makes the library generate now what it would generate in the first execution, so that a step
  /// allocates nothing. Who only plans needs no such code, and no threads either.
  virtual void warmUp() {}

  /// The pointers must be valid for the shapes of the spec. Returns an error when the library
  /// fails, or (device error) when OpenMP would not give the team that it was created for.
  virtual Status execute(const ConvolutionPointers &pointers) = 0;
  virtual size_t workspaceBytes() const = 0;
  /// How it is done and by which implementation, e.g. "direct brgconv:avx512_core"; for profiles.
  virtual std::string implementation() const = 0;
};

/// A matrix product ready to execute; as ConvolutionCall.
class MatMulCall {
public:
  static Result<std::unique_ptr<MatMulCall>> create(const MatMulSpec &spec);
  virtual ~MatMulCall() = default;

  virtual void warmUp() {}
  virtual Status execute(const MatMulPointers &pointers) = 0;
  virtual size_t workspaceBytes() const = 0;
  virtual std::string implementation() const = 0;
};

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_LIBRARY_H
