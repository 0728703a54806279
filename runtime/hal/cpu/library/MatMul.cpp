// Matrix products. Strides go to oneDNN as they are when it has a fast implementation for them;
// else operands are packed into the workspace, and the result leaves it through our own epilogue.
#include "runtime/hal/cpu/library/Loops.h"
#include "runtime/hal/cpu/library/Primitive.h"
#include "runtime/hal/cpu/library/Widening.h"

#include <mutex>
#include <omp.h>
#include <stdexcept>

namespace gc::runtime::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using Dims = memory::dims;
constexpr auto kF32 = memory::data_type::f32;

memory::data_type dataType(plan::DType type) {
  return type == plan::DType_BF16 ? memory::data_type::bf16 : kF32;
}

Dims denseStrides(const Dims &sizes) {
  Dims strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * sizes[i + 1];
  return strides;
}

/// Strides as oneDNN recognizes them: those of axes with one element say nothing, so they are set
/// to what a dense tensor would have there; a broadcast batch axis becomes an axis of one element.
void normalize(Dims &sizes, Dims &strides) {
  for (size_t i = 0; i + 2 < sizes.size(); ++i)
    if (strides[i] == 0)
      sizes[i] = 1;
  for (size_t i = sizes.size(); i-- > 0;)
    if (sizes[i] == 1)
      strides[i] = i + 1 == sizes.size() ? 1 : strides[i + 1] * sizes[i + 1];
}

/// oneDNN generates GEMM's kernels at the first product and keeps them for good. That must happen
/// while recording: in a step they would land in the arena's pool and outlive it.
void generateGemmKernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    constexpr dnnl_dim_t n = 96;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (char transA : {'N', 'T'})
      for (char transB : {'N', 'T'})
        for (float beta : {0.0f, 1.0f})
          dnnl_sgemm(transA, transB, n, n, n, 1.0f, a.data(), n, b.data(), n, beta, c.data(), n);
  });
}

class Product final : public MatMulCall {
public:
  explicit Product(const MatMulSpec &spec) : spec_(spec) {}

  void build() {
    Dims aSizes = sizes(spec_.m, spec_.k), bSizes = sizes(spec_.k, spec_.n);
    Dims cSizes = sizes(spec_.m, spec_.n);
    Dims a(spec_.a_strides), b(spec_.b_strides), c(spec_.c_strides);
    aLayout_ = {aSizes, a};
    bLayout_ = {bSizes, b};
    cLayout_ = {cSizes, c};
    normalize(aSizes, a);
    normalize(bSizes, b);
    normalize(cSizes, c);
    // First as it is; then with more and more operands packed, until a fast implementation is
    // found.
    struct Choice {
      bool a, b, c;
    };
    for (Choice pack : {Choice{false, false, false},
                        {false, true, false},
                        {true, false, false},
                        {true, true, false},
                        {true, true, true}}) {
      bool last = pack.a && pack.b && pack.c;
      if (hasHalves(spec_) && (pack.a || pack.b || pack.c))
        throw std::runtime_error("no kernel for bf16 with these strides");
      if ((!pack.a && !usable(a)) || (!pack.b && !usable(b)) || (!pack.c && !usable(c)))
        continue;
      try {
        auto factor = dataType(spec_.type), result = dataType(spec_.result);
        prepare(pack.a ? dense(aLayout_) : memory::desc(aSizes, factor, a),
                pack.b ? dense(bLayout_) : memory::desc(bSizes, factor, b),
                pack.c ? dense(cLayout_) : memory::desc(cSizes, result, c), /*fused=*/!pack.c);
      } catch (const dnnl::error &) {
        if (last)
          throw;
        continue; // not every stride pattern is accepted; the packed form is
      }
      if (!last && !acceptable(primitive_.implementation()))
        continue;
      packA_ = pack.a, packB_ = pack.b, packC_ = pack.c;
      break;
    }
    aOffset_ = layout_.take(packA_ ? bytes(aLayout_) : 0);
    bOffset_ = layout_.take(packB_ ? bytes(bLayout_) : 0);
    cOffset_ = layout_.take(packC_ ? bytes(cLayout_) : 0);
    scratchOffset_ = layout_.take(scratchBytes_);
  }

  void warmUp() override {
    if (primitive_.implementation().find("gemm") != std::string::npos)
      generateGemmKernels();
  }

  Status execute(const MatMulPointers &p) override {
    const void *a = p.a, *b = p.b;
    void *c = packC_ ? at(p.workspace, cOffset_) : p.c;
    if (packA_) {
      a = at(p.workspace, aOffset_);
      pack(reinterpret_cast<float *>(at(p.workspace, aOffset_)), static_cast<const float *>(p.a),
           aLayout_);
    }
    if (packB_) {
      b = at(p.workspace, bOffset_);
      pack(reinterpret_cast<float *>(at(p.workspace, bOffset_)), static_cast<const float *>(p.b),
           bLayout_);
    }
    primitive_.set(0, a);
    primitive_.set(1, b);
    primitive_.set(2, c);
    primitive_.set(3, at(p.workspace, scratchOffset_));
    if (biasPlace_)
      primitive_.set(biasPlace_, p.bias);
    if (residualPlace_)
      primitive_.set(residualPlace_, p.residual);
    if (Status done = primitive_.execute(); !done || !packC_)
      return done;
    unpack(static_cast<float *>(p.c), static_cast<const float *>(c), cLayout_,
           spec_.bias ? static_cast<const float *>(p.bias) : nullptr,
           spec_.residual ? static_cast<const float *>(p.residual) : nullptr, spec_.activation,
           spec_.accumulate);
    return {};
  }

