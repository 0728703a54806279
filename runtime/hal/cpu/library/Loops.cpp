#include "runtime/hal/cpu/library/Loops.h"

#include <cmath>
#include <cstring>
#include <omp.h>

namespace gc::runtime::cpu {

static float activate(float x, plan::Activation activation) {
  switch (activation) {
  case plan::Activation_Relu:
    return x > 0 ? x : 0;
  case plan::Activation_Gelu:
    return 0.5f * x * (1.0f + std::erf(x * 0.70710678f));
  case plan::Activation_None:
    break;
  }
  return x;
}

void addOrCopy(float *target, const float *source, int64_t n, bool add) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; ++i)
    target[i] = add ? target[i] + source[i] : source[i];
}

void epilogue(float *target, const float *bias, const float *residual, plan::Activation activation,
              int64_t rows, int64_t columns) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      float x = target[r * columns + c];
      x += bias ? bias[c] : 0.0f;
      x += residual ? residual[r * columns + c] : 0.0f;
      target[r * columns + c] = activate(x, activation);
    }
}

/// Calls body(offset of the row in the strided tensor, row number) for all rows of the last axis.
template <typename Body> static void forRows(const Strided &layout, Body body) {
  size_t outer = layout.sizes.size() - 1;
  int64_t rows = 1;
  for (size_t i = 0; i < outer; ++i)
    rows *= layout.sizes[i];
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row, offset = 0;
    for (size_t i = outer; i-- > 0;) {
      offset += rest % layout.sizes[i] * layout.strides[i];
      rest /= layout.sizes[i];
    }
    body(offset, row);
  }
}

void pack(float *dense, const float *source, const Strided &layout) {
  int64_t columns = layout.sizes.back(), stride = layout.strides.back();
  forRows(layout, [&](int64_t offset, int64_t row) {
    if (stride == 1)
      std::memcpy(dense + row * columns, source + offset, columns * sizeof(float));
    else
      for (int64_t c = 0; c < columns; ++c)
        dense[row * columns + c] = source[offset + c * stride];
  });
}

void unpack(float *target, const float *dense, const Strided &layout, const float *bias,
            const float *residual, plan::Activation activation, bool add) {
  int64_t columns = layout.sizes.back(), stride = layout.strides.back();
  forRows(layout, [&](int64_t offset, int64_t row) {
    for (int64_t c = 0; c < columns; ++c) {
      float x = dense[row * columns + c];
      x += bias ? bias[c] : 0.0f;
      x += residual ? residual[offset + c * stride] : 0.0f;
      x = activate(x, activation);
      float &out = target[offset + c * stride];
      out = add ? out + x : x;
    }
  });
}

void columnSums(float *sums, const float *matrix, int64_t rows, int64_t columns, float *partial,
                int threads, bool add) {
#pragma omp parallel num_threads(threads)
  {
    int team = omp_get_num_threads();
    // With a smaller team than asked for, each member does several parts: the sums stay the same.
    for (int part = omp_get_thread_num(); part < threads; part += team) {
      float *mine = partial + part * columns;
      std::memset(mine, 0, columns * sizeof(float));
      for (int64_t r = rows * part / threads, end = rows * (part + 1) / threads; r < end; ++r)
#pragma omp simd
        for (int64_t c = 0; c < columns; ++c)
          mine[c] += matrix[r * columns + c];
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    float sum = 0;
    for (int part = 0; part < threads; ++part)
      sum += partial[part * columns + c];
    sums[c] = add ? sums[c] + sum : sum;
  }
}

void gatherPatches(float *patches, const float *image, const ConvolutionSpec &s) {
  int64_t run = s.kernel_w * s.in_c; // contiguous on both sides
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t y = 0; y < s.out_h; ++y)
      for (int64_t x = 0; x < s.out_w; ++x)
        for (int64_t k = 0; k < s.kernel_h; ++k)
          std::memcpy(patches + (((n * s.out_h + y) * s.out_w + x) * s.kernel_h + k) * run,
                      image +
                          ((n * s.in_h + y * s.stride_h + k) * s.in_w + x * s.stride_w) * s.in_c,
                      run * sizeof(float));
}

void scatterPatches(float *image, const float *patches, const ConvolutionSpec &s, bool add) {
  int64_t run = s.kernel_w * s.in_c, covered = s.out_w * run, row = s.in_w * s.in_c;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t h = 0; h < s.in_h; ++h) {
      float *target = image + (n * s.in_h + h) * row;
      int64_t y = h / s.stride_h, k = h % s.stride_h;
      int64_t inside = y < s.out_h ? covered : 0;
      for (int64_t x = 0; x * run < inside; ++x) {
        const float *source = patches + (((n * s.out_h + y) * s.out_w + x) * s.kernel_h + k) * run;
        for (int64_t i = 0; i < run; ++i)
          target[x * run + i] = add ? target[x * run + i] + source[i] : source[i];
      }
      if (!add)
        std::memset(target + inside, 0, (row - inside) * sizeof(float));
    }
}

} // namespace gc::runtime::cpu
