// The session, as the training loop sees it.
#ifndef GC_RUNTIME_TRAINER_SESSIONEXECUTOR_H
#define GC_RUNTIME_TRAINER_SESSIONEXECUTOR_H

#include "runtime/session/Session.h"
#include "runtime/trainer/StepExecutor.h"

#include <map>

namespace gc::runtime {

/// What the device does otherwise than the plan's first choice, for reports; said on stderr too, a
/// line each, where `told`.
std::vector<std::string> noticesOf(const Session &session, bool told);

/// Does not own the session.
class SessionExecutor : public StepExecutor {
public:
  explicit SessionExecutor(Session &session) : session(session) {}

  Result<std::byte *> map(uint32_t buffer) override;
  Status unmap(uint32_t buffer, bool written) override;
  const plan::Plan &plan() const override { return session.plan().get(); }
  int threads() const override { return session.device().threads(); }
  WatchedDevice watchedDevice() const override;
  Result<std::byte *> inputSlot(size_t input, size_t slot) override;
  Status runOnce() override { return session.runOnce(); }
  Status runStep() override { return session.finishStep(); }
  bool stagesInput() const override { return session.stagesInput(); }
  Status upload(size_t slot) override { return session.upload(static_cast<uint32_t>(slot)); }
  Status startMicroBatch(size_t slot) override {
    return session.startMicroBatch(static_cast<uint32_t>(slot));
  }
  Status startEvaluate(size_t slot) override {
    return session.startEvaluate(static_cast<uint32_t>(slot));
  }
  Status finishMicroBatch() override { return session.finishMicroBatch(); }
  bool overlaps() const override { return session.overlaps(); }
  bool hasStep() const override { return session.hasStep(); }
  Status startStep() override { return session.startStep(); }
  Status finishStep() override { return session.finishStarted(); }
  Result<float> readMetric(uint32_t buffer) override;
  MemoryMeasurement memoryUse() override;
  std::vector<CommandTime> commandTimes() const override;
  double seconds() const override { return session.secondsSinceBegin(); }

private:
  Session &session;
  std::map<uint32_t, std::vector<std::byte>> copies; // of mapped buffers that the host cannot see
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_SESSIONEXECUTOR_H
