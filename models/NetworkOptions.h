//===- NetworkOptions.h - what can be chosen about a network ----*- C++ -*-===//
//
// Plain structs, free of MLIR, so that a command line can fill them. The defaults are those of
// gc-gen; builders check the values.
//
//===----------------------------------------------------------------------===//
#ifndef GC_MODELS_NETWORKOPTIONS_H
#define GC_MODELS_NETWORKOPTIONS_H

#include <cstdint>
#include <string>
#include <variant>

namespace gc::models {

/// [conv 2x2 stride 2, norm, ReLU] until one pixel is left, then two linear layers.
struct MnistOptions {
  int64_t image = 112; // 112 * 2^k, up to 3584
  int64_t batch = 128;
  std::string norm = "batch"; // or "group": eight channels a group
  int64_t classes = 10;
};

/// Eleven [conv 5x5, ReLU], one max-pool, two linear layers.
struct Cnn11Options {
  int64_t image = 256; // even
  int64_t batch = 16;
  int64_t classes = 10;
};

/// torchvision's vgg11, vgg13, vgg16, vgg19 (without batch norm).
struct VggOptions {
  int64_t depth = 16;
  int64_t image = 224;
  int64_t batch = 16;
  int64_t classes = 1000;
  double dropout = 0.5; // 0 leaves the dropout ops out
};

/// torchvision's resnet18 to resnet152.
struct ResnetOptions {
  int64_t depth = 18;
  int64_t image = 224;
  int64_t batch = 16;
  int64_t classes = 1000;
};

/// timm's vit_{tiny,small,base}_patch16_224.
struct VitOptions {
  std::string size = "tiny";
  int64_t patch = 16;
  int64_t image = 224;
  int64_t batch = 16;
  int64_t classes = 1000;
};

/// torch.nn.TransformerEncoder (post-norm, ReLU, no dropout) and a head on the mean over the
/// sequence.
struct EncoderOptions {
  int64_t layers = 6;
  int64_t width = 512;
  int64_t heads = 8;
  int64_t ffn = 2048;
  int64_t sequence = 128;
  int64_t batch = 16;
  int64_t classes = 10;
};

using NetworkOptions =
    std::variant<MnistOptions, Cnn11Options, VggOptions, ResnetOptions, VitOptions, EncoderOptions>;

} // namespace gc::models

#endif
