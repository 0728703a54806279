//===- ParameterNames.cpp - names and file shapes are the libraries' -------===//
//
// names/*.txt were written by names/generate.py from torchvision, timm and torch.
//
//===----------------------------------------------------------------------===//
#include "models/Networks.h"
#include "models/VariableListing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include "gtest/gtest.h"
#include <algorithm>

using namespace gc::models;

static std::string listing(const NetworkOptions &options) {
  mlir::MLIRContext context;
  Network network = buildNetwork(context, options);
  if (!network) {
    ADD_FAILURE() << llvm::toString(network.takeError());
    return "";
  }
  std::vector<Variable> variables = listVariables(**network);
  std::ranges::sort(variables, {}, &Variable::name);
  std::string text;
  for (const Variable &variable : variables) {
    text += variable.isParameter ? "parameter " : "state ";
    text += variable.name + " ";
    text += llvm::join(
        llvm::map_range(variable.fileShape, [](int64_t n) { return std::to_string(n); }), "x");
    text += "\n";
  }
  return text;
}

static std::string readNames(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(GC_NAMES_DIR "/" + file);
  if (!buffer) {
    ADD_FAILURE() << file << ": " << buffer.getError().message();
    return "";
  }
  return (*buffer)->getBuffer().str();
}

TEST(ParameterNames, Resnet18) { EXPECT_EQ(listing(ResnetOptions{}), readNames("resnet18.txt")); }
TEST(ParameterNames, Vgg16) { EXPECT_EQ(listing(VggOptions{}), readNames("vgg16.txt")); }
TEST(ParameterNames, VitTiny) { EXPECT_EQ(listing(VitOptions{}), readNames("vit_tiny.txt")); }
TEST(ParameterNames, Encoder) { EXPECT_EQ(listing(EncoderOptions{}), readNames("encoder.txt")); }
TEST(ParameterNames, Mnist) { EXPECT_EQ(listing(MnistOptions{}), readNames("mnist.txt")); }
TEST(ParameterNames, MnistGroupNorm) {
  EXPECT_EQ(listing(MnistOptions{.image = 224, .norm = "group"}), readNames("mnist_group.txt"));
}
TEST(ParameterNames, Cnn11) { EXPECT_EQ(listing(Cnn11Options{}), readNames("cnn11.txt")); }

TEST(ParameterNames, LargeNetworksByHash) {
  std::string hashes;
  auto add = [&](const std::string &name, const NetworkOptions &options) {
    std::string text = listing(options);
    auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
    hashes += name + " " + llvm::toHex(hash, /*LowerCase=*/true) + "\n";
  };
  add("resnet34", ResnetOptions{.depth = 34});
  add("resnet50", ResnetOptions{.depth = 50});
  add("resnet101", ResnetOptions{.depth = 101});
  add("resnet152", ResnetOptions{.depth = 152});
  add("vgg11", VggOptions{.depth = 11});
  add("vgg13", VggOptions{.depth = 13});
  add("vgg19", VggOptions{.depth = 19});
  add("vit_small", VitOptions{.size = "small"});
  add("vit_base", VitOptions{.size = "base"});
  EXPECT_EQ(hashes, readNames("hashes.txt"));
}
