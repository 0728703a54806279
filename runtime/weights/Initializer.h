// Initial values of parameters and state, drawn from a counter-based generator keyed by the user's
// seed and the variable's name. Element i of a tensor, counted in the layout of weight files, has
// the same value whatever layout the plan uses inside, and whatever the number of threads.
#ifndef GC_RUNTIME_WEIGHTS_INITIALIZER_H
#define GC_RUNTIME_WEIGHTS_INITIALIZER_H

#include "runtime/Error.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gc::runtime {

enum class InitialDistribution { Constant, Uniform, Normal, TruncatedNormal };

/// Constant: a. Uniform: [a, b). Normal: mean a, deviation b. TruncatedNormal: also cut to [c, d].
struct InitialValues {
  InitialDistribution distribution = InitialDistribution::Constant;
  double a = 0, b = 0, c = 0, d = 0;
};

/// Fails on numbers that no distribution has (not finite, negative deviation, empty range).
Status checkInitialValues(const InitialValues &values, std::string_view name);

/// Writes elements [first, first + count) of the named tensor. `values` must have been checked.
void drawInitialValues(const InitialValues &values, uint64_t seed, std::string_view name,
                       uint64_t first, size_t count, float *target);

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_INITIALIZER_H
