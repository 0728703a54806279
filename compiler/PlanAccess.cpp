//===- PlanAccess.cpp - what the commands of a plan touch -----------------===//
#include "compiler/PlanAccess.h"
#include "runtime/plan/ElementType.h"
#include <algorithm>

namespace gc {
namespace {

enum Mode { Read = 1, Write = 2, Pointwise = 4 };

class Collector {
public:
  Collector(const plan::Plan &plan, std::string &error) : plan(plan), error(error) {}

  void collect(const plan::Command &command) {
    switch (command.operation_type()) {
    case plan::Operation_Dispatch:
      return kernel(*command.operation_as_Dispatch());
    case plan::Operation_Launch:
      return kernel(*command.operation_as_Launch());
    case plan::Operation_GraphCall:
      return collect(*command.operation_as_GraphCall());
    case plan::Operation_Convolution:
      return collect(*command.operation_as_Convolution());
    case plan::Operation_MatMul:
      return collect(*command.operation_as_MatMul());
    case plan::Operation_Fill:
      return whole(command.operation_as_Fill()->buffer(), Write);
    case plan::Operation_Copy: {
      const plan::Copy &copy = *command.operation_as_Copy();
      part(copy.source()->buffer(), copy.source()->offset() * elementBytes(*copy.source()),
           copy.bytes(), Read);
      return part(copy.target()->buffer(), copy.target()->offset() * elementBytes(*copy.target()),
                  copy.bytes(), Write);
    }
    case plan::Operation_NONE:
      break;
    }
    error = "is of a kind that the checker does not know";
  }

  std::vector<PlanAccess> accesses;

private:
  const plan::Buffer &bufferOf(uint32_t index) const { return *plan.buffers()->Get(index); }

  uint64_t elementBytes(const plan::View &view) const {
    return runtime::elementBytes(bufferOf(view.buffer()).dtype());
  }

  PlanAccess &start(uint32_t buffer, int mode) {
    PlanAccess access;
    access.buffer = buffer;
    access.reads = mode & Read;
    access.writes = mode & Write;
    access.pointwise = mode & Pointwise;
    accesses.push_back(std::move(access));
    return accesses.back();
  }

  void part(uint32_t buffer, uint64_t offset, uint64_t bytes, int mode) {
    int64_t begin = static_cast<int64_t>(bufferOf(buffer).offset() + offset);
    if (bytes > 0)
      start(buffer, mode).ranges.push_back({begin, begin + static_cast<int64_t>(bytes)});
  }
  void whole(uint32_t buffer, int mode) { part(buffer, 0, bufferOf(buffer).bytes(), mode); }
  void optional(int32_t buffer, int mode) {
    if (buffer >= 0)
      whole(static_cast<uint32_t>(buffer), mode);
  }
  void workspace(int32_t buffer) {
    if (buffer < 0)
      return;
    whole(static_cast<uint32_t>(buffer), Write);
    accesses.back().isWorkspace = true;
  }

  static int modeOf(uint8_t access) {
    return (access == plan::Access_Read || access == plan::Access_ReadWrite ? Read : 0) |
           (access == plan::Access_Write || access == plan::Access_ReadWrite ? Write : 0);
  }
  bool saysAccess(size_t operands, const flatbuffers::Vector<uint8_t> *access) {
    if (operands == (access ? access->size() : 0))
      return true;
    error = "does not say what its kernel reads and writes; compile the model again";
    return false;
  }

  // Adds the buffers of a Dispatch or a Launch.
  template <typename Kernel> void kernel(const Kernel &call) {
    size_t count = call.buffers() ? call.buffers()->size() : 0;
    if (saysAccess(count, call.access()))
      for (size_t i = 0; i < count; ++i)
        whole(call.buffers()->Get(i), modeOf(call.access()->Get(i)) | Pointwise);
  }

  // Only the library knows how far a tensor reaches, so it is taken to reach to the end of its
  // buffer.
  void collect(const plan::GraphCall &call) {
    size_t count = call.buffers() ? call.buffers()->size() : 0;
    if (!saysAccess(count, call.access()))
      return;
    for (size_t i = 0; i < count; ++i) {
      const plan::View &view = *call.buffers()->Get(i);
      if (int64_t(view.buffer()) == call.workspace())
        continue; // a tensor of the library's own, which lies in the workspace
      uint64_t offset = view.offset() * elementBytes(view);
      part(view.buffer(), offset, bufferOf(view.buffer()).bytes() - offset,
           modeOf(call.access()->Get(i)));
    }
    workspace(call.workspace());
    collectTwin(call);
  }

