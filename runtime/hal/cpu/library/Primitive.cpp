#include "runtime/hal/cpu/library/Primitive.h"
#include "runtime/hal/cpu/library/HalfRates.h"
#include "runtime/hal/cpu/library/Team.h"

#include <omp.h>

namespace gc::runtime::cpu {

const dnnl::engine &engine() {
  static dnnl::engine instance = [] {
    limitInstructions();
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return instance;
}

static dnnl_stream_t stream() {
  static dnnl::stream instance(engine());
  return instance.get();
}

Primitive::Primitive(dnnl::primitive primitive, std::string implementation)
    : primitive_(std::move(primitive)), implementation_(std::move(implementation)),
      threads_(omp_get_max_threads()) {}

size_t Primitive::argument(int id, const dnnl::memory::desc &desc) {
  memories_.push_back(dnnl::memory(desc, engine(), DNNL_MEMORY_NONE));
  data_.push_back(nullptr);
  arguments_.push_back({id, memories_.back().get()});
  stream(); // built here, so that the first step does not
  return arguments_.size() - 1;
}

void Primitive::set(size_t place, const void *data) {
  if (data_[place] == data)
    return;
  data_[place] = data;
  dnnl_memory_set_data_handle(arguments_[place].memory, const_cast<void *>(data));
}

Status Primitive::execute() {
  if (Status team = checkTeam(threads_); !team)
    return team;
  dnnl_status_t status = dnnl_primitive_execute(
      primitive_.get(), stream(), static_cast<int>(arguments_.size()), arguments_.data());
  if (status == dnnl_success)
    return {};
  return runFailed("oneDNN failed in " + implementation_ + " with status " +
                   std::to_string(static_cast<int>(status)));
}

bool isReference(const std::string &implementation) {
  return implementation.find("ref") != std::string::npos;
}

dnnl::primitive_attr userScratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

Status checkTypes(plan::DType type, plan::DType accumulator, plan::DType result, bool accumulates) {
  bool isKnown = type == plan::DType_F32 || type == plan::DType_BF16;
  bool isResult = result == plan::DType_F32 || (result == type && !accumulates);
  if (isKnown && isResult && accumulator == plan::DType_F32)
    return {};
  return badInput(std::string("the CPU's library computes F32 and BF16 with sums in F32, not ") +
                  plan::EnumNameDType(type) + " with sums in " + plan::EnumNameDType(accumulator) +
                  " and results " + (accumulates ? "added to " : "in ") +
                  plan::EnumNameDType(result));
}

} // namespace gc::runtime::cpu
