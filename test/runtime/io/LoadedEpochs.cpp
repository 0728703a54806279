#include "test/runtime/io/LoadedEpochs.h"

using namespace gc::runtime;

LoadedEpochs loadTwoEpochs(const Dataset &data, const ModelInput &input, int64_t batch, int workers,
                           BadSamples *bad, uint64_t begin) {
  std::vector<float> images[2];
  std::vector<int64_t> labels[2];
  std::vector<LoaderSlot> slots;
  for (int i = 0; i < 2; ++i) {
    images[i].resize(static_cast<size_t>(batch * input.sampleElements()));
    labels[i].resize(static_cast<size_t>(batch));
    slots.push_back({images[i].data(), labels[i].data()});
  }
  Loader loader(batch, input.sampleElements(), LabelType::I64, slots, workers);
  LoaderRun run;
  run.dataset = &data;
  run.samples = data.size();
  run.microBatchesPerEpoch = (data.size() + batch - 1) / batch;
  run.begin = begin;
  run.end = 2 * static_cast<uint64_t>(run.microBatchesPerEpoch);
  run.shuffle = true;
  run.seed = 3;
  run.augment = true;
  run.badSamples = bad;
  loader.start(run);
  LoadedEpochs all;
  while (loader.more()) {
    auto loaded = loader.acquire();
    if (!loaded) {
      all.failure = loaded.error().message;
      return all;
    }
    all.images.insert(all.images.end(), images[loaded->slot].begin(), images[loaded->slot].end());
    all.labels.insert(all.labels.end(), labels[loaded->slot].begin(), labels[loaded->slot].end());
    all.valid.push_back(loaded->valid);
    loader.release();
  }
  return all;
}
