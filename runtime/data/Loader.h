// Threads that fill the plan's input slots while the device works on another one.
//
// The order of samples is a function of seed and epoch alone. In training, what is left of an epoch
// after its last whole micro-batch is dropped (with --shuffle, every epoch drops others); in
// evaluation the last micro-batch is padded: its samples are real, its labels are -1, which the
// loss and accuracy kernels leave out. A broken sample ends the run or, where that was asked for,
// is left out in the same way: its place holds zeros and the label -1.
//
// Where a plan takes two labels for each sample, pairs of a micro-batch are mixed when all of it
// was read (Mixing.h), by whoever read the last part. A sample whose partner was left out, and the
// one in the middle, stays as it is and has its own label twice: all weigh the same in the loss.
#ifndef GC_RUNTIME_DATA_LOADER_H
#define GC_RUNTIME_DATA_LOADER_H

#include "runtime/data/BadSamples.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Mixing.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace gc::runtime {

/// Where one micro-batch goes. Not owned.
struct LoaderSlot {
  float *image = nullptr; // or i32, where a model takes tokens
  void *label = nullptr;
  /// The other label of each sample and the share of the first ones; null where a plan takes one.
  void *mixedLabel = nullptr;
  float *share = nullptr;
};

enum class LabelType { I32, I64 };

/// A run through (part of) the data. Micro-batch m belongs to epoch m / microBatchesPerEpoch.
struct LoaderRun {
  const Dataset *dataset = nullptr; // not owned
  int64_t samples = 0;              // of the data set, from its beginning
  int64_t microBatchesPerEpoch = 0;
  uint64_t begin = 0, end = 0; // micro-batches, counted from the start of epoch 0
  bool shuffle = false;
  uint64_t seed = 0;
  bool augment = false;             // as the data set was asked to
  const Mixer *mixer = nullptr;     // in slots for two labels; not owned, null: a share of 1
  BadSamples *badSamples = nullptr; // takes broken samples, not owned; null: one ends the run
};

class Loader {
public:
  /// `workers` threads, fewer where the system gives no more; with 0 acquire() does the work. The
  /// slots must stay valid.
  Loader(int64_t microBatch, int64_t sampleElements, LabelType labels,
         std::vector<LoaderSlot> slots, int workers, int64_t labelElements = 1);
  ~Loader();
  Loader(const Loader &) = delete;
  Loader &operator=(const Loader &) = delete;

  /// Begins to fill slots. A run in progress is abandoned. Allocates only where a data set needs
  /// more scratch than the ones before.
  void start(const LoaderRun &run);

  struct MicroBatch {
    size_t slot = 0;
    int64_t valid = 0; // labels that count: the rest is padding, broken, or left out by the data
  };
  /// Waits for the next micro-batch. Fails where reading a sample failed. Between start and the end
  /// of the run nothing is allocated.
  Result<MicroBatch> acquire();
  /// Whether the run has micro-batches that were not acquired.
  bool more();
  /// Gives the slot of the oldest acquired micro-batch back. Call when the device has read it.
  void release();
  /// CPU time that reading for training has taken so far, of all threads.
  double readSeconds();

private:
  /// What a thread needs beside the slots; nothing is allocated while it reads.
  struct Scratch {
    std::unique_ptr<float[]> values;
    std::vector<int64_t> labels; // of one sample
  };
  void work(size_t worker);
  /// Takes one unit of work under the lock and does it without; false where there is none now.
  bool doUnit(std::unique_lock<std::mutex> &lock, Scratch &mine);
  void setLabel(void *labels, int64_t position, int64_t label) const;
  /// Those of a sample at its position, -1 where it is none (-1); returns how many count.
  Result<int64_t> setLabels(void *labels, int64_t position, int64_t sample, int64_t *read) const;
  int64_t labelAt(const void *labels, int64_t position) const;
  /// Fills what a slot has for two labels, once its samples are there.
  void mixSamples(uint64_t microBatch, const LoaderSlot &slot) const;
  /// Reads a part of a sample; false where it is broken and was left out.
  Result<bool> readRows(uint64_t microBatch, int64_t position, int64_t begin, int64_t end,
                        float *target, float *scratch) const;
  int64_t sampleAt(uint64_t microBatch, int64_t position) const;
  int64_t validIn(uint64_t microBatch) const;

  const int64_t microBatch, sampleElements, labelElements;
  const LabelType labelType;
  const std::vector<LoaderSlot> slots;

  std::mutex mutex;
  std::condition_variable workAvailable, progress;
  LoaderRun run;
  int64_t rowsPerUnit = 1, unitsPerSample = 1;
  uint64_t nextUnit = 0;           // the unit of micro-batch `filling` that is given out next
  uint64_t filling = 0;            // the micro-batch whose units are being given out
  uint64_t acquired = 0;           // micro-batches given to the caller
  uint64_t released = 0;           // micro-batches the caller is done with
  std::vector<uint64_t> unitsLeft; // for each slot, units that are not done
  std::vector<int64_t> counting;   // for each slot, labels that count
  uint64_t active = 0;             // units being worked on
  double trainingReadSeconds = 0;
  bool stopping = false, failed = false;
  Error failure;
  /// One for each worker, and one for the caller. What nobody uses is never touched.
  std::vector<Scratch> scratch; // of each thread, and of who waits without threads
  size_t scratchElements = 0;
  std::vector<std::thread> threads;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_LOADER_H
