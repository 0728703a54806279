// Convolutions in all directions, strategies and epilogues; sizes are small and mostly odd.
#include "runtime/hal/conformance/Reference.h"
#include "runtime/hal/conformance/Runner.h"

namespace gc::runtime::conformance {
namespace {

struct Shape {
  const char *name;
  int64_t batch, inH, inW, inC, outH, outW, outC, kernelH, kernelW, strideH, strideW, padH, padW;
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
};

cpu::ConvolutionSpec specOf(const Shape &s) {
  cpu::ConvolutionSpec spec;
  spec.batch = s.batch, spec.inH = s.inH, spec.inW = s.inW, spec.inC = s.inC;
  spec.outH = s.outH, spec.outW = s.outW, spec.outC = s.outC;
  spec.kernelH = s.kernelH, spec.kernelW = s.kernelW, spec.strideH = s.strideH;
  spec.strideW = s.strideW, spec.padH = s.padH, spec.padW = s.padW;
  return spec;
}

std::string check(const cpu::ConvolutionSpec &spec, const Setup &setup) {
  SmallPlan plan;
  std::vector<int64_t> outShape = {spec.batch, spec.outH, spec.outW, spec.outC};
  uint32_t src = plan.activation("src", {spec.batch, spec.inH, spec.inW, spec.inC});
  uint32_t weights = plan.activation("weights", {spec.outC, spec.kernelH, spec.kernelW, spec.inC});
  uint32_t dst = plan.activation("dst", outShape);
  uint32_t bias = plan.activation("bias", {spec.outC});
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
  size_t outs = size({spec.batch, spec.outH, spec.outW, spec.outC});
  auto x = randomFloats(size({spec.batch, spec.inH, spec.inW, spec.inC}), 1);
  auto w = randomFloats(size({spec.outC, spec.kernelH, spec.kernelW, spec.inC}), 2);
  auto y = randomFloats(outs, 3), b = randomFloats(size({spec.outC}), 4);
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
  int64_t terms = spec.direction == cpu::Direction::BackwardWeights
                      ? spec.batch * spec.outH * spec.outW
                      : spec.kernelH * spec.kernelW * std::max(spec.inC, spec.outC);
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
    cpu::Direction direction;
    bool bias, residual, accumulate;
    cpu::Activation activation;
  };
  using cpu::Activation;
  using cpu::Direction;
  const Variant variants[] = {
      {"forward", Direction::Forward, false, false, false, Activation::None},
      {"forward-bias-relu", Direction::Forward, true, false, false, Activation::Relu},
      {"forward-bias-residual-relu", Direction::Forward, true, true, false, Activation::Relu},
      {"forward-gelu", Direction::Forward, false, false, false, Activation::Gelu},
      {"forward-accumulate", Direction::Forward, true, false, true, Activation::None},
      {"forward-accumulate-relu", Direction::Forward, false, true, true, Activation::Relu},
      {"data", Direction::BackwardData, false, false, false, Activation::None},
      {"data-accumulate", Direction::BackwardData, false, false, true, Activation::None},
      {"weights", Direction::BackwardWeights, false, false, false, Activation::None},
      {"weights-bias", Direction::BackwardWeights, true, false, false, Activation::None},
      {"weights-bias-accumulate", Direction::BackwardWeights, true, false, true, Activation::None},
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