  size_t workspaceBytes() const override { return layout_.size(); }
  std::string implementation() const override {
    std::string packed = std::string(packA_ ? "a" : "") + (packB_ ? "b" : "") + (packC_ ? "c" : "");
    return (packed.empty() ? "" : "packed-" + packed + " ") + primitive_.implementation();
  }

private:
  MatMulSpec spec_;
  Primitive primitive_;
  WorkspaceLayout layout_;
  Strided aLayout_, bLayout_, cLayout_;
  bool packA_ = false, packB_ = false, packC_ = false;
  size_t scratchOffset_ = 0, aOffset_ = 0, bOffset_ = 0, cOffset_ = 0, scratchBytes_ = 0;
  size_t biasPlace_ = 0, residualPlace_ = 0; // 0: none (place 0 is always a)

  Dims sizes(int64_t rows, int64_t columns) const {
    Dims all(spec_.batch);
    all.push_back(rows);
    all.push_back(columns);
    return all;
  }
  static bool usable(const Dims &strides) {
    size_t n = strides.size();
    return strides[n - 1] > 0 && strides[n - 2] > 0 && (strides[n - 1] == 1 || strides[n - 2] == 1);
  }
  static size_t bytes(const Strided &layout) {
    size_t n = sizeof(float);
    for (int64_t size : layout.sizes)
      n *= static_cast<size_t>(size);
    return n;
  }

  void prepare(const memory::desc &a, const memory::desc &b, const memory::desc &c, bool fused) {
    dnnl::primitive_attr attr = userScratchpad();
    // oneDNN scales after adding its own bias; with a scale ours is a post-op instead.
    bool ownBias = fused && spec_.bias && spec_.scale == 1.0f;
    Dims biasSizes(spec_.batch.size() + 2, 1);
    biasSizes.back() = spec_.n;
    memory::desc bias(biasSizes, kF32, denseStrides(biasSizes));
    dnnl::post_ops ops;
    int biasOp = -1, residualOp = -1;
    if (fused) {
      if (spec_.accumulate && spec_.activation == plan::Activation_None)
        ops.append_sum(1.0f);
      if (spec_.bias && !ownBias) {
        biasOp = ops.len();
        ops.append_binary(algorithm::binary_add, bias);
      }
      if (spec_.residual) {
        residualOp = ops.len();
        ops.append_binary(algorithm::binary_add, c);
      }
      if (spec_.activation == plan::Activation_Relu)
        ops.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
      if (spec_.activation == plan::Activation_Gelu)
        ops.append_eltwise(1.0f, algorithm::eltwise_gelu_erf, 0.0f, 0.0f);
      if (spec_.accumulate && spec_.activation != plan::Activation_None)
        ops.append_sum(1.0f);
    }
    attr.set_post_ops(ops);
    if (spec_.scale != 1.0f)
      attr.set_output_scales(0, {spec_.scale});
    dnnl::matmul::desc desc =
        ownBias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
    dnnl::matmul::primitive_desc pd(desc, attr, engine());
    scratchBytes_ = pd.scratchpad_desc().get_size();
    primitive_ = Primitive(dnnl::matmul(pd), pd.impl_info_str());
    primitive_.argument(DNNL_ARG_SRC, a);
    primitive_.argument(DNNL_ARG_WEIGHTS, b);
    primitive_.argument(DNNL_ARG_DST, c);
    primitive_.argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc());
    biasPlace_ = residualPlace_ = 0;
    if (ownBias)
      biasPlace_ = primitive_.argument(DNNL_ARG_BIAS, bias);
    if (biasOp >= 0)
      biasPlace_ =
          primitive_.argument(DNNL_ARG_ATTR_MULTIPLE_POST_OP(biasOp) | DNNL_ARG_SRC_1, bias);
    if (residualOp >= 0)
      residualPlace_ =
          primitive_.argument(DNNL_ARG_ATTR_MULTIPLE_POST_OP(residualOp) | DNNL_ARG_SRC_1, c);
  }

  /// GEMM asks for packing buffers while it runs, in every thread: 128 to 256 KiB for the sizes
  /// below the limit (tokens 64 to 512, heads of 64). Taken only where that fits in the pool for
  /// transients (see kTransientPoolBytes). Packing instead costs twice the time for attention's
  /// backward.
  bool acceptable(const std::string &implementation) const {
    if (isReference(implementation))
      return false;
    if (implementation.find("gemm") == std::string::npos)
      return true;
    int64_t batches = 1;
    for (int64_t n : spec_.batch)
      batches *= n;
    return batches > 1 && (spec_.m + spec_.n) * spec_.k <= 128 * 1024 && omp_get_max_threads() <= 8;
  }

  static memory::desc dense(const Strided &layout) {
    return {layout.sizes, kF32, denseStrides(layout.sizes)};
  }
};

} // namespace

Result<std::unique_ptr<MatMulCall>> MatMulCall::create(const MatMulSpec &spec) {
  size_t dims = spec.batch.size() + 2;
  if (spec.m < 1 || spec.n < 1 || spec.k < 1 || spec.a_strides.size() != dims ||
      spec.b_strides.size() != dims || spec.c_strides.size() != dims)
    return badInput("a matrix product needs positive sizes and " + std::to_string(dims) +
                    " strides for each operand");
  if (Status types = checkTypes(spec.type, spec.accumulator, spec.result, spec.accumulate); !types)
    return types.error();
  bool halves = hasHalves(spec);
  if (halves && !spec.native)
    return buildWideningMatMul(spec);
  auto product = std::make_unique<Product>(spec);
  Status built = guarded("matrix product", [&] { product->build(); });
  if (!built && halves)
    return buildWideningMatMul(spec);
  if (!built)
    return built.error();
  return std::unique_ptr<MatMulCall>(std::move(product));
}

} // namespace gc::runtime::cpu
