//===- Models.cpp - one model or more for every differentiable op ---------===//
#include "test/gradients/Model.h"

namespace gc::test {

static constexpr double kF32Factor = 1.0 / (1 << 24);

static Model unary(const std::string &op, double low = -1, double high = 1) {
  return {op,
          {{"x", "3x5"}},
          "%y = gc." + op + " %x : (tensor<3x5xf32>) -> tensor<3x5xf32>",
          "3x5",
          low,
          high};
}

static Model attributed(const std::string &op, const std::string &name, const std::string &tail,
                        double low = -1, double high = 1) {
  return {op + (name.empty() ? "" : "_" + name),
          {{"x", "3x5"}},
          "%y = gc." + op + " %x " + tail + " : (tensor<3x5xf32>) -> tensor<3x5xf32>",
          "3x5",
          low,
          high,
          {},
          false,
          false,
          false,
          kF32Factor};
}

static Model binary(const std::string &op, double low = -1, double high = 1) {
  return {op,
          {{"a", "3x5"}, {"b", "3x5"}},
          "%y = gc." + op + " %a, %b : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>",
          "3x5",
          low,
          high};
}

static Model matmul(const std::string &name, const std::string &a, const std::string &b,
                    const std::string &attributes) {
  return {name,
          {{"a", a}, {"b", b}},
          "%y = gc.matmul %a, %b " + attributes + " : (tensor<" + a + "xf32>, tensor<" + b +
              "xf32>) -> tensor<2x3x5xf32>",
          "2x3x5"};
}

static std::vector<Model> elementwise() {
  return {
      binary("add"),
      binary("sub"),
      binary("mul"),
      binary("div", 0.5, 2),
      unary("neg"),
      unary("cast"),
      {"cast_there_and_back",
       {{"x", "3x5"}},
       "%h = gc.cast %x : (tensor<3x5xf32>) -> tensor<3x5xbf16>\n"
       "%e = gc.exp %h : (tensor<3x5xbf16>) -> tensor<3x5xbf16>\n"
       "%y = gc.cast %e : (tensor<3x5xbf16>) -> tensor<3x5xf32>",
       "3x5"},
      unary("exp"),
      unary("log", 0.5, 2),
      unary("sqrt", 0.5, 2),
      unary("tanh"),
      unary("sigmoid"),
      unary("relu"),
      unary("gelu", -2, 2),
      unary("silu", -2, 2),
      {"scale",
       {{"x", "3x5"}},
       "%y = gc.scale %x {factor = 0.3 : f32} : (tensor<3x5xf32>) -> tensor<3x5xf32>",
       "3x5"},
      attributed("add_scalar", "", "{addend = 3.0 : f32}"),
      unary("abs"),
      unary("rsqrt", 0.5, 2),
      unary("softplus", -2, 2),
      unary("hardswish", -5, 5),
      unary("hardsigmoid", -5, 5),
      attributed("gelu", "tanh", "approximate = tanh", -2, 2),
      attributed("leaky_relu", "", "{slope = 0.125 : f32}"),
      attributed("elu", "", "{alpha = 1.5 : f32}", -2, 2),
      attributed("clamp", "both", "{low = -0.51 : f32, high = 0.27 : f32}"),
      attributed("clamp", "low", "{low = 0.01 : f32}"),
      attributed("clamp", "open", "{low = -0.51 : f32, high = 0.27 : f32, open = true}"),
      attributed("pow", "1", "{exponent = 1.0 : f32}"),
      attributed("pow", "2", "{exponent = 2.0 : f32}"),
      attributed("pow", "7", "{exponent = 7.0 : f32}"),
      attributed("pow", "minus_3", "{exponent = -3.0 : f32}", 0.5, 2),
      attributed("pow", "half", "{exponent = 2.5 : f32}", 0.5, 2),
      attributed("pow", "other", "{exponent = -1.75 : f32}", 0.5, 2),
      // Of a mask that is computed, is 0 for some, and changes nowhere near.
      {"select",
       {{"a", "3x5"}, {"b", "3x5"}},
       "%t = gc.add_scalar %q {addend = 0.03 : f32} : (tensor<3x5xf32>) -> tensor<3x5xf32> "
       "%m = gc.compare lt %a, %t : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> "
       "%y = gc.select %m, %a, %b : (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) -> "
       "tensor<3x5xf32>",
       "3x5",
       -1,
       1,
       {{"q", "3x5"}}},
      {"masked_fill",
       {{"a", "3x5"}, {"b", "3x5"}},
       "%m = gc.compare ge %p, %q : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> "
       "%f = gc.masked_fill %a, %m {value = 2.0 : f32} : (tensor<3x5xf32>, tensor<3x5xf32>) -> "
       "tensor<3x5xf32> "
       "%g = gc.masked_fill %b, %m {value = 1.0 : f32, inverted = true} : (tensor<3x5xf32>, "
       "tensor<3x5xf32>) -> tensor<3x5xf32> "
       "%y = gc.mul %f, %g : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>",
       "3x5",
       -1,
       1,
       {{"p", "3x5"}, {"q", "3x5"}}},
      {"squeeze_excite", // an image times a number for each sample and channel
       {{"x", "2x3x2x5"}, {"s", "2x1x1x5"}},
       "%b = gc.broadcast %s {dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x1x5xf32>) -> "
       "tensor<2x3x2x5xf32> %y = gc.mul %x, %b : (tensor<2x3x2x5xf32>, tensor<2x3x2x5xf32>) -> "
       "tensor<2x3x2x5xf32>",
       "2x3x2x5"},
      {"square",
       {{"x", "3x5"}},
       "%y = gc.mul %x, %x : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>",
       "3x5"},
      {"bias",
       {{"x", "2x3x5"}, {"b", "5"}},
       "%y = gc.bias %x, %b : (tensor<2x3x5xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>",
       "2x3x5"},
      {"broadcast",
       {{"x", "5"}},
       "%y = gc.broadcast %x {dimensions = array<i64: 1>} : (tensor<5xf32>) -> tensor<3x5x7xf32>",
       "3x5x7"},
      {"broadcast_unit",
       {{"x", "1x5x1"}},
       "%y = gc.broadcast %x {dimensions = array<i64: 0, 1, 3>} : (tensor<1x5x1xf32>) -> "
       "tensor<3x5x2x7xf32>",
       "3x5x2x7"},
      {"broadcast_scalar",
       {{"x", ""}},
       "%y = gc.broadcast %x {dimensions = array<i64>} : (tensor<f32>) -> tensor<3x5xf32>",
       "3x5"},
      {"dropout",
       {{"x", "5x7"}},
       "%y = gc.dropout %x, %generator {probability = 0.375 : f32, id = 3 : i64} : "
       "(tensor<5x7xf32>, tensor<2xi64>) -> tensor<5x7xf32>",
       "5x7",
       -1,
       1,
       {},
       false,
       false,
       true},
  };
}

static std::vector<Model> linear() {
  return {
      {"conv2d",
       {{"x", "2x5x7x3"}, {"w", "5x3x3x3"}, {"b", "5"}},
       "%y = gc.conv2d %x, %w bias %b {strides = array<i64: 2, 1>, padding = array<i64: 1, 0>} : "
       "(tensor<2x5x7x3xf32>, tensor<5x3x3x3xf32>, tensor<5xf32>) -> tensor<2x3x5x5xf32>",
       "2x3x5x5"},
      {"conv2d_depthwise",
       {{"x", "2x5x6x4"}, {"w", "4x3x3x1"}, {"b", "4"}},
       "%y = gc.conv2d %x, %w bias %b {strides = array<i64: 2, 1>, padding = array<i64: 1, 1>, "
       "groups = 4 : i64} : (tensor<2x5x6x4xf32>, tensor<4x3x3x1xf32>, tensor<4xf32>) -> "
       "tensor<2x3x6x4xf32>",
       "2x3x6x4"},
      {"conv2d_groups_dilation",
       {{"x", "2x7x6x4"}, {"w", "6x3x2x2"}},
       "%y = gc.conv2d %x, %w {strides = array<i64: 2, 1>, padding = array<i64: 2, 1>, dilation = "
       "array<i64: 2, 3>, groups = 2 : i64} : (tensor<2x7x6x4xf32>, tensor<6x3x2x2xf32>) -> "
       "tensor<2x4x5x6xf32>",
       "2x4x5x6"},
      {"conv2d_grad_input", // a transposed convolution
       {{"x", "2x3x2x4"}, {"w", "4x3x3x3"}},
       "%y = gc.conv2d_grad_input %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} "
       ": (tensor<2x3x2x4xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x3x3xf32>",
       "2x6x3x3"},
      // Stride 2 leaves the last column of the image unread.
      {"conv2d_residual",
       {{"x", "1x5x6x3"}, {"w", "2x3x3x3"}, {"r", "1x2x2x2"}},
       "%y = gc.conv2d %x, %w residual %r {strides = array<i64: 2, 2>, padding = array<i64: 0, "
       "0>} : (tensor<1x5x6x3xf32>, tensor<2x3x3x3xf32>, tensor<1x2x2x2xf32>) -> "
       "tensor<1x2x2x2xf32>",
       "1x2x2x2"},
      {"conv2d_bias_alone",
       {{"b", "5"}},
       "%y = gc.conv2d %x, %w bias %b {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : "
       "(tensor<1x3x3x3xf32>, tensor<5x3x1x3xf32>, tensor<5xf32>) -> tensor<1x1x3x5xf32>",
       "1x1x3x5",
       -1,
       1,
       {{"x", "1x3x3x3"}, {"w", "5x3x1x3"}}},
      {"linear",
       {{"x", "2x3x5"}, {"w", "7x5"}, {"b", "7"}, {"r", "2x3x7"}},
       "%y = gc.linear %x, %w bias %b residual %r : (tensor<2x3x5xf32>, tensor<7x5xf32>, "
       "tensor<7xf32>, tensor<2x3x7xf32>) -> tensor<2x3x7xf32>",
       "2x3x7"},
      matmul("matmul", "2x3x7", "2x7x5", ""),
      matmul("matmul_transpose_lhs", "2x7x3", "2x7x5", "{transpose_lhs = true}"),
      matmul("matmul_transpose_rhs", "2x3x7", "2x5x7", "{transpose_rhs = true}"),
      matmul("matmul_transpose_both", "2x7x3", "2x5x7",
             "{transpose_lhs = true, transpose_rhs = true}"),
  };
}

static std::vector<Model> norm() {
  return {
      {"batch_norm",
       {{"x", "2x3x3x5"}, {"w", "5"}, {"b", "5"}},
       "%y, %m, %s = gc.batch_norm %x, %w, %b {epsilon = 1.0e-2 : f32} : (tensor<2x3x3x5xf32>, "
       "tensor<5xf32>, tensor<5xf32>) -> (tensor<2x3x3x5xf32>, tensor<5xf32>, tensor<5xf32>)",
       "2x3x3x5"},
      {"normalize",
       {{"x", "2x3x3x5"}, {"w", "5"}, {"b", "5"}},
       "%y = gc.normalize %x, %m, %s, %w, %b : (tensor<2x3x3x5xf32>, tensor<5xf32>, "
       "tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<2x3x3x5xf32>",
       "2x3x3x5",
       -1,
       1,
       {{"m", "5"}, {"s", "5"}}},
      {"layer_norm",
       {{"x", "2x3x7"}, {"w", "7"}, {"b", "7"}},
       "%y, %m, %s = gc.layer_norm %x, %w, %b {epsilon = 1.0e-2 : f32} : (tensor<2x3x7xf32>, "
       "tensor<7xf32>, tensor<7xf32>) -> (tensor<2x3x7xf32>, tensor<2x3xf32>, tensor<2x3xf32>)",
       "2x3x7"},
      {"group_norm",
       {{"x", "2x3x3x6"}, {"w", "6"}, {"b", "6"}},
       "%y, %m, %s = gc.group_norm %x, %w, %b {epsilon = 1.0e-2 : f32, groups = 2 : i64} : "
       "(tensor<2x3x3x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<2x3x3x6xf32>, "
       "tensor<2x2xf32>, tensor<2x2xf32>)",
       "2x3x3x6"},
  };
}

static std::vector<Model> pool() {
  return {
      // Windows overlap and reach into the padding.
      {"max_pool",
       {{"x", "2x5x7x3"}},
       "%y, %i = gc.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = "
       "array<i64: 1, 1>} : (tensor<2x5x7x3xf32>) -> (tensor<2x3x4x3xf32>, tensor<2x3x4x3xi8>)",
       "2x3x4x3"},
      {"avg_pool",
       {{"x", "2x5x7x3"}},
       "%y = gc.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = "
       "array<i64: 1, 1>} : (tensor<2x5x7x3xf32>) -> tensor<2x3x4x3xf32>",
       "2x3x4x3"},
      // The last window hangs over the end.
      {"max_pool_ceil",
       {{"x", "1x6x5x3"}},
       "%y, %i = gc.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = "
       "array<i64: 0, 0>, ceil_mode = true} : (tensor<1x6x5x3xf32>) -> (tensor<1x3x2x3xf32>, "
       "tensor<1x3x2x3xi8>)",
       "1x3x2x3"},
      {"avg_pool_ceil",
       {{"x", "1x6x5x3"}},
       "%y = gc.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = "
       "array<i64: 1, 1>, ceil_mode = true} : (tensor<1x6x5x3xf32>) -> tensor<1x4x3x3xf32>",
       "1x4x3x3"},
      {"avg_pool_shares",
       {{"x", "1x6x5x3"}},
       "%y = gc.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = "
       "array<i64: 1, 1>, count_padding = false} : (tensor<1x6x5x3xf32>) -> tensor<1x3x3x3xf32>",
       "1x3x3x3"},
      {"global_avg_pool",
       {{"x", "2x3x5x7"}},
       "%y = gc.global_avg_pool %x : (tensor<2x3x5x7xf32>) -> tensor<2x7xf32>",
       "2x7"},
  };
}

static std::vector<Model> attention() {
  return {
      unary("softmax"),
      {"attention",
       {{"qkv", "2x5x18"}},
       "%y, %l = gc.attention %qkv {heads = 2 : i64} : (tensor<2x5x18xf32>) -> "
       "(tensor<2x5x6xf32>, tensor<2x2x5xf32>)",
       "2x5x6",
       -2,
       2},
      {"attention_causal",
       {{"qkv", "2x5x18"}},
       "%y, %l = gc.attention %qkv {causal, heads = 2 : i64} : (tensor<2x5x18xf32>) -> "
       "(tensor<2x5x6xf32>, tensor<2x2x5xf32>)",
       "2x5x6",
       -2,
       2},
      {"attention_bias",
       {{"qkv", "2x5x18"}, {"bias", "1x2x5x5"}},
       "%y, %l = gc.attention %qkv, %bias {heads = 2 : i64} : (tensor<2x5x18xf32>, "
       "tensor<1x2x5x5xf32>) -> (tensor<2x5x6xf32>, tensor<2x2x5xf32>)",
       "2x5x6",
       -2,
       2},
      {"attention_causal_bias_of_samples",
       {{"qkv", "2x5x18"}, {"bias", "2x1x5x5"}},
       "%y, %l = gc.attention %qkv, %bias {causal, heads = 2 : i64} : (tensor<2x5x18xf32>, "
       "tensor<2x1x5x5xf32>) -> (tensor<2x5x6xf32>, tensor<2x2x5xf32>)",
       "2x5x6",
       -2,
       2},
      {"attention_bias_of_keys",
       {{"qkv", "2x5x18"}, {"bias", "2x1x1x5"}},
       "%y, %l = gc.attention %qkv, %bias {heads = 2 : i64} : (tensor<2x5x18xf32>, "
       "tensor<2x1x1x5xf32>) -> (tensor<2x5x6xf32>, tensor<2x2x5xf32>)",
       "2x5x6",
       -2,
       2},
      {"patch_embed",
       {{"x", "2x6x9x3"}, {"w", "5x2x3x3"}, {"b", "5"}},
       "%y = gc.patch_embed %x, %w, %b : (tensor<2x6x9x3xf32>, tensor<5x2x3x3xf32>, "
       "tensor<5xf32>) -> tensor<2x9x5xf32>",
       "2x9x5"},
      {"patch_embed_bias_alone",
       {{"b", "5"}},
       "%y = gc.patch_embed %x, %w, %b : (tensor<1x2x2x3xf32>, tensor<5x2x2x3xf32>, "
       "tensor<5xf32>) -> tensor<1x1x5xf32>",
       "1x1x5",
       -1,
       1,
       {{"x", "1x2x2x3"}, {"w", "5x2x2x3"}}},
      {"class_token",
       {{"x", "2x3x5"}, {"token", "1x1x5"}, {"position", "1x4x5"}},
       "%y = gc.class_token %x, %token, %position : (tensor<2x3x5xf32>, tensor<1x1x5xf32>, "
       "tensor<1x4x5xf32>) -> tensor<2x4x5xf32>",
       "2x4x5"},
      {"embedding",
       {{"table", "7x5"}},
       "%y = gc.embedding %indices, %table : (tensor<3x3xi32>, tensor<7x5xf32>) -> "
       "tensor<3x3x5xf32>",
       "3x3x5",
       -1,
       1,
       {},
       false,
       true},
  };
}

static std::vector<Model> shape() {
  return {
      {"reshape",
       {{"x", "3x5"}},
       "%y = gc.reshape %x : (tensor<3x5xf32>) -> tensor<5x3xf32>",
       "5x3"},
      {"transpose",
       {{"x", "2x3x5"}},
       "%y = gc.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x5xf32>) -> "
       "tensor<5x2x3xf32>",
       "5x2x3"},
      {"concat",
       {{"a", "3x1x5"}, {"b", "3x2x5"}},
       "%y = gc.concat %a, %b, %a {axis = 1 : i64} : (tensor<3x1x5xf32>, tensor<3x2x5xf32>, "
       "tensor<3x1x5xf32>) -> tensor<3x4x5xf32>",
       "3x4x5"},
      {"concat_rows",
       {{"a", "1x4"}, {"b", "2x4"}},
       "%y = gc.concat %a, %b, %a {axis = 0 : i64} : (tensor<1x4xf32>, tensor<2x4xf32>, "
       "tensor<1x4xf32>) -> tensor<4x4xf32>",
       "4x4"},
      {"slices_of_rows", // which overlap, and whose gradients are added up
       {{"x", "4x3"}},
       "%s = gc.slice %x {axis = 0 : i64, offset = 0 : i64, size = 2 : i64} : (tensor<4x3xf32>) -> "
       "tensor<2x3xf32> %t = gc.slice %x {axis = 0 : i64, offset = 2 : i64, size = 2 : i64} : "
       "(tensor<4x3xf32>) -> tensor<2x3xf32> %u = gc.slice %x {axis = 0 : i64, offset = 1 : i64, "
       "size = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> %v = gc.mul %s, %t : "
       "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> %y = gc.mul %v, %u : "
       "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
       "2x3"},
      {"slices_of_rows_downwards", // each meets the one before it
       {{"x", "4x3"}},
       "%s = gc.slice %x {axis = 0 : i64, offset = 2 : i64, size = 2 : i64} : (tensor<4x3xf32>) -> "
       "tensor<2x3xf32> %t = gc.slice %x {axis = 0 : i64, offset = 1 : i64, size = 2 : i64} : "
       "(tensor<4x3xf32>) -> tensor<2x3xf32> %u = gc.slice %x {axis = 0 : i64, offset = 0 : i64, "
       "size = 2 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32> %v = gc.mul %s, %t : "
       "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> %y = gc.mul %v, %u : "
       "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
       "2x3"},
      {"slice",
       {{"x", "3x7x5"}},
       "%y = gc.slice %x {axis = 1 : i64, offset = 2 : i64, size = 3 : i64} : "
       "(tensor<3x7x5xf32>) -> tensor<3x3x5xf32>",
       "3x3x5"},
      {"roll",
       {{"x", "3x4x5"}},
       "%y = gc.roll %x {axis = 1 : i64, shift = 3 : i64} : (tensor<3x4x5xf32>) -> "
       "tensor<3x4x5xf32>",
       "3x4x5"},
      {"flip",
       {{"x", "3x4x5"}},
       "%y = gc.flip %x {axis = 1 : i64} : (tensor<3x4x5xf32>) -> tensor<3x4x5xf32>",
       "3x4x5"},
      {"pad",
       {{"x", "3x3x5"}},
       "%y = gc.pad %x {axis = 1 : i64, low = 2 : i64, high = 1 : i64} : (tensor<3x3x5xf32>) -> "
       "tensor<3x6x5xf32>",
       "3x6x5"},
      {"reduce_sum",
       {{"x", "3x5x7"}},
       "%y = gc.reduce_sum %x {dimensions = array<i64: 0, 2>} : (tensor<3x5x7xf32>) -> "
       "tensor<5xf32>",
       "5"},
      {"reduce_mean",
       {{"x", "3x5x7"}},
       "%y = gc.reduce_mean %x {dimensions = array<i64: 1>} : (tensor<3x5x7xf32>) -> "
       "tensor<3x7xf32>",
       "3x7",
       -1,
       1,
       {},
       false,
       false,
       false,
       kF32Factor},
      {"reduce_max",
       {{"x", "3x5x7"}},
       "%y = gc.reduce_max %x {dimensions = array<i64: 0, 2>} : (tensor<3x5x7xf32>) -> "
       "tensor<5xf32>",
       "5"},
  };
}

static std::vector<Model> loss() {
  return {{"cross_entropy",
           {{"x", "5x7"}},
           "%y, %l = gc.cross_entropy %x, %labels : (tensor<5x7xf32>, tensor<5xi32>) -> "
           "(tensor<f32>, tensor<5xf32>)",
           "",
           -2,
           2,
           {},
           true},
          {"cross_entropy_smoothed",
           {{"x", "5x7"}},
           "%y, %l = gc.cross_entropy %x, %labels {label_smoothing = 0.1875 : f32} : "
           "(tensor<5x7xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)",
           "",
           -2,
           2,
           {},
           true}};
}

const std::vector<Model> &models() {
  static const std::vector<Model> all = [] {
    std::vector<Model> result;
    for (auto family : {elementwise(), linear(), norm(), pool(), attention(), shape(), loss()})
      result.insert(result.end(), family.begin(), family.end());
    return result;
  }();
  return all;
}

} // namespace gc::test
