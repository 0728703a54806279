//===- RandomModel.h - random small networks --------------------*- C++ -*-===//
#ifndef GC_TEST_MEMORY_RANDOMMODEL_H
#define GC_TEST_MEMORY_RANDOMMODEL_H

#include <random>
#include <string>

namespace gc::test {

/// The text of a network for a batch of eight images: convolutions, norms, activations, pools, skip
/// connections and dropout on an image; then perhaps attention, norms and products on tokens;
/// then products on vectors. Follows from `random` alone.
std::string randomModel(std::mt19937 &random);

} // namespace gc::test

#endif