  // The kernels that may run instead touch buffers of the call, each as the graph does, or the
  // workspace: what else they touched would not be kept for them.
  void collectTwin(const plan::GraphCall &call) {
    auto isTouchedByGraph = [&](uint32_t buffer, int mode) {
      return std::any_of(accesses.begin(), accesses.end(), [&](const PlanAccess &access) {
        return access.buffer == buffer &&
               (access.isWorkspace || ((!(mode & Read) || access.reads || access.writes) &&
                                       (!(mode & Write) || access.writes)));
      });
    };
    for (uint32_t i = 0; call.twin() && i < call.twin()->size(); ++i) {
      const plan::Launch &launch = *call.twin()->Get(i);
      size_t count = launch.buffers() ? launch.buffers()->size() : 0;
      if (!saysAccess(count, launch.access()))
        return;
      for (size_t b = 0; b < count; ++b)
        if (uint32_t buffer = launch.buffers()->Get(b);
            !isTouchedByGraph(buffer, modeOf(launch.access()->Get(b))))
          error = "has a generated twin that touches buffer '" + bufferOf(buffer).name()->str() +
                  "', or writes it, which the graph does not; compile the model again";
    }
  }

  void collect(const plan::Convolution &c) {
    plan::Direction direction = c.spec()->direction();
    int result = c.spec()->accumulate() ? Read | Write : Write;
    bool weights = direction == plan::Direction_BackwardWeights;
    whole(c.src(), direction == plan::Direction_BackwardData ? result : Read);
    whole(c.weights(), weights ? result : Read);
    whole(c.dst(), direction == plan::Direction_Forward ? result : Read);
    optional(c.bias(), weights ? result : Read);
    optional(c.residual(), Read | Pointwise);
    workspace(c.workspace());
  }

  void collect(const plan::MatMul &product) {
    const plan::MatMulSpec &spec = *product.spec();
    strided(*product.a(), spec, spec.a_strides(), spec.m(), spec.k(), Read);
    strided(*product.b(), spec, spec.b_strides(), spec.k(), spec.n(), Read);
    strided(*product.c(), spec, spec.c_strides(), spec.m(), spec.n(),
            spec.accumulate() ? Read | Write : Write);
    optional(product.bias(), Read);
    optional(product.residual(), Read | Pointwise);
    workspace(product.workspace());
  }

  // The bytes of a batched matrix, merged where they touch. Strides are in elements: batch
  // dimensions, rows, columns.
  void strided(const plan::View &view, const plan::MatMulSpec &product,
               const flatbuffers::Vector<int64_t> *strides, int64_t rows, int64_t columns,
               int mode) {
    struct Dimension {
      int64_t size, stride;
    };
    std::vector<Dimension> dimensions;
    size_t batch = product.batch() ? product.batch()->size() : 0;
    for (size_t i = 0; i < batch; ++i)
      dimensions.push_back({product.batch()->Get(i), int64_t(strides->Get(i))});
    dimensions.push_back({rows, int64_t(strides->Get(batch))});
    dimensions.push_back({columns, int64_t(strides->Get(batch + 1))});
    std::erase_if(dimensions, [](const Dimension &d) { return d.size == 1 || d.stride == 0; });
    // Smallest stride first: a dimension that continues the run of bytes before it makes it longer.
    std::sort(dimensions.begin(), dimensions.end(),
              [](const Dimension &a, const Dimension &b) { return a.stride < b.stride; });
    int64_t bytes = static_cast<int64_t>(elementBytes(view)), run = 1;
    size_t inner = 0;
    for (; inner < dimensions.size() && dimensions[inner].stride == run; ++inner)
      run *= dimensions[inner].size;
    int64_t first = static_cast<int64_t>(bufferOf(view.buffer()).offset()) +
                    static_cast<int64_t>(view.offset()) * bytes;
    std::vector<ByteRange> ranges{{first, first + run * bytes}};
    for (; inner < dimensions.size(); ++inner) {
      size_t before = ranges.size();
      for (int64_t i = 1; i < dimensions[inner].size; ++i)
        for (size_t j = 0; j < before; ++j) {
          int64_t by = i * dimensions[inner].stride * bytes;
          ranges.push_back({ranges[j].begin + by, ranges[j].end + by});
        }
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; });
    std::vector<ByteRange> &merged = start(view.buffer(), mode).ranges;
    for (const ByteRange &range : ranges) {
      if (!merged.empty() && range.begin <= merged.back().end)
        merged.back().end = std::max(merged.back().end, range.end);
      else
        merged.push_back(range);
    }
  }

  const plan::Plan &plan;
  std::string &error;
};

} // namespace

std::vector<PlanAccess> accessesOf(const plan::Plan &plan, const plan::Command &command,
                                   std::string &error) {
  Collector collector(plan, error);
  collector.collect(command);
  return std::move(collector.accesses);
}

} // namespace gc
