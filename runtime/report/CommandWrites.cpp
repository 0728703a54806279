#include "runtime/report/CommandWrites.h"

#include "runtime/plan/Plan_generated.h"

#include <algorithm>

namespace gc::runtime {
namespace {

bool writes(const flatbuffers::Vector<uint8_t> *access, size_t operand) {
  if (!access || operand >= access->size())
    return false;
  uint8_t how = access->Get(static_cast<flatbuffers::uoffset_t>(operand));
  return how == plan::Access_Write || how == plan::Access_ReadWrite;
}

template <class Kernel> void addKernel(const Kernel &call, std::vector<uint32_t> &written) {
  for (size_t i = 0; call.buffers() && i < call.buffers()->size(); ++i)
    if (writes(call.access(), i))
      written.push_back(call.buffers()->Get(static_cast<flatbuffers::uoffset_t>(i)));
}

void addConvolution(const plan::Convolution &c, std::vector<uint32_t> &written) {
  switch (c.spec()->direction()) {
  case plan::Direction_Forward:
    return written.push_back(c.dst());
  case plan::Direction_BackwardData:
    return written.push_back(c.src());
  case plan::Direction_BackwardWeights:
    written.push_back(c.weights());
    if (c.bias() >= 0)
      written.push_back(static_cast<uint32_t>(c.bias()));
  }
}

void addGraph(const plan::GraphCall &call, std::vector<uint32_t> &written) {
  for (size_t i = 0; call.buffers() && i < call.buffers()->size(); ++i) {
    uint32_t buffer = call.buffers()->Get(static_cast<flatbuffers::uoffset_t>(i))->buffer();
    if (writes(call.access(), i) && static_cast<int64_t>(buffer) != call.workspace())
      written.push_back(buffer);
  }
}

} // namespace

std::vector<uint32_t> writtenBuffers(const plan::Command &command) {
  std::vector<uint32_t> written;
  switch (command.operation_type()) {
  case plan::Operation_Dispatch:
    addKernel(*command.operation_as_Dispatch(), written);
    break;
  case plan::Operation_Launch:
    addKernel(*command.operation_as_Launch(), written);
    break;
  case plan::Operation_Convolution:
    addConvolution(*command.operation_as_Convolution(), written);
    break;
  case plan::Operation_MatMul:
    written.push_back(command.operation_as_MatMul()->c()->buffer());
    break;
  case plan::Operation_GraphCall:
    addGraph(*command.operation_as_GraphCall(), written);
    break;
  case plan::Operation_Fill:
    written.push_back(command.operation_as_Fill()->buffer());
    break;
  case plan::Operation_Copy:
    written.push_back(command.operation_as_Copy()->target()->buffer());
    break;
  case plan::Operation_NONE:
    break;
  }
  return written;
}

} // namespace gc::runtime
