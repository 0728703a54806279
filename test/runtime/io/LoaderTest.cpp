#include "runtime/data/Loader.h"
#include "runtime/data/Shuffle.h"
#include "test/runtime/io/HeapRequests.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <set>

using namespace gc::runtime;

namespace {

/// Sample i is full of i, its label i % 10.
struct Counting final : Dataset {
  Counting(int64_t count, int64_t rowCount, int64_t rowElements)
      : count(count), rowCount(rowCount), rowElements(rowElements) {}
  int64_t size() const override { return count; }
  int64_t label(int64_t index) const override { return index % 10; }
  int64_t rows() const override { return rowCount; }
  size_t scratchElements() const override { return 4; }
  Status read(int64_t index, int64_t begin, int64_t end, float *sample,
              float *scratch) const override {
    scratch[0] = static_cast<float>(index); // a race here would show in the values
    for (int64_t i = begin * rowElements; i < end * rowElements; ++i)
      sample[i] = scratch[0];
    if (index == broken)
      return badInput("sample is broken");
    return {};
  }
  int64_t count, rowCount, rowElements, broken = -1;
};

struct Fixture {
  Fixture(const Dataset &data, int64_t batch, int workers)
      : data(data), batch(batch), elements(static_cast<const Counting &>(data).rowCount *
                                           static_cast<const Counting &>(data).rowElements) {
    std::vector<LoaderSlot> slots;
    for (int i = 0; i < 2; ++i) {
      images[i].resize(batch * elements);
      labels[i].resize(batch);
      slots.push_back({images[i].data(), labels[i].data()});
    }
    loader = std::make_unique<Loader>(batch, elements, LabelType::I64, slots, workers);
  }
  LoaderRun run(uint64_t begin, uint64_t end, bool shuffle) const {
    LoaderRun r;
    r.dataset = &data;
    r.samples = data.size();
    r.microBatchesPerEpoch = data.size() / batch;
    r.begin = begin;
    r.end = end;
    r.shuffle = shuffle;
    r.seed = 11;
    return r;
  }
  /// The samples of the next micro-batches, in order; checks that every value belongs together.
  std::vector<int64_t> take(uint64_t count) {
    std::vector<int64_t> order;
    for (uint64_t m = 0; m < count; ++m) {
      auto loaded = loader->acquire();
      EXPECT_TRUE(loaded.ok());
      for (int64_t i = 0; i < batch; ++i) {
        float value = images[loaded->slot][i * elements];
        for (int64_t e = 0; e < elements; ++e)
          EXPECT_EQ(images[loaded->slot][i * elements + e], value);
        order.push_back(static_cast<int64_t>(value));
        EXPECT_EQ(labels[loaded->slot][i], i < loaded->valid ? order.back() % 10 : -1);
      }
      // The slot is ours until it is released: spoil it to see that the next filling is whole.
      std::fill(images[loaded->slot].begin(), images[loaded->slot].end(), -5.f);
      loader->release();
    }
    return order;
  }
  const Dataset &data;
  int64_t batch, elements;
  std::vector<float> images[2];
  std::vector<int64_t> labels[2];
  std::unique_ptr<Loader> loader;
};

} // namespace

TEST(Shuffle, IsAPermutationForEverySize) {
  for (uint64_t size : {1, 2, 3, 4, 5, 16, 17, 100, 1000, 60000}) {
    Shuffle shuffle(1, 0, size);
    std::vector<bool> seen(size);
    for (uint64_t i = 0; i < size; ++i) {
      uint64_t value = shuffle(i);
      ASSERT_LT(value, size);
      ASSERT_FALSE(seen[value]);
      seen[value] = true;
    }
  }
}

TEST(Shuffle, MixesWell) {
  // Where i lands is uniform, so the mean distance |shuffle(i) - i| is size / 3.
  const uint64_t size = 60000;
  Shuffle shuffle(1, 0, size), next(1, 1, size);
  double distance = 0;
  uint64_t same = 0, neighbours = 0;
  for (uint64_t i = 0; i < size; ++i) {
    distance += std::abs(static_cast<double>(shuffle(i)) - static_cast<double>(i)) / size;
    same += shuffle(i) == next(i);
    neighbours += i > 0 && shuffle(i) == shuffle(i - 1) + 1;
  }
  EXPECT_NEAR(distance, size / 3.0, size * 0.01);
  EXPECT_LT(same, 10u); // one is expected
  EXPECT_LT(neighbours, 10u);
}

