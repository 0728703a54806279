//===- RandomModel.h - random small networks --------------------*- C++ -*-===//
#ifndef GC_TEST_MEMORY_RANDOMMODEL_H
#define GC_TEST_MEMORY_RANDOMMODEL_H

#include <cstdint>
#include <random>
#include <string>

namespace gc::test {

/// The text of a network for a batch of eight images: convolutions, norms, activations, pools, skip
/// connections and dropout on an image; then perhaps attention, norms and products on tokens;
/// then products on vectors. Follows from `random` alone.
std::string randomModel(std::mt19937 &random);

/// The same with at least `depth` convolutions and products: runs of equal residual blocks with
/// irregular layers between them, then perhaps blocks on tokens.
std::string randomDeepModel(std::mt19937 &random, int64_t depth);

} // namespace gc::test

#endif
