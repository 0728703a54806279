// Small plans that keep every rule, to break one.
#ifndef GC_TEST_RUNTIME_CORE_SOUNDPLANS_H
#define GC_TEST_RUNTIME_CORE_SOUNDPLANS_H

#include "runtime/hal/conformance/Runner.h"
#include "runtime/plan/PlanFile.h"

namespace gc::test {

gc::runtime::cpu::ConvolutionSpec smallConvolution();
gc::runtime::cpu::MatMulSpec smallMatMul();

/// One of everything.
std::vector<std::byte> soundPlan();
/// What a plan for a GPU has.
std::vector<std::byte> soundCudaPlan(bool cubin = true);

} // namespace gc::test

#endif // GC_TEST_RUNTIME_CORE_SOUNDPLANS_H
