// From plan tables to specs, and the answers that the compiler asks for.
#include "runtime/hal/cpu/library/Library.h"

#include "runtime/plan/Plan_generated.h"

#include <map>
#include <mutex>
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace gc::runtime::cpu {

ConvolutionSpec specOf(const gc::plan::Convolution &c) {
  ConvolutionSpec s;
  s.direction = static_cast<Direction>(c.direction());
  s.batch = c.batch(), s.inH = c.in_h(), s.inW = c.in_w(), s.inC = c.in_c();
  s.outH = c.out_h(), s.outW = c.out_w(), s.outC = c.out_c();
  s.kernelH = c.kernel_h(), s.kernelW = c.kernel_w();
  s.strideH = c.stride_h(), s.strideW = c.stride_w();
  s.padH = c.pad_h(), s.padW = c.pad_w();
  s.activation = static_cast<Activation>(c.activation());
  s.bias = c.bias() >= 0, s.residual = c.residual() >= 0, s.accumulate = c.accumulate();
  return s;
}

MatMulSpec specOf(const gc::plan::MatMul &m) {
  auto values = [](const flatbuffers::Vector<int64_t> *v) {
    return v ? std::vector<int64_t>(v->begin(), v->end()) : std::vector<int64_t>();
  };
  MatMulSpec s;
  s.batch = values(m.batch());
  s.m = m.m(), s.n = m.n(), s.k = m.k();
  s.aStrides = values(m.a_strides());
  s.bStrides = values(m.b_strides());
  s.cStrides = values(m.c_strides());
  s.scale = m.scale();
  s.activation = static_cast<Activation>(m.activation());
  s.bias = m.bias() >= 0, s.residual = m.residual() >= 0, s.accumulate = m.accumulate();
  return s;
}

std::string specKey(const ConvolutionSpec &s) {
  std::string key = "conv";
  for (int64_t n :
       {int64_t(s.direction), s.batch, s.inH, s.inW, s.inC, s.outH, s.outW, s.outC, s.kernelH,
        s.kernelW, s.strideH, s.strideW, s.padH, s.padW, int64_t(s.activation), int64_t(s.bias),
        int64_t(s.residual), int64_t(s.accumulate)})
    key.append(" ").append(std::to_string(n));
  return key;
}

std::string specKey(const MatMulSpec &s) {
  std::string key = "matmul";
  auto append = [&](const std::vector<int64_t> &values) {
    key += " [";
    for (int64_t n : values)
      key.append(std::to_string(n)).append(" ");
    key += ']';
  };
  append(s.batch);
  append({s.m, s.n, s.k, int64_t(s.activation), s.bias, s.residual, s.accumulate});
  append(s.aStrides);
  append(s.bStrides);
  append(s.cStrides);
  return key + std::to_string(s.scale);
}

namespace {

/// Restores OpenMP's thread count when it goes.
class Threads {
public:
  explicit Threads(int threads) : before_(omp_get_max_threads()) {
    if (threads > 0)
      omp_set_num_threads(threads);
  }
  ~Threads() { omp_set_num_threads(before_); }

private:
  int before_;
};

template <typename Call, typename Spec> Result<size_t> answer(const Spec &spec, int threads) {
  static std::mutex mutex;
  static std::map<std::string, size_t> known;
  Threads scope(threads);
  std::string key = specKey(spec) + " @" + std::to_string(omp_get_max_threads());
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = known.find(key); found != known.end())
      return found->second;
  }
  auto call = Call::create(spec);
  if (!call)
    return call.error();
  size_t bytes = (*call)->workspaceBytes();
  std::lock_guard<std::mutex> lock(mutex);
  known[key] = bytes;
  return bytes;
}

} // namespace

Result<size_t> workspaceBytes(const ConvolutionSpec &spec, int threads) {
  return answer<ConvolutionCall>(spec, threads);
}
Result<size_t> workspaceBytes(const MatMulSpec &spec, int threads) {
  return answer<MatMulCall>(spec, threads);
}

std::string libraryVersion() {
  const dnnl_version_t *v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch);
}

} // namespace gc::runtime::cpu
