// Convolutions in all directions, strategies and epilogues; sizes are small and mostly odd.
#include "runtime/hal/conformance/Reference.h"
#include "runtime/hal/conformance/Runner.h"

namespace gc::runtime::conformance {
namespace {

struct Shape {
  const char *name;
  int64_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  int64_t groups = 1, dilation_h = 1, dilation_w = 1;
};

const Shape kShapes[] = {
    {"3x3", 2, 9, 7, 16, 9, 7, 32, 3, 3, 1, 1, 1, 1},
    {"3x3-odd-channels", 2, 7, 9, 5, 7, 9, 13, 3, 3, 1, 1, 1, 1},
    {"3x3-stride2", 2, 9, 9, 16, 5, 5, 24, 3, 3, 2, 2, 1, 1},
    {"5x5-same", 1, 12, 11, 10, 12, 11, 20, 5, 5, 1, 1, 2, 2},
    {"5x5-one-channel", 2, 13, 13, 1, 13, 13, 10, 5, 5, 1, 1, 2, 2},
    {"7x7-stem", 2, 20, 22, 3, 10, 11, 16, 7, 7, 2, 2, 3, 3},
    {"1x1", 3, 5, 5, 24, 5, 5, 40, 1, 1, 1, 1, 0, 0},
    {"1x1-wide", 1, 6, 6, 256, 6, 6, 320, 1, 1, 1, 1, 0, 0},
    {"1x1-stride2", 2, 8, 8, 32, 4, 4, 16, 1, 1, 2, 2, 0, 0},
    {"2x2-stride2", 3, 8, 10, 8, 4, 5, 16, 2, 2, 2, 2, 0, 0},
    {"2x2-one-channel", 3, 8, 8, 1, 4, 4, 8, 2, 2, 2, 2, 0, 0},
    {"2x2-padded", 2, 7, 7, 40, 4, 4, 48, 2, 2, 2, 2, 1, 1},
    {"patch4", 2, 12, 12, 3, 3, 3, 17, 4, 4, 4, 4, 0, 0},
    {"patch4-uncovered", 2, 14, 13, 3, 3, 3, 17, 4, 4, 4, 4, 0, 0},
    {"rectangular", 2, 9, 6, 4, 7, 3, 6, 3, 2, 1, 2, 0, 0},
    {"depthwise-3x3", 2, 9, 7, 24, 9, 7, 24, 3, 3, 1, 1, 1, 1, 24},
    {"depthwise-3x3-stride2", 2, 9, 10, 19, 5, 5, 19, 3, 3, 2, 2, 1, 1, 19},
    {"depthwise-5x5", 1, 7, 8, 16, 7, 8, 16, 5, 5, 1, 1, 2, 2, 16},
    {"depthwise-7x7", 1, 8, 9, 20, 8, 9, 20, 7, 7, 1, 1, 3, 3, 20},
    {"depthwise-twofold", 2, 6, 6, 8, 6, 6, 16, 3, 3, 1, 1, 1, 1, 8},
    {"depthwise-dilated", 2, 9, 9, 16, 9, 9, 16, 3, 3, 1, 1, 2, 2, 16, 2, 2},
    {"groups-of-4", 2, 7, 7, 32, 7, 7, 32, 3, 3, 1, 1, 1, 1, 8},
    {"groups-of-16-stride2", 2, 8, 8, 48, 4, 4, 48, 3, 3, 2, 2, 1, 1, 3},
    {"groups-odd", 2, 7, 6, 15, 7, 6, 9, 3, 3, 1, 1, 1, 1, 3},
    {"groups-1x1", 2, 5, 5, 24, 5, 5, 40, 1, 1, 1, 1, 0, 0, 4},
    {"dilated", 2, 9, 10, 16, 9, 6, 12, 3, 3, 1, 1, 2, 1, 1, 2, 3},
    {"dilated-stride2", 2, 11, 11, 5, 6, 6, 7, 3, 3, 2, 2, 2, 2, 1, 2, 2},
    {"groups-dilated", 2, 9, 9, 16, 9, 9, 24, 3, 3, 1, 1, 3, 3, 2, 3, 3},
};

cpu::ConvolutionSpec specOf(const Shape &s) {
  cpu::ConvolutionSpec spec;
  spec.batch = s.batch, spec.in_h = s.in_h, spec.in_w = s.in_w, spec.in_c = s.in_c;
  spec.out_h = s.out_h, spec.out_w = s.out_w, spec.out_c = s.out_c;
  spec.kernel_h = s.kernel_h, spec.kernel_w = s.kernel_w, spec.stride_h = s.stride_h;
  spec.stride_w = s.stride_w, spec.pad_h = s.pad_h, spec.pad_w = s.pad_w;
  spec.groups = s.groups, spec.dilation_h = s.dilation_h, spec.dilation_w = s.dilation_w;
  return spec;
}

std::string check(const cpu::ConvolutionSpec &spec, const Setup &setup) {
  SmallPlan plan;
  std::vector<int64_t> outShape = {spec.batch, spec.out_h, spec.out_w, spec.out_c};
  uint32_t src = plan.activation("src", {spec.batch, spec.in_h, spec.in_w, spec.in_c});
  uint32_t weights = plan.activation(
      "weights", {spec.out_c, spec.kernel_h, spec.kernel_w, spec.in_c / spec.groups});
  uint32_t dst = plan.activation("dst", outShape);
  uint32_t bias = plan.activation("bias", {spec.out_c});
  uint32_t residual = plan.activation("residual", outShape);
  ConvolutionOperands operands{src, weights, dst, spec.bias ? static_cast<int32_t>(bias) : -1,
                               spec.residual ? static_cast<int32_t>(residual) : -1};
  if (Status done = setup.lowering.convolution(plan, spec, operands, setup.threads); !done)
    return done.error().message;
  Runner runner;
  if (Status ready = runner.prepare(plan, setup); !ready)
    return ready.error().message;
  auto size = [](std::initializer_list<int64_t> sizes) {
    size_t n = 1;
    for (int64_t s : sizes)
      n *= static_cast<size_t>(s);
    return n;
  };
  size_t outs = size({spec.batch, spec.out_h, spec.out_w, spec.out_c});
  auto x = randomFloats(size({spec.batch, spec.in_h, spec.in_w, spec.in_c}), 1);
  auto w =
      randomFloats(size({spec.out_c, spec.kernel_h, spec.kernel_w, spec.in_c / spec.groups}), 2);
  auto y = randomFloats(outs, 3), b = randomFloats(size({spec.out_c}), 4);
  auto r = randomFloats(outs, 5);
  auto writeAll = [&] {
    runner.write(src, x);
    runner.write(weights, w);
    runner.write(dst, y);
    runner.write(bias, b);
    runner.write(residual, r);
  };
  writeAll();
  if (Status done = runner.run(); !done)
    return done.error().message;
  if (!runner.executes())
    return "";
  if (uint64_t heap = runner.device().allocations().heap)
    return std::to_string(heap) + " heap allocations in the step";
  auto gotX = runner.read(src, x.size()), gotW = runner.read(weights, w.size());
  auto gotY = runner.read(dst, y.size()), gotB = runner.read(bias, b.size());
  writeAll();
  if (Status done = runner.run(); !done)
    return done.error().message;
  if (runner.read(src, x.size()) != gotX || runner.read(weights, w.size()) != gotW ||
      runner.read(dst, y.size()) != gotY || runner.read(bias, b.size()) != gotB)
    return "two executions differ";
  referenceConvolution(spec, x, w, y, b, r);
  int64_t terms = spec.direction == plan::Direction_BackwardWeights
                      ? spec.batch * spec.out_h * spec.out_w
                      : spec.kernel_h * spec.kernel_w * std::max(spec.in_c, spec.out_c);
  for (std::string problem : {compare(gotX, x, terms, "src"), compare(gotW, w, terms, "weights"),
                              compare(gotY, y, terms, "dst"), compare(gotB, b, terms, "bias")})
    if (!problem.empty())
      return problem;
  return "";
}

} // namespace

void addConvolutionCases(std::vector<Case> &cases) {
  struct Variant {
    const char *name;
    plan::Direction direction;
    bool bias, residual, accumulate;
    plan::Activation activation;
  };
  const Variant variants[] = {
      {"forward", plan::Direction_Forward, false, false, false, plan::Activation_None},
      {"forward-bias-relu", plan::Direction_Forward, true, false, false, plan::Activation_Relu},
      {"forward-bias-residual-relu", plan::Direction_Forward, true, true, false,
       plan::Activation_Relu},
      {"forward-gelu", plan::Direction_Forward, false, false, false, plan::Activation_Gelu},
      {"forward-accumulate", plan::Direction_Forward, true, false, true, plan::Activation_None},
      {"forward-accumulate-relu", plan::Direction_Forward, false, true, true,
       plan::Activation_Relu},
      {"data", plan::Direction_BackwardData, false, false, false, plan::Activation_None},
      {"data-accumulate", plan::Direction_BackwardData, false, false, true, plan::Activation_None},
      {"weights", plan::Direction_BackwardWeights, false, false, false, plan::Activation_None},
      {"weights-bias", plan::Direction_BackwardWeights, true, false, false, plan::Activation_None},
      {"weights-bias-accumulate", plan::Direction_BackwardWeights, true, false, true,
       plan::Activation_None},
  };
  for (const Shape &shape : kShapes)
    for (const Variant &v : variants) {
      cpu::ConvolutionSpec spec = specOf(shape);
      spec.direction = v.direction, spec.bias = v.bias, spec.residual = v.residual;
      spec.accumulate = v.accumulate, spec.activation = v.activation;
      cases.push_back({std::string("convolution.") + shape.name + "." + v.name,
                       [spec](const Setup &setup) { return check(spec, setup); }});
    }
}

} // namespace gc::runtime::conformance
