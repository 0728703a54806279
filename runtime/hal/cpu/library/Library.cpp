// From plan tables to specs, and the answers that the compiler asks for.
#include "runtime/hal/cpu/library/Library.h"

#include <map>
#include <mutex>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

namespace gc::runtime::cpu {

ConvolutionSpec specOf(const gc::plan::Convolution &command) {
  ConvolutionSpec spec;
  command.spec()->UnPackTo(&spec);
  return spec;
}

MatMulSpec specOf(const gc::plan::MatMul &command) {
  MatMulSpec spec;
  command.spec()->UnPackTo(&spec);
  return spec;
}

/// The bytes of its table: every field is in there, those to come too.
template <typename Spec> static std::string bytesOf(const Spec &spec) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Spec::TableType::Pack(builder, &spec));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
}
std::string specKey(const ConvolutionSpec &spec) { return bytesOf(spec); }
std::string specKey(const MatMulSpec &spec) { return bytesOf(spec); }

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
