// The memory timeline: read from a compile report, as data of a page.
#include "runtime/report/MemoryTimeline.h"

#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace gc::runtime;
using nlohmann::json;

namespace {

constexpr uint64_t MiB = 1 << 20;

json step(std::vector<uint64_t> live, const char *op, json alive) {
  uint64_t peak = *std::max_element(live.begin(), live.end());
  return {{"peak_bytes", peak}, {"peak_op", op}, {"live", live}, {"alive_at_peak", alive}};
}

/// 100 MiB are always there. Before: 200, 300, 200 MiB. After: five ops, 250 MiB at the most.
json exampleReport() {
  return {{"remat", {{"budget_bytes", 260 * MiB}}},
          {"timeline",
           {{"persistent_bytes", 100 * MiB},
            {"before", step({200 * MiB, 300 * MiB, 200 * MiB}, "a<b> backward",
                            {{{"name", "small"}, {"kind", "workspace"}, {"bytes", 20 * MiB}},
                             {{"name", "large"}, {"kind", "activation"}, {"bytes", 180 * MiB}}})},
            {"after", step({200 * MiB, 150 * MiB, 250 * MiB, 200 * MiB, 110 * MiB}, "conv",
                           {{{"name", "one"}, {"kind", "gradient"}, {"bytes", 90 * MiB}}})}}}};
}

MemoryTimeline read(const json &report) {
  auto timeline = readTimeline(report.dump());
  EXPECT_TRUE(timeline.ok()) << timeline.error().message;
  EXPECT_TRUE(timeline.ok() && timeline->has_value());
  return timeline.ok() ? timeline->value_or(MemoryTimeline()) : MemoryTimeline();
}

} // namespace

TEST(Timeline, ReadsTheCompileReport) {
  MemoryTimeline timeline = read(exampleReport());
  EXPECT_EQ(timeline.persistentBytes, 100 * MiB);
  EXPECT_EQ(timeline.budgetBytes, 260 * MiB);
  EXPECT_EQ(timeline.before.peakBytes, 300 * MiB);
  EXPECT_EQ(timeline.after.live.size(), 5u);
  ASSERT_EQ(timeline.before.aliveAtPeak.size(), 2u);
  EXPECT_EQ(timeline.before.aliveAtPeak[0].name, "large") << "the largest comes first";
  json unbudgeted = exampleReport();
  unbudgeted["remat"]["budget_bytes"] = 0;
  EXPECT_FALSE(read(unbudgeted).budgetBytes);
}

TEST(Timeline, NoneIsNotAnError) {
  for (const char *report : {"{}", "", "[1]", "{\"remat\": {}}"}) {
    auto timeline = readTimeline(report);
    ASSERT_TRUE(timeline.ok());
    EXPECT_FALSE(timeline->has_value());
  }
}

TEST(Timeline, ABrokenOneIs) {
  auto broken = [](const char *pointer, json value) {
    json report = exampleReport();
    report[json::json_pointer(pointer)] = std::move(value);
    return readTimeline(report.dump());
  };
  EXPECT_BAD_INPUT(broken("/timeline", 7), "'persistent_bytes'");
  EXPECT_BAD_INPUT(broken("/timeline/persistent_bytes", -1), "'persistent_bytes'");
  EXPECT_BAD_INPUT(broken("/timeline/before", nullptr), "'before'");
  EXPECT_BAD_INPUT(broken("/timeline/after/peak_op", 3), "'peak_op'");
  EXPECT_BAD_INPUT(broken("/timeline/after/live", json::array()), "'live'");
  EXPECT_BAD_INPUT(broken("/timeline/after/live/2", "x"), "'live'");
  EXPECT_BAD_INPUT(broken("/timeline/after/alive_at_peak/0", 1), "'alive_at_peak'");
  EXPECT_BAD_INPUT(broken("/timeline/after/alive_at_peak/0/bytes", "1"), "'bytes'");
}

TEST(Timeline, AsData) {
  nlohmann::ordered_json data = timelineData(read(exampleReport()));
  EXPECT_EQ(data["persistent"], 100 * MiB);
  EXPECT_EQ(data["budget"], 260 * MiB);
  EXPECT_EQ(data["before"]["peak"], 300 * MiB);
  EXPECT_EQ(data["before"]["op"], "a<b> backward");
  EXPECT_EQ(data["before"]["live"], (nlohmann::ordered_json{200 * MiB, 300 * MiB, 200 * MiB}));
  EXPECT_EQ(data["after"]["peak"], 250 * MiB);
  EXPECT_EQ(data["after"]["op"], "conv");
}

TEST(Timeline, NamesWhatIsAlive) {
  nlohmann::ordered_json alive = timelineData(read(exampleReport()))["before"]["alive"];
  EXPECT_EQ(alive["name"], (nlohmann::ordered_json{"large", "small"}));
  EXPECT_EQ(alive["kind"], (nlohmann::ordered_json{"activation", "workspace"}));
  EXPECT_EQ(alive["bytes"], (nlohmann::ordered_json{180 * MiB, 20 * MiB}));
  // 300 - 180 - 20 = 100 is what the persistent tensors take.
  EXPECT_EQ(alive["rest"], 100 * MiB);
  json unbudgeted = exampleReport();
  unbudgeted["remat"]["budget_bytes"] = 0;
  EXPECT_TRUE(timelineData(read(unbudgeted))["budget"].is_null());
}
