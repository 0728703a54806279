#include "tools/calibration/InputRate.h"

#include "runtime/data/ImageDataset.h"
#include "runtime/data/Loader.h"
#include "runtime/trainer/Trainer.h"

#include <algorithm>
#include <chrono>
#include <limits>

using namespace gc::runtime;

Result<double> measureInputRate() {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t side = 224, channels = 3, batch = 16, batches = 12;
  ByteImages images;
  images.name = "the calibration's images";
  images.count = batch;
  images.height = images.width = side;
  images.channels = channels;
  images.pixels.assign(batch * side * side * channels, 7);
  images.labels.assign(batch, 0);
  ModelInput input{{side, side, channels}, 10};
  Result<std::unique_ptr<Dataset>> dataset = makeImageDataset(std::move(images), input);
  if (!dataset)
    return dataset.error();

  std::vector<float> values(batch * input.sampleElements());
  std::vector<int64_t> labels(batch);
  Loader loader(batch, input.sampleElements(), LabelType::I64, {{values.data(), labels.data()}},
                TrainingSchedule().workers);
  LoaderRun run;
  run.dataset = dataset->get();
  run.samples = batch;
  run.microBatchesPerEpoch = 1;
  run.end = batches;
  loader.start(run);
  // The first one also waits for threads to start and pages to come.
  if (Result<Loader::MicroBatch> filled = loader.acquire(); !filled)
    return filled.error();
  // There is one slot: a micro-batch is filled between the release of the one before and its
  // acquire.
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = 1; i < batches; ++i) {
    auto begin = Clock::now();
    loader.release();
    if (Result<Loader::MicroBatch> filled = loader.acquire(); !filled)
      return filled.error();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return static_cast<double>(values.size() * sizeof(float)) / std::max(least, 1e-6);
}
