//===- PrintRandomModel.cpp - gc-random-model: a random network -----------===//
#include "test/memory/RandomModel.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  static constexpr char flag[] = "--layers=";
  long depth = 0;
  bool isDeep = argc == 3 && std::strncmp(argv[2], flag, std::strlen(flag)) == 0;
  if (isDeep)
    depth = std::strtol(argv[2] + std::strlen(flag), nullptr, 10);
  constexpr long mostLayers = 10000;
  if ((argc != 2 && !isDeep) || (isDeep && (depth < 2 || depth > mostLayers))) {
    std::fputs("usage: gc-random-model SEED [--layers=N], N from 2 to 10000\n", stderr);
    return 2;
  }
  std::mt19937 random(static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)));
  std::string text =
      isDeep ? gc::test::randomDeepModel(random, depth) : gc::test::randomModel(random);
  std::fputs(text.c_str(), stdout);
  return 0;
}
