//===- Vit.cpp - the vision transformer as timm has it --------------------===//
//
// Pre-norm, exact GELU, a class token that the head reads. timm normalizes all tokens and then
// takes the first; a norm sees one token at a time, so taking it first is the same and cheaper.
//
//===----------------------------------------------------------------------===//
#include "models/CheckSizes.h"
#include "models/ModelBuilder.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace gc::models {
namespace {

constexpr double epsilon = 1e-6;
constexpr int64_t depth = 12;

Value transformerBlock(ModelBuilder &model, const std::string &block, Value x, int64_t heads) {
  int64_t width = channels(x);
  LayerInit init{truncatedNormal(0.02), constant(0.0)};
  Value y = model.layerNorm(block + ".norm1", x, epsilon);
  y = model.linear(block + ".attn.qkv", y, 3 * width, init);
  y = model.attention(block + ".attn", y, heads);
  y = model.linear(block + ".attn.proj", y, width, init);
  x = model.add(block + ".add1", x, y);

  y = model.layerNorm(block + ".norm2", x, epsilon);
  y = model.gelu(block + ".mlp.act", model.linear(block + ".mlp.fc1", y, 4 * width, init));
  y = model.linear(block + ".mlp.fc2", y, width, init);
  return model.add(block + ".add2", x, y);
}

} // namespace

Network buildVit(MLIRContext &context, const VitOptions &options) {
  int64_t width = llvm::StringSwitch<int64_t>(options.size)
                      .Case("tiny", 192)
                      .Case("small", 384)
                      .Case("base", 768)
                      .Default(0);
  if (width == 0)
    return badSize("--size=" + options.size + " is not possible: use tiny, small or base");
  if (auto error = checkSizes({{"image", options.image},
                               {"patch", options.patch},
                               {"batch", options.batch},
                               {"classes", options.classes}}))
    return error;
  if (options.image % options.patch != 0)
    return badSize("--image=" + llvm::Twine(options.image) + " is not a multiple of --patch=" +
                   llvm::Twine(options.patch) + ": patches must tile the image");
  int64_t side = options.image / options.patch, tokens = side * side + 1;
  if (tokens > largestSize)
    return badSize("--image=" + llvm::Twine(options.image) +
                   " with --patch=" + llvm::Twine(options.patch) + " makes " + llvm::Twine(tokens) +
                   " tokens, more than " + llvm::Twine(largestSize) + ": use larger patches");

  ModelBuilder model(context, "vit_" + options.size, options.classes,
                     {options.batch, options.image, options.image, 3});
  Value token = model.parameter("cls_token", {1, 1, width}, normal(1e-6));
  Value position = model.parameter("pos_embed", {1, tokens, width}, truncatedNormal(0.02));
  Value x = model.patchEmbed("patch_embed.proj", model.input(), options.patch, width);
  x = model.create<ClassTokenOp>("pos_embed.add", x, token, position);
  for (int64_t i = 0; i < depth; ++i)
    x = transformerBlock(model, "blocks." + std::to_string(i), x, /*heads=*/width / 64);

  x = model.slice("token", x, /*axis=*/1, /*offset=*/0, /*size=*/1);
  x = model.reshape("token", x, {options.batch, width});
  x = model.layerNorm("norm", x, epsilon);
  return model.finish(
      model.linear("head", x, options.classes, LayerInit{truncatedNormal(0.02), constant(0.0)}));
}

} // namespace gc::models
