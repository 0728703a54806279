//===- PrintRandomModel.cpp - gc-random-model SEED: a random network ------===//
#include "test/memory/RandomModel.h"
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: gc-random-model SEED\n", stderr);
    return 2;
  }
  std::mt19937 random(static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)));
  std::fputs(gc::test::randomModel(random).c_str(), stdout);
  return 0;
}
