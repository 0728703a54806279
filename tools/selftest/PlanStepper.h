// A plan executed op by op, with a look at every buffer in between.
#ifndef GC_TOOLS_SELFTEST_PLANSTEPPER_H
#define GC_TOOLS_SELFTEST_PLANSTEPPER_H

#include "runtime/hal/Device.h"
#include "runtime/weights/BufferAccess.h"

#include <map>

class PlanStepper : public gc::runtime::BufferAccess {
public:
  /// The commands of one op of the micro_batch list.
  struct Op {
    std::string name; // the same in every plan of the model; unique in this one
    std::vector<const gc::plan::Command *> commands;
    std::vector<uint32_t> reads, writes; // buffers, without workspaces
    bool usesLibrary = false;            // a library's graph is among the commands
  };

  /// Loads the plan on a device and makes its arena.
  static gc::runtime::Result<std::unique_ptr<PlanStepper>>
  create(gc::runtime::PlanFile plan, const std::string &device, int threads);

  const gc::plan::Plan &plan() const { return file.get(); }
  const std::vector<Op> &ops() const { return all; }
  const gc::plan::Buffer &buffer(uint32_t index) const { return *plan().buffers()->Get(index); }
  /// The same in every plan of the model, and unique in this one. Results of one op have one name:
  /// their sizes tell them apart, then their order ("bn1:batch_stats, 64 bytes #2").
  const std::string &label(uint32_t index) const { return labels[index]; }

  /// Gives parameters their initial values, inputs normal ones, and runs the once list.
  gc::runtime::Status begin(uint64_t seed);
  /// Executes an op `times` times in turn; the seconds of the fastest, of all its commands.
  gc::runtime::Result<double> run(const Op &op, int times = 1);

  gc::runtime::Result<std::vector<std::byte>> read(uint32_t buffer);
  gc::runtime::Status write(uint32_t buffer, std::span<const std::byte> bytes);

  gc::runtime::Result<std::byte *> map(uint32_t buffer) override;
  gc::runtime::Result<void> unmap(uint32_t buffer, bool written) override;

private:
  explicit PlanStepper(gc::runtime::PlanFile plan) : file(std::move(plan)) {}
  void labelBuffers();
  gc::runtime::Status findOps();
  gc::runtime::Status execute(const gc::plan::CommandList *commands,
                              std::span<gc::runtime::hal::CommandTime> times, int repetitions,
                              double *fastest);

  gc::runtime::PlanFile file;
  std::vector<std::string> labels; // by buffer
  std::vector<Op> all;
  std::unique_ptr<gc::runtime::hal::Device> device;
  std::unique_ptr<gc::runtime::hal::Executable> executable;
  std::unique_ptr<gc::runtime::hal::Arena> arena;
  std::unique_ptr<gc::runtime::hal::Event> event;
  std::map<uint32_t, std::vector<std::byte>> mapped;
};

#endif // GC_TOOLS_SELFTEST_PLANSTEPPER_H
