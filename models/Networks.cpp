//===- Networks.cpp - options to builder ----------------------------------===//
#include "models/Networks.h"

namespace gc::models {
namespace {
struct Build {
  mlir::MLIRContext &context;
  Network operator()(const MnistOptions &options) const { return buildMnist(context, options); }
  Network operator()(const Cnn11Options &options) const { return buildCnn11(context, options); }
  Network operator()(const VggOptions &options) const { return buildVgg(context, options); }
  Network operator()(const ResnetOptions &options) const { return buildResnet(context, options); }
  Network operator()(const VitOptions &options) const { return buildVit(context, options); }
  Network operator()(const EncoderOptions &options) const { return buildEncoder(context, options); }
};
} // namespace

Network buildNetwork(mlir::MLIRContext &context, const NetworkOptions &options) {
  return std::visit(Build{context}, options);
}

} // namespace gc::models
