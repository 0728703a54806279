#include "runtime/data/Loader.h"

#include "runtime/HelperThread.h"
#include "runtime/data/Shuffle.h"

#include <algorithm>
#include <ctime>

namespace gc::runtime {

/// What this thread has computed, whatever else ran meanwhile.
static double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Values in one unit of work: large enough to make locking free, small enough to share a batch of
/// few large images out among all workers.
static constexpr int64_t unitElements = 1 << 17;

Loader::Loader(int64_t microBatch, int64_t sampleElements, LabelType labels,
               std::vector<LoaderSlot> slotList, int workers, int64_t labelElements)
    : microBatch(microBatch), sampleElements(sampleElements), labelElements(labelElements),
      labelType(labels), slots(std::move(slotList)), unitsLeft(slots.size(), 0),
      counting(slots.size(), 0), scratch(static_cast<size_t>(workers) + 1) {
  for (Scratch &each : scratch)
    each.labels.resize(static_cast<size_t>(labelElements));
  for (int i = 0; i < workers; ++i) {
    auto thread = tryThread([this, i] { work(static_cast<size_t>(i)); });
    if (!thread)
      break;
    threads.push_back(std::move(*thread));
  }
}

Loader::~Loader() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  workAvailable.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void Loader::start(const LoaderRun &newRun) {
  std::unique_lock lock(mutex);
  filling = run.end; // no unit of an abandoned run is given out any more
  progress.wait(lock, [&] { return active == 0; });
  run = newRun;
  filling = acquired = released = run.begin;
  nextUnit = 0;
  failed = false;
  int64_t rows = run.dataset->rows();
  int64_t rowElements = std::max<int64_t>(1, sampleElements / rows);
  rowsPerUnit = std::clamp<int64_t>(unitElements / rowElements, 1, rows);
  unitsPerSample = (rows + rowsPerUnit - 1) / rowsPerUnit;
  if (size_t wanted = run.dataset->scratchElements(); wanted > scratchElements) {
    for (Scratch &each : scratch)
      each.values = std::make_unique_for_overwrite<float[]>(wanted);
    scratchElements = wanted;
  }
  workAvailable.notify_all();
}

int64_t Loader::validIn(uint64_t index) const {
  int64_t first = static_cast<int64_t>(index % run.microBatchesPerEpoch) * microBatch;
  return std::clamp<int64_t>(run.samples - first, 0, microBatch);
}

int64_t Loader::sampleAt(uint64_t index, int64_t position) const {
  uint64_t epoch = index / run.microBatchesPerEpoch;
  uint64_t number = index % run.microBatchesPerEpoch * microBatch + position;
  number %= static_cast<uint64_t>(run.samples); // padding repeats samples that are there
  if (!run.shuffle)
    return static_cast<int64_t>(number);
  return static_cast<int64_t>(Shuffle(run.seed, epoch, static_cast<uint64_t>(run.samples))(number));
}

void Loader::setLabel(void *labels, int64_t position, int64_t label) const {
  if (labelType == LabelType::I64)
    static_cast<int64_t *>(labels)[position] = label;
  else
    static_cast<int32_t *>(labels)[position] = static_cast<int32_t>(label);
}

Result<int64_t> Loader::setLabels(void *labels, int64_t position, int64_t sample,
                                  int64_t *read) const {
  std::fill_n(read, labelElements, -1);
  if (sample >= 0)
    if (Status got = run.dataset->readLabels(sample, read); !got)
      return got.error();
  int64_t count = 0;
  for (int64_t i = 0; i < labelElements; ++i) {
    setLabel(labels, position * labelElements + i, read[i]);
    count += read[i] >= 0;
  }
  return count;
}

int64_t Loader::labelAt(const void *labels, int64_t position) const {
  return labelType == LabelType::I64 ? static_cast<const int64_t *>(labels)[position]
                                     : static_cast<const int32_t *>(labels)[position];
}

void Loader::mixSamples(uint64_t index, const LoaderSlot &slot) const {
  const MixDraw drawn = run.mixer ? run.mixer->draw(index) : MixDraw();
  *slot.share = drawn.share;
  for (int64_t i = 0; i < microBatch; ++i) {
    const int64_t partner = microBatch - 1 - i;
    const int64_t own = labelAt(slot.label, i), other = labelAt(slot.label, partner);
    const bool isMixed = run.mixer && own >= 0 && other >= 0;
    setLabel(slot.mixedLabel, i, isMixed ? other : own);
    if (isMixed && i < partner)
      run.mixer->mix(drawn, slot.image + i * sampleElements, slot.image + partner * sampleElements);
  }
}

Result<bool> Loader::readRows(uint64_t index, int64_t position, int64_t begin, int64_t end,
                              float *target, float *scratchValues) const {
  const int64_t sample = sampleAt(index, position);
  Status done = run.augment ? run.dataset->readAugmented(sample, index / run.microBatchesPerEpoch,
                                                         begin, end, target, scratchValues)
                            : run.dataset->read(sample, begin, end, target, scratchValues);
  if (done)
    return true;
  if (!run.dataset->mayHaveBadSamples() || done.error().kind != ErrorClass::BadInput)
    return done.error();
  if (!run.badSamples)
    return badInput(done.error().message +
                    "; mend or remove it, or leave such samples out with --on-bad-sample=skip");
  if (position < validIn(index)) // padding repeats a sample that is told where it belongs
    run.badSamples->add(*run.dataset, sample, done.error().message);
  std::fill_n(target, sampleElements, 0.0f);
  return false;
}

bool Loader::doUnit(std::unique_lock<std::mutex> &lock, Scratch &mine) {
  if (failed || filling >= run.end || filling >= released + slots.size())
    return false;
  const uint64_t index = filling, unit = nextUnit;
  const uint64_t units = static_cast<uint64_t>(microBatch * unitsPerSample);
  const size_t slot = index % slots.size();
  if (unit == 0) {
    unitsLeft[slot] = units;
    counting[slot] = 0;
  }
  if (++nextUnit == units) {
    nextUnit = 0;
    ++filling;
  }
  ++active;
  lock.unlock();

  const double started = threadSeconds();
  const LoaderSlot target = slots[slot];
  int64_t position = static_cast<int64_t>(unit) / unitsPerSample;
  int64_t begin = static_cast<int64_t>(unit) % unitsPerSample * rowsPerUnit;
  int64_t end = std::min(begin + rowsPerUnit, run.dataset->rows());
  bool isReal = position < validIn(index);
  Result<bool> done = readRows(index, position, begin, end,
                               target.image + position * sampleElements, mine.values.get());
  // The unit of a sample's first rows has its labels, too.
  Result<int64_t> labels = 0;
  if (begin == 0)
    labels =
        setLabels(target.label, position, isReal && done && *done ? sampleAt(index, position) : -1,
                  mine.labels.data());
  if (done && !labels)
    done = labels.error();

  const double spent = threadSeconds() - started;
  lock.lock();
  if (run.augment) // a run of training
    trainingReadSeconds += spent;
  if (labels)
    counting[slot] += *labels;
  if (!done && !failed) {
    failed = true;
    failure = done.error();
  }
  if (unitsLeft[slot] == 1 && target.share && run.augment && !failed) {
    lock.unlock();
    mixSamples(index, target);
    lock.lock();
  }
  --active;
  --unitsLeft[slot];
  if (unitsLeft[slot] == 0 || active == 0 || failed)
    progress.notify_all();
  return true;
}

void Loader::work(size_t worker) {
  std::unique_lock lock(mutex);
  while (!stopping)
    if (!doUnit(lock, scratch[worker]))
      workAvailable.wait(lock);
}

Result<Loader::MicroBatch> Loader::acquire() {
  std::unique_lock lock(mutex);
  if (acquired >= run.end)
    return runFailed("internal error: the loader was asked for more than its run has");
  const uint64_t index = acquired;
  const size_t slot = index % slots.size();
  // The micro-batch is complete when all its units were given out and came back.
  auto complete = [&] { return filling > index && unitsLeft[slot] == 0; };
  while (!failed && !complete())
    if (!threads.empty() || !doUnit(lock, scratch.back()))
      progress.wait(lock);
  if (failed)
    return failure;
  ++acquired;
  return MicroBatch{slot, counting[slot]};
}

bool Loader::more() {
  std::lock_guard lock(mutex);
  return acquired < run.end;
}

double Loader::readSeconds() {
  std::lock_guard lock(mutex);
  return trainingReadSeconds;
}

void Loader::release() {
  {
    std::lock_guard lock(mutex);
    ++released;
  }
  workAvailable.notify_all();
}

} // namespace gc::runtime
