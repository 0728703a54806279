// The memory timeline: read from a compile report, drawn as part of a page.
#include "runtime/plan/Plan_generated.h"
#include "runtime/report/HtmlReport.h"

#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace gc::runtime;
namespace plan = gc::plan;
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

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
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

TEST(Timeline, BothOnTheSameScale) {
  std::string html = timelineHtml(read(exampleReport()));
  EXPECT_EQ(count(html, "<svg"), 2u);
  EXPECT_EQ(count(html, "</svg>"), 2u);
  EXPECT_CONTAINS(html,
                  "314572800 bytes (300.0 MiB) at the peak, at <code>a&lt;b&gt; backward</code>");
  EXPECT_CONTAINS(html, "262144000 bytes (250.0 MiB) at the peak (-16.7 %), at <code>conv</code>");
  EXPECT_EQ(html.find("a<b>"), std::string::npos);
  // The plot is 836 wide for five ops and 242 high for 306 MiB (300 and a little more), from y =
  // 262 upwards: 200 MiB are at 262 - 242 * 200 / 306 = 103.83, and three ops end at 74 + 836 * 3
  // / 5.
  EXPECT_CONTAINS(html, "d=\"M74.0,262.0V103.83H241.20V24.75H408.40V103.83H575.60V262.0Z\"");
  EXPECT_CONTAINS(html, "d=\"M74.0,262.0V103.83H241.20V143.37H408.40");
  // Ticks, the band of what is always there and the budget are at the same heights in both.
  for (const char *part : {">100 MiB</text>", ">300 MiB</text>", "y=\"182.92\"",
                           ">260.0 MiB</text>", "M74.0,56.38H910.0", ">peak</text>"})
    EXPECT_EQ(count(html, part), 2u) << part;
}

TEST(Timeline, NamesWhatIsAlive) {
  std::string html = timelineHtml(read(exampleReport()));
  // 300 - 180 - 20 = 100 is what the persistent tensors take; it has its place between the two.
  size_t large = html.find(">large<"), small = html.find(">small<");
  size_t persistent = html.find("weights, state, input, library pool</td>");
  EXPECT_LT(large, persistent);
  EXPECT_LT(persistent, small);
  EXPECT_EQ(count(html, "weights, state, input, library pool</td>"), 1u);
  EXPECT_EQ(count(html, "all others</td>"), 1u); // 250 - 90 = 160, not 100
  EXPECT_EQ(html.find("<details>"), std::string::npos);
  json many = exampleReport();
  for (int i = 0; i < 20; ++i)
    many["timeline"]["after"]["alive_at_peak"].push_back(
        {{"name", "tiny" + std::to_string(i)}, {"kind", "activation"}, {"bytes", MiB}});
  EXPECT_CONTAINS(timelineHtml(read(many)), "<summary>6 smaller, 6.0 MiB</summary>");
}

TEST(Timeline, AFarBudgetDoesNotFlattenTheChart) {
  json report = exampleReport();
  report["remat"]["budget_bytes"] = 4000 * MiB;
  std::string html = timelineHtml(read(report));
  EXPECT_CONTAINS(html, "V103.83H241.20");
  EXPECT_EQ(html.find(">budget</text>"), std::string::npos);
  EXPECT_CONTAINS(html, "the budget of 4194304000 bytes (4000.0 MiB) is far above both");
}

TEST(Timeline, OfTheRunsPlanWhereItRecomputes) {
  plan::PlanT source;
  source.model = "net";
  source.target = std::make_unique<plan::TargetT>();
  source.memory = std::make_unique<plan::MemoryT>();
  source.report = exampleReport().dump();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(plan::Plan::Pack(builder, &source));
  const plan::Plan &plan = *plan::GetPlan(builder.GetBufferPointer());
  TestDirectory directory;
  TrainingReport report;
  report.model = "net";
  ASSERT_TRUE(writeHtmlReport(directory.file("page"), report, plan).ok());
  EXPECT_EQ(directory.read("page").find("Before: nothing recomputed"), std::string::npos);
  report.remat.recomputed = 3;
  ASSERT_TRUE(writeHtmlReport(directory.file("page"), report, plan).ok());
  EXPECT_CONTAINS(directory.read("page"), "Before: nothing recomputed");
}
