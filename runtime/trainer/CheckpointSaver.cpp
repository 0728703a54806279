#include "runtime/trainer/CheckpointSaver.h"

#include "runtime/HelperThread.h"
#include "runtime/process/AtomicFile.h"
#include "runtime/trainer/TrainPlan.h"

#include <chrono>
#include <filesystem>

namespace gc::runtime {

static double secondsSpent(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Result<std::unique_ptr<CheckpointSaver>> CheckpointSaver::create(const plan::Plan &plan,
                                                                 bool hasCopy) {
  std::unique_ptr<CheckpointSaver> saver(new CheckpointSaver(plan));
  if (!hasCopy)
    return saver;
  // A store on the copy knows which buffers it takes.
  Result<VariableStore> store = VariableStore::create(plan, saver->copy);
  if (!store)
    return store.error();
  Result<BufferCopy> copy = BufferCopy::create(plan, store->stateBuffers());
  if (!copy)
    return copy.error();
  saver->copy = std::move(*copy);
  saver->copied = std::make_unique<VariableStore>(std::move(*store));
  saver->facts.copyBytes = saver->copy.bytes();
  return saver;
}

CheckpointSaver::~CheckpointSaver() { (void)wait(); }

void CheckpointSaver::open(CheckpointFolder opened, const TrainingSetting &counted,
                           std::string text) {
  folder = std::move(opened);
  setting = counted;
  configuration = std::move(text);
}

Status CheckpointSaver::wait() {
  if (!thread.joinable())
    return {};
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  thread.join();
  facts.waitSeconds += secondsSpent(begin);
  return result;
}

Status CheckpointSaver::write(VariableStore &store, const CheckpointMoment &moment) {
  KeptCheckpoint kept;
  kept.loss = moment.loss;
  kept.watched = moment.watched;
  if (moment.validation) {
    kept.validationLoss = moment.validation->loss;
    kept.validationAccuracy = moment.validation->accuracy;
    kept.validationTopFive = moment.validation->topFive;
  }
  if (Status done = folder.keep(store, {moment.position, setting, moment.watch}, kept); !done)
    return done;
  if (configuration.empty())
    return {};
  std::string text = std::exchange(configuration, "");
  return writeFileAtomically(
      (std::filesystem::path(folder.directory()) / kConfigurationFile).string(), text);
}

Status CheckpointSaver::save(BufferAccess &source, const CheckpointMoment &moment) {
  if (!copied)
    return saveFrom(source, moment);
  if (Status before = wait(); !before)
    return before;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  if (Status taken = copy.take(source); !taken)
    return taken;
  facts.copySeconds += secondsSpent(begin);
  savedStep = moment.position.step;
  ++facts.written;
  auto work = [this, moment] { result = write(*copied, moment); };
  if (std::optional<std::thread> started = tryThread(work)) {
    thread = std::move(*started);
    return {};
  }
  work();
  return result;
}

Status CheckpointSaver::saveFrom(BufferAccess &source, const CheckpointMoment &moment) {
  Result<VariableStore> store = VariableStore::create(plan, source);
  if (!store)
    return store.error();
  savedStep = moment.position.step;
  ++facts.written;
  return write(*store, moment);
}

Status CheckpointSaver::saveLast(BufferAccess &source, const CheckpointMoment &moment) {
  if (Status before = wait(); !before)
    return before;
  return savedStep == moment.position.step ? Status() : saveFrom(source, moment);
}

CheckpointReport CheckpointSaver::report() const {
  CheckpointReport report = facts;
  report.directory = folder.directory();
  for (const KeptCheckpoint &kept : folder.list().checkpoints)
    report.kept.push_back(kept.file);
  if (const KeptCheckpoint *best = folder.list().best())
    report.best = {best->file, best->position.step};
  return report;
}

} // namespace gc::runtime
