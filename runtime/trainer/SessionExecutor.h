// The session, as the training loop sees it.
#ifndef GC_RUNTIME_TRAINER_SESSIONEXECUTOR_H
#define GC_RUNTIME_TRAINER_SESSIONEXECUTOR_H

#include "runtime/session/Session.h"
#include "runtime/trainer/StepExecutor.h"

namespace gc::runtime {

/// Does not own the session.
class SessionExecutor : public StepExecutor {
public:
  explicit SessionExecutor(Session &session) : session(session) {}

  Result<std::byte *> map(uint32_t buffer) override;
  Result<void> unmap(uint32_t buffer, bool written) override;
  const plan::Plan &plan() const override { return session.plan().get(); }
  int threads() const override { return session.device().threads(); }
  WatchedDevice watchedDevice() const override;
  Result<std::byte *> inputSlot(size_t input, size_t slot) override;
  Result<void> runOnce() override { return session.runOnce(); }
  Result<void> runMicroBatch(size_t slot) override {
    return session.runMicroBatch(static_cast<uint32_t>(slot));
  }
  Result<void> runStep() override { return session.finishStep(); }
  Result<void> runEvaluate(size_t slot) override {
    return session.evaluateMicroBatch(static_cast<uint32_t>(slot));
  }
  Result<float> readMetric(uint32_t buffer) override;
  MemoryUse memoryUse() override;
  std::vector<CommandTime> commandTimes() const override;
  double seconds() const override { return session.secondsSinceBegin(); }

private:
  Session &session;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_SESSIONEXECUTOR_H