TEST(Loader, OrderDoesNotDependOnWorkers) {
  Counting data(103, 7, 40000); // several units for a sample
  std::vector<int64_t> reference;
  for (int workers : {0, 1, 4}) {
    Fixture fixture(data, 5, workers);
    fixture.loader->start(fixture.run(0, 30, true)); // an epoch has 20
    std::vector<int64_t> order = fixture.take(30);
    if (reference.empty())
      reference = order;
    EXPECT_EQ(order, reference) << workers;
  }
  std::set<int64_t> first(reference.begin(), reference.begin() + 100);
  EXPECT_EQ(first.size(), 100u) << "a sample came twice in an epoch";
  EXPECT_NE(std::vector(reference.begin(), reference.begin() + 50),
            std::vector(reference.begin() + 100, reference.end()))
      << "epochs have the same order";
}

TEST(Loader, StartsAnywhere) {
  Counting data(40, 1, 3);
  Fixture fixture(data, 4, 2);
  fixture.loader->start(fixture.run(0, 20, true));
  std::vector<int64_t> whole = fixture.take(20);
  fixture.loader->start(fixture.run(13, 20, true)); // as after a resume
  EXPECT_EQ(fixture.take(7), std::vector(whole.begin() + 13 * 4, whole.end()));
}

TEST(Loader, AnAbandonedRunLeavesNoTrace) {
  Counting data(40, 1, 3);
  Fixture fixture(data, 4, 3);
  for (int i = 0; i < 50; ++i) {
    fixture.loader->start(fixture.run(0, 10, true));
    fixture.take(1);
    fixture.loader->start(fixture.run(0, 10, false));
    EXPECT_EQ(fixture.take(1), (std::vector<int64_t>{0, 1, 2, 3}));
  }
}

TEST(Loader, PadsTheTail) {
  Counting data(10, 1, 3);
  for (int workers : {0, 2}) {
    Fixture fixture(data, 4, workers);
    LoaderRun run = fixture.run(0, 3, false);
    run.microBatchesPerEpoch = 3;
    fixture.loader->start(run);
    fixture.take(2);
    auto last = fixture.loader->acquire();
    ASSERT_TRUE(last.ok());
    EXPECT_EQ(last->valid, 2);
    EXPECT_EQ(fixture.labels[last->slot], (std::vector<int64_t>{8, 9, -1, -1}));
    for (int64_t i = 0; i < 4; ++i) // padding is made of real samples: no NaN can come from it
      EXPECT_EQ(fixture.images[last->slot][i * 3], (std::vector<float>{8, 9, 0, 1}[i]));
  }
}

TEST(Loader, ReportsAFailedRead) {
  Counting data(40, 1, 3);
  data.broken = 9;
  for (int workers : {0, 1, 4}) {
    Fixture fixture(data, 4, workers);
    fixture.loader->start(fixture.run(0, 10, false));
    Result<Loader::MicroBatch> loaded = fixture.loader->acquire();
    while (loaded.ok()) {
      fixture.loader->release();
      loaded = fixture.loader->acquire();
    }
    EXPECT_EQ(loaded.error().message, "sample is broken");
  }
}

// What reading costs is known of training alone, whoever reads.
TEST(Loader, CountsTheTimeOfReading) {
  for (int workers : {0, 2}) {
    Counting data(64, 64, 4096);
    Fixture fixture(data, 8, workers);
    LoaderRun evaluation = fixture.run(0, 8, false);
    fixture.loader->start(evaluation);
    fixture.take(8);
    EXPECT_EQ(fixture.loader->readSeconds(), 0) << workers;
    evaluation.augment = true; // as training is
    fixture.loader->start(evaluation);
    fixture.take(8);
    double once = fixture.loader->readSeconds();
    EXPECT_GT(once, 0) << workers;
    fixture.loader->start(evaluation);
    fixture.take(8);
    EXPECT_GT(fixture.loader->readSeconds(), once) << workers;
  }
}

TEST(Loader, AllocatesNothingInSteadyState) {
  Counting data(400, 3, 50000);
  for (int workers : {0, 4}) {
    Fixture fixture(data, 4, workers);
    fixture.loader->start(fixture.run(0, 100, true));
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(fixture.loader->acquire().ok());
      fixture.loader->release();
    }
    long before = heapRequests();
    for (int i = 0; i < 90; ++i) {
      auto loaded = fixture.loader->acquire();
      if (!loaded.ok())
        FAIL();
      fixture.loader->release();
    }
    EXPECT_EQ(heapRequests() - before, 0);
  }
}
