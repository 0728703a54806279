/* A kernel in the form that generated ones have, for devices that load shared objects. */
#include <stdint.h>

/* out[i] = 2 * in[i] + i for the items of the range. */
void conformance_affine(void *const *buffers, int64_t begin, int64_t end) {
  const float *in = buffers[0];
  float *out = buffers[1];
  for (int64_t i = begin; i < end; ++i)
    out[i] = 2.0f * in[i] + (float)i;
}
