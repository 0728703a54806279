// Whether products of bf16 are worth it on this CPU. What it says it has is not asked alone: some
// have instructions that are slower than those for f32, and some virtual machines show tiles (AMX)
// whose description is missing, on which oneDNN dies.
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_HALFRATES_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_HALFRATES_H

namespace gc::runtime::cpu {

/// Keeps oneDNN from tiles that it cannot configure. Before the first primitive; `engine` calls it.
void limitInstructions();

/// Floating-point operations per second of a matrix product.
struct HalfRates {
  double f32 = 0;
  double bf16 = 0; // 0: no instructions for it
  /// A fifth faster at least: below that, rounding and reordering eat it up.
  bool areFaster() const { return bf16 > 1.2 * f32; }
};

/// Measured at the first call, in some milliseconds, with as many threads as OpenMP has then. For
/// who compiles: a plan says what was chosen (MatMulSpec.native), and whoever runs it follows.
const HalfRates &halfRates();

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_HALFRATES_H
