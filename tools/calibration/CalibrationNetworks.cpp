#include "tools/gc-run/CalibrationNetworks.h"

#include "models/Networks.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc::models;

// Convolutions 1x1, 3x3 and strided, batch norm, residual additions; products, attention, GELU and
// layer norm; large images with few channels; channels that leave vector lanes idle; large weights,
// pooling and dropout; ReLU between products. A step of each takes a second or less.
static const NetworkOptions networks[] = {ResnetOptions{.depth = 50, .batch = 4},
                                          VitOptions{.size = "small", .batch = 4},
                                          MnistOptions{.image = 224, .batch = 32},
                                          Cnn11Options{.image = 64, .batch = 16},
                                          VggOptions{.depth = 11, .image = 112, .batch = 4},
                                          EncoderOptions{.batch = 4}};

std::vector<std::string> calibrationNetworks() {
  std::vector<std::string> texts;
  for (const NetworkOptions &options : networks) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    Network network = llvm::cantFail(buildNetwork(context, options));
    llvm::raw_string_ostream out(texts.emplace_back());
    (*network)->print(out, mlir::OpPrintingFlags().enableDebugInfo());
  }
  return texts;
}
