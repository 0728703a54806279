//===- Descriptor.h - one of cuDNN's descriptors ----------------*- C++ -*-===//
#ifndef GC_COMPILER_CUDA_LIBRARY_CUDNN_DESCRIPTOR_H
#define GC_COMPILER_CUDA_LIBRARY_CUDNN_DESCRIPTOR_H

#include "compiler/cuda/library/cudnn/Cudnn.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gc::cuda {

// The library's name for each type of attribute.
template <typename T> constexpr cudnnBackendAttributeType_t attributeType = CUDNN_TYPE_INT64;
template <> constexpr auto attributeType<bool> = CUDNN_TYPE_BOOLEAN;
template <> constexpr auto attributeType<float> = CUDNN_TYPE_FLOAT;
template <> constexpr auto attributeType<double> = CUDNN_TYPE_DOUBLE;
template <> constexpr auto attributeType<char> = CUDNN_TYPE_CHAR;
template <> constexpr auto attributeType<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <> constexpr auto attributeType<cudnnConvolutionMode_t> = CUDNN_TYPE_CONVOLUTION_MODE;
template <> constexpr auto attributeType<cudnnPointwiseMode_t> = CUDNN_TYPE_POINTWISE_MODE;
template <>
constexpr auto attributeType<cudnnReduceTensorOp_t> = CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
template <> constexpr auto attributeType<cudnnResampleMode_t> = CUDNN_TYPE_RESAMPLE_MODE;
template <> constexpr auto attributeType<cudnnPaddingMode_t> = CUDNN_TYPE_PADDING_MODE;
template <> constexpr auto attributeType<cudnnBackendNormMode_t> = CUDNN_TYPE_NORM_MODE;
template <> constexpr auto attributeType<cudnnBackendNormFwdPhase_t> = CUDNN_TYPE_NORM_FWD_PHASE;
template <> constexpr auto attributeType<cudnnBackendHeurMode_t> = CUDNN_TYPE_HEUR_MODE;
template <> constexpr auto attributeType<cudnnBackendKnobType_t> = CUDNN_TYPE_KNOB_TYPE;
template <> constexpr auto attributeType<cudnnBackendNumericalNote_t> = CUDNN_TYPE_NUMERICAL_NOTE;
template <> constexpr auto attributeType<cudnnBackendDescriptor_t> = CUDNN_TYPE_BACKEND_DESCRIPTOR;

/// Owns it. Everything throws NoPlan with the library's words.
class Descriptor {
public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    check(cudnn().cudnnBackendCreateDescriptor(type, &handle), "creating a descriptor");
  }
  Descriptor(Descriptor &&other) : handle(std::exchange(other.handle, nullptr)) {}
  Descriptor &operator=(Descriptor &&) = delete;
  ~Descriptor() {
    if (handle)
      cudnn().cudnnBackendDestroyDescriptor(handle);
  }
  cudnnBackendDescriptor_t get() const { return handle; }

  template <typename T>
  Descriptor &setArray(cudnnBackendAttributeName_t name, const T *values, size_t count) {
    check(cudnn().cudnnBackendSetAttribute(handle, name, attributeType<T>, count, values),
          "setting an attribute");
    return *this;
  }
  template <typename T> Descriptor &set(cudnnBackendAttributeName_t name, const T &value) {
    return setArray(name, &value, 1);
  }
  Descriptor &set(cudnnBackendAttributeName_t name, const std::vector<int64_t> &values) {
    return setArray(name, values.data(), values.size());
  }
  Descriptor &set(cudnnBackendAttributeName_t name, const Descriptor &value) {
    return set(name, value.get());
  }
  /// With the final zero, which the library counts.
  Descriptor &set(cudnnBackendAttributeName_t name, const std::string &text) {
    return setArray(name, text.c_str(), text.size() + 1);
  }
  Descriptor &finalize(const char *what) {
    check(cudnn().cudnnBackendFinalize(handle), what);
    return *this;
  }

  template <typename T> std::vector<T> getArray(cudnnBackendAttributeName_t name) const {
    int64_t count = 0;
    check(cudnn().cudnnBackendGetAttribute(handle, name, attributeType<T>, 0, &count, nullptr),
          "counting an attribute");
    std::vector<T> values(count);
    if (count == 0)
      return values;
    check(cudnn().cudnnBackendGetAttribute(handle, name, attributeType<T>, count, &count,
                                           values.data()),
          "reading an attribute");
    values.resize(count);
    return values;
  }
  int64_t getNumber(cudnnBackendAttributeName_t name) const {
    int64_t value = 0, count = 0;
    check(cudnn().cudnnBackendGetAttribute(handle, name, CUDNN_TYPE_INT64, 1, &count, &value),
          "reading a number");
    return value;
  }
  /// Of at most `most`, fewer if there are fewer; the library fills descriptors that we create.
  std::vector<Descriptor> getDescriptors(cudnnBackendAttributeName_t name,
                                         cudnnBackendDescriptorType_t type, int64_t most) const {
    std::vector<Descriptor> values;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (int64_t i = 0; i < most; ++i)
      handles.push_back(values.emplace_back(type).get());
    int64_t count = 0;
    check(cudnn().cudnnBackendGetAttribute(handle, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most,
                                           &count, handles.data()),
          "reading descriptors");
    while (int64_t(values.size()) > count)
      values.pop_back();
    return values;
  }

private:
  cudnnBackendDescriptor_t handle = nullptr;
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_CUDNN_DESCRIPTOR_H
