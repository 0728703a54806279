#include "tools/selftest/SelfTestNetworks.h"

#include "models/Networks.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc::models;

namespace {

struct Choice {
  NetworkOptions options;
  bool hasBatchNorm;
};

std::vector<SelfTestNetwork> build(const std::vector<Choice> &choices) {
  std::vector<SelfTestNetwork> networks;
  for (const Choice &choice : choices) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    Network network = llvm::cantFail(buildNetwork(context, choice.options));
    SelfTestNetwork &one = networks.emplace_back();
    one.name = (*network)->getName().value_or("network").str();
    one.hasBatchNorm = choice.hasBatchNorm;
    llvm::raw_string_ostream out(one.text);
    (*network)->print(out, mlir::OpPrintingFlags().enableDebugInfo());
  }
  return networks;
}

} // namespace

// Images are as small as leaves batch norm several values in the last stage: with two it gives ±1
// whatever comes in, and the gradient before it is nothing but rounding.
std::vector<SelfTestNetwork> selfTestNetworks(bool quick) {
  if (quick)
    return build({{MnistOptions{.batch = 6}, true},
                  {EncoderOptions{
                       .layers = 2, .width = 32, .heads = 2, .ffn = 48, .sequence = 11, .batch = 2},
                   false}});
  return build({{MnistOptions{.batch = 32}, true},
                {EncoderOptions{
                     .layers = 2, .width = 128, .heads = 4, .ffn = 512, .sequence = 61, .batch = 8},
                 false},
                {VitOptions{.image = 64, .batch = 8, .classes = 100}, false},
                {ResnetOptions{.image = 64, .batch = 8, .classes = 100}, true}});
}

std::vector<SelfTestNetwork> selfTestRateNetworks(bool quick) {
  if (quick)
    return selfTestNetworks(quick);
  return build({{ResnetOptions{.depth = 50, .batch = 8}, true},
                {VitOptions{.size = "small", .batch = 8}, false}});
}
