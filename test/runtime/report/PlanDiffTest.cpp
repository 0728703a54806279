// Comparing plans: what is matched, what is paid, what is said.
#include "runtime/report/PlanDiffWords.h"

#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace gc::runtime;
using nlohmann::json;

namespace {

constexpr uint64_t MiB = 1 << 20;

SavedValue saved(int64_t op, const char *name, uint64_t bytes, int64_t executions,
                 int64_t result = 0) {
  SavedValue value;
  value.op = op;
  value.name = name;
  value.result = result;
  value.bytes = bytes;
  value.executions = executions;
  value.kept = executions == 1;
  value.seconds = 0.002;
  value.atPeak = true;
  return value;
}

/// Two micro-batches; conv and its statistics come from one op.
DescribedPlan examplePlan() {
  DescribedPlan plan;
  plan.path = "a.plan";
  plan.facts.model = "net";
  plan.facts.parameters = 1234;
  plan.facts.trainableParameters = 1234;
  plan.facts.device = "cpu";
  plan.facts.batch = 16;
  plan.facts.microBatches = 2;
  plan.facts.optimizer = "sgd lr 0.1";
  plan.facts.memory.arenaBytes = 100 * MiB;
  plan.facts.prediction = {0.1, "built-in"};
  plan.machine = "znver4";
  plan.types = "f32";
  plan.saved = {saved(0, "conv:conv2d", 8 * MiB, 1), saved(0, "conv:conv2d", 64, 1, 1),
                saved(1, "relu@net.mlir:7", 4 * MiB, 1), saved(2, "fc:linear", 2 * MiB, 3)};
  plan.timeline.emplace();
  plan.timeline->persistentBytes = 10 * MiB;
  plan.timeline->after.peakOp = "fc:linear";
  plan.timeline->after.aliveAtPeak = {{"conv:conv2d", "activation", 8 * MiB},
                                      {"conv:conv2d", "activation", 64}};
  plan.live = {50 * MiB, 100 * MiB, 20 * MiB};
  plan.firstBackward = 1;
  plan.executed = "x";
  return plan;
}

/// The same at a budget: conv is computed again, fc is kept.
DescribedPlan budgetedPlan() {
  DescribedPlan plan = examplePlan();
  plan.path = "b.plan";
  plan.facts.memory.arenaBytes = 80 * MiB;
  plan.facts.remat.budgetBytes = 80 * MiB;
  plan.facts.prediction.stepSeconds = 0.11;
  plan.executed = "y";
  plan.saved = {saved(0, "conv:conv2d", 8 * MiB, 2), saved(0, "conv:conv2d", 64, 2, 1),
                saved(1, "relu@other.mlir:7", 4 * MiB, 1), saved(2, "fc:linear", 2 * MiB, 1)};
  plan.timeline->after.aliveAtPeak = {{"relu@other.mlir:7", "activation", 4 * MiB},
                                      {"conv:conv2d", "workspace", MiB}};
  return plan;
}

} // namespace

TEST(PlanDiff, NamesAreMatchedWithoutTheirFile) {
  EXPECT_EQ(nameToMatch("conv2d@models/mlp.mlir:12"), "conv2d@:12");
  EXPECT_EQ(nameToMatch("conv2d@<stdin>:12"), "conv2d@:12");
  EXPECT_EQ(nameToMatch("layer1.0.conv1:conv2d"), "layer1.0.conv1:conv2d");
  EXPECT_EQ(nameToMatch("a@b:c"), "a@b:c");
  EXPECT_EQ(nameToMatch("a@b:"), "a@b:");
  EXPECT_EQ(nameToMatch(":12"), ":12");
}

TEST(PlanDiff, PairsWhatIsThereEquallyOften) {
  using Pairs = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(pairsByKey({"x", "y", "x"}, {"y", "x", "x"}), (Pairs{{0, 1}, {1, 0}, {2, 2}}));
  EXPECT_EQ(pairsByKey({"x", "x", "y"}, {"x", "y"}), (Pairs{{2, 1}}));
  EXPECT_EQ(pairsByKey({}, {"x"}), Pairs());
}

TEST(PlanDiff, AnOpIsPaidOnce) {
  DescribedPlan plan = budgetedPlan();
  // One more execution of 2 ms in each of two micro-batches, whichever results are counted.
  EXPECT_DOUBLE_EQ(plan.secondsPaid(plan.saved->front()), 0.004);
  EXPECT_DOUBLE_EQ(plan.secondsPaid(*plan.saved), 0.004);
  EXPECT_DOUBLE_EQ(examplePlan().secondsPaid(*examplePlan().saved), 0.008); // fc, three times
}

TEST(PlanDiff, TellsWhatIsKeptInOneOnly) {
  PlanDiff diff = comparePlans(examplePlan(), budgetedPlan());
  ASSERT_EQ(diff.recomputedInB.size(), 2u);
  EXPECT_EQ(diff.recomputedInB[0].a.bytes, 8 * MiB) << "the largest comes first";
  EXPECT_EQ(diff.recomputedInB[1].a.result, 1);
  ASSERT_EQ(diff.recomputedInA.size(), 1u);
  EXPECT_EQ(diff.recomputedInA[0].b.name, "fc:linear");
  EXPECT_EQ(diff.keptInBoth, 1u) << "relu, of another file";
  EXPECT_TRUE(diff.onlyInA.empty() && diff.onlyInB.empty() && diff.recomputedInBoth.empty());
  std::vector<ValueList> lists = valueLists(diff);
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].title, "kept in A, recomputed in B: 2 values");
  EXPECT_EQ(lists[0].costs, "B does not keep 8.0 MiB and pays 4 ms for it in a step");
  EXPECT_EQ(lists[1].title, "kept in B, recomputed in A: 1 value");
  EXPECT_EQ(lists[1].costs, "A does not keep 2.0 MiB and pays 8 ms for it in a step");
}

TEST(PlanDiff, TellsWhatIsRecomputedMoreOften) {
  DescribedPlan a = examplePlan(), b = examplePlan();
  (*b.saved)[3].executions = 2;
  b.executed = "y";
  PlanDiff diff = comparePlans(a, b);
  ASSERT_EQ(diff.recomputedInBoth.size(), 1u);
  ASSERT_EQ(valueLists(diff).size(), 1u);
  EXPECT_EQ(valueLists(diff)[0].title, "recomputed in both, more often in one: 1 value");
  EXPECT_EQ(valueLists(diff)[0].rows[0].timesA, 2);
  EXPECT_EQ(valueLists(diff)[0].rows[0].timesB, 1);
}

/// conv of 8 MiB and its 64 bytes, relu and fc; the op of the first result is in `parts` parts of
/// which the first `again` run twice.
static DescribedPlan planInParts(int64_t parts, int64_t again) {
  DescribedPlan plan = examplePlan();
  plan.executed = "parts";
  plan.saved = {saved(100, "relu@net.mlir:7", 4 * MiB, 1), saved(101, "fc:linear", 2 * MiB, 3),
                saved(102, "conv:conv2d", 64, 1, 1)};
  for (int64_t i = 0; i < parts; ++i) {
    uint64_t bytes = 8 * MiB / static_cast<uint64_t>(parts);
    plan.saved->push_back(saved(i, "conv:conv2d", bytes, i < again ? 2 : 1));
    plan.saved->back().seconds = 0.0005;
  }
  return plan;
}

TEST(PlanDiff, PartsHaveEqualTotals) {
  auto parts = [](size_t count, uint64_t bytes) {
    return std::vector<SavedValue>(count, saved(0, "x", bytes, 1));
  };
  EXPECT_TRUE(haveEqualTotals(parts(1, 8 * MiB), parts(16, MiB / 2))); // 16 * 512 KiB = 8 MiB
  // 1000 bytes in 4 parts of 250 take 4 * 256 = 1024 bytes, and as a whole 1024; as 3 parts of 334
  // bytes 3 * 384 = 1152: 128 more, and less than 4 * 64 = 256.
  EXPECT_TRUE(haveEqualTotals(parts(1, 1024), parts(4, 256)));
  EXPECT_TRUE(haveEqualTotals(parts(3, 384), parts(4, 256)));
  EXPECT_TRUE(haveEqualTotals(parts(4, 256), parts(3, 384)));
  // A part rounds up by 63 bytes at most: 2 * 1088 - 2048 = 128 = 2 * 64 are too many.
  EXPECT_FALSE(haveEqualTotals(parts(1, 2048), parts(2, 1088)));
  EXPECT_FALSE(haveEqualTotals(parts(2, 1088), parts(1, 2048)));
  EXPECT_FALSE(haveEqualTotals(parts(1, 8 * MiB), parts(16, 8 * MiB)));
}

TEST(PlanDiff, AValueInPartsIsOneRow) {
  // All 16 parts of 512 KiB run again, each 0.5 ms in each of 2 micro-batches: 16 * 0.5 * 2 = 16
  // ms.
  PlanDiff diff = comparePlans(examplePlan(), planInParts(16, 16));
  EXPECT_TRUE(diff.onlyInA.empty() && diff.onlyInB.empty());
  EXPECT_EQ(diff.keptInBoth, 2u) << "relu, and the other result of conv";
  EXPECT_EQ(diff.recomputedInBoth.size(), 1u) << "fc";
  ASSERT_EQ(diff.recomputedInB.size(), 1u);
  const ComparedValue &conv = diff.recomputedInB[0];
  EXPECT_EQ(conv.partsA.size(), 1u);
  EXPECT_EQ(conv.partsB.size(), 16u);
  EXPECT_EQ(conv.b.bytes, 8 * MiB);
  std::vector<ValueList> lists = valueLists(diff);
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(lists[0].title, "kept in A, recomputed in B: 1 value");
  EXPECT_EQ(lists[0].costs, "B does not keep 8.0 MiB and pays 16 ms for it in a step");
  EXPECT_EQ(lists[0].rows[0].name, "conv:conv2d (16 parts in B)");
  EXPECT_DOUBLE_EQ(lists[0].rows[0].seconds, 0.016);
  // The other way round.
  diff = comparePlans(planInParts(16, 16), examplePlan());
  ASSERT_EQ(diff.recomputedInA.size(), 1u);
  EXPECT_EQ(valueLists(diff)[0].costs, "A does not keep 8.0 MiB and pays 16 ms for it in a step");
  EXPECT_EQ(valueLists(diff)[0].rows[0].name, "conv:conv2d (16 parts in A)");
}

TEST(PlanDiff, TellsHowManyPartsAreKept) {
  // 10 of 16 parts: 10 * 512 KiB = 5 MiB, 10 * 0.5 ms * 2 = 10 ms.
  PlanDiff diff = comparePlans(examplePlan(), planInParts(16, 10));
  std::vector<ValueList> lists = valueLists(diff);
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(lists[0].costs, "B does not keep 5.0 MiB and pays 10 ms for it in a step");
  EXPECT_EQ(lists[0].rows[0].name, "conv:conv2d (16 parts in B, kept 6 of 16)");
  EXPECT_EQ(lists[0].rows[0].bytesB, 8 * MiB);
  json row = json::parse(diffJson(diff))["values"]["recomputed_in_b"][0];
  EXPECT_EQ(row["values_a"], 1);
  EXPECT_EQ(row["values_b"], 16);
  EXPECT_EQ(row["kept_values_a"], 1);
  EXPECT_EQ(row["kept_values_b"], 6);
  EXPECT_EQ(row["b"]["bytes"], 8 * MiB);
  EXPECT_EQ(row["b"]["kept"], false);
  EXPECT_DOUBLE_EQ(row["b"]["seconds_paid"], 0.01);
  // 4 parts against 16, a quarter and a half of them again: in both, more often in B.
  diff = comparePlans(planInParts(4, 1), planInParts(16, 8));
  lists = valueLists(diff);
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(lists[0].title, "recomputed in both, more often in one: 1 value");
  EXPECT_EQ(lists[0].rows[0].name, "conv:conv2d (4 parts in A, kept 3 of 4; 16 parts in B, kept 8 "
                                   "of 16)");
  // A quarter of both: 1 of 4 is as often as 4 of 16.
  EXPECT_TRUE(valueLists(comparePlans(planInParts(4, 1), planInParts(16, 4))).empty());
  // Kept in both: a row of 1 and 16 values, and relu and the result of conv.
  json values = json::parse(diffJson(comparePlans(examplePlan(), planInParts(16, 0))))["values"];
  EXPECT_EQ(values["kept_in_both"], 3);
  EXPECT_EQ(values["kept_in_both_values_a"], 3);
  EXPECT_EQ(values["kept_in_both_values_b"], 18); // 16 + 1 + 1
}

TEST(PlanDiff, FoldsEqualLines) {
  // Parts of twice the batch: 16 MiB are no 8 MiB, and nothing is matched.
  DescribedPlan twice = planInParts(16, 10);
  for (SavedValue &value : *twice.saved)
    if (value.name == "conv:conv2d" && value.result == 0)
      value.bytes *= 2;
  PlanDiff diff = comparePlans(examplePlan(), twice);
  EXPECT_EQ(diff.onlyInA.size(), 1u);
  EXPECT_EQ(diff.onlyInB.size(), 16u);
  std::vector<UnmatchedRow> rows = unmatchedRows(diff.onlyInB, diff.b);
  ASSERT_EQ(rows.size(), 2u); // 10 that cost 0.5 ms * 2 each, and 6 that are kept
  EXPECT_EQ(rows[0].count, 10u);
  EXPECT_EQ(rows[0].paid, "1 ms");
  EXPECT_EQ(rows[1].count, 6u);
  EXPECT_EQ(rows[1].paid, "kept");
  EXPECT_CONTAINS(diffText(diff, 20), "only in B: 16 saved values without");
  EXPECT_CONTAINS(diffText(diff, 20), "kept  conv:conv2d × 6\n");
  EXPECT_CONTAINS(diffPage(diff, 20), "conv:conv2d × 10<");
  // As many parts in both are matched one by one: 10 equal rows of 16 pairs.
  diff = comparePlans(planInParts(16, 0), planInParts(16, 10));
  EXPECT_EQ(diff.recomputedInB.size(), 10u);
  ASSERT_EQ(valueLists(diff).size(), 1u);
  EXPECT_EQ(valueLists(diff)[0].title, "kept in A, recomputed in B: 10 values");
  ASSERT_EQ(valueLists(diff)[0].rows.size(), 1u);
  EXPECT_EQ(valueLists(diff)[0].rows[0].count, 10u);
}

TEST(PlanDiff, SaysWhatDiffersFirst) {
  PlanDiff diff = comparePlans(examplePlan(), budgetedPlan());
  EXPECT_EQ(whatIsTheSame(diff), "the same model (net of 1,234 parameters), device (cpu znver4), "
                                 "batch (16) and optimizer (sgd lr 0.1)");
  EXPECT_EQ(whatDiffers(diff),
            std::vector<std::string>{"budget: none in A, 83886080 bytes (80.0 MiB) in B"});
  EXPECT_EQ(inShort(diff),
            (std::vector<std::string>{"B needs 20.0 MiB less memory (-20.0 %)",
                                      "B's step is predicted to take 10 ms longer (+10.0 %)"}));
  // Another batch: a step is another amount of work.
  DescribedPlan larger = examplePlan();
  larger.facts.batch = 32;
  EXPECT_EQ(
      inShort(comparePlans(examplePlan(), larger)),
      (std::vector<std::string>{"both need 100.0 MiB",
                                "B is predicted to train 320 samples a second, A 160 (+100.0 %)"}));
}

TEST(PlanDiff, AnotherModelHasNoCounterparts) {
  DescribedPlan other = examplePlan();
  other.facts.model = "other";
  other.facts.device = "cuda";
  other.executed = "z";
  other.saved = {saved(0, "stem:conv2d", MiB, 1)};
  PlanDiff diff = comparePlans(examplePlan(), other);
  EXPECT_FALSE(diff.sameModel);
  EXPECT_EQ(diff.onlyInA.size(), 4u);
  ASSERT_EQ(diff.onlyInB.size(), 1u);
  EXPECT_EQ(diff.whyUnmatched, "these are plans of two models");
  other.facts.model = "net";
  EXPECT_EQ(comparePlans(examplePlan(), other).whyUnmatched,
            "what ops there are depends on device");
  EXPECT_CONTAINS(diffText(diff, 20), "only in B: 1 saved value without a counterpart: these are "
                                      "plans of two models");
  EXPECT_CONTAINS(diffText(diff, 20), "no saved value is in both plans");
}

TEST(PlanDiff, AliveAtThePeaksByNameAndKind) {
  PlanDiff diff = comparePlans(examplePlan(), budgetedPlan());
  ASSERT_EQ(diff.alive.size(), 3u);
  EXPECT_EQ(diff.alive[0].name, "conv:conv2d");
  EXPECT_EQ(diff.alive[0].a, 8 * MiB + 64) << "two results of one op";
  EXPECT_EQ(diff.alive[0].b, 0u);
  EXPECT_EQ(diff.alive[1].b, 4 * MiB);
  EXPECT_EQ(diff.alive[2].kind, "workspace");
  // Kinds are one word each, which a narrow page must not break.
  EXPECT_CONTAINS(diffPage(diff, 20), "<td class=\"kind\">workspace</td>");
  EXPECT_CONTAINS(diffPage(diff, 20), ".diff .kind{white-space:nowrap}");
}

TEST(PlanDiff, OpsThatRunOtherwise) {
  DescribedPlan a = examplePlan(), b = examplePlan();
  a.ops = {{"fc:linear", "oneDNN", true, 0.1},
           {"relu", "generated", false, 0.2},
           {"conv", "oneDNN", true, 0.3}};
  b.ops = {{"fc:linear", "generated", false, 0.1},
           {"relu", "generated", false, 0.1},
           {"conv", "cuDNN, engine 3", true, 0.1}};
  PlanDiff diff = comparePlans(a, b);
  ASSERT_EQ(diff.implementations.size(), 2u);
  EXPECT_EQ(diff.implementations[0].a.name, "conv") << "the longest comes first";
  EXPECT_EQ(diff.implementations[1].b.how, "generated");
}

TEST(PlanDiff, ListsTheLargest) {
  DescribedPlan a = examplePlan(), b = examplePlan();
  b.executed = "y";
  for (int i = 0; i < 30; ++i) {
    std::string name = "block" + std::to_string(i);
    a.saved->push_back(saved(10 + i, name.c_str(), MiB, 1));
    b.saved->push_back(saved(10 + i, name.c_str(), MiB, 2));
  }
  PlanDiff diff = comparePlans(a, b);
  EXPECT_CONTAINS(diffText(diff, 20), "and 10 more (--all)");
  EXPECT_EQ(diffText(diff, 20).find("block20"), std::string::npos);
  EXPECT_CONTAINS(diffText(diff, 1000), "block29");
  EXPECT_EQ(diffText(diff, 1000).find("--all"), std::string::npos);
  EXPECT_CONTAINS(diffPage(diff, 20), "<summary>10 more</summary>");
}

TEST(PlanDiff, IdenticalPlansAndOldOnes) {
  EXPECT_CONTAINS(diffText(comparePlans(examplePlan(), examplePlan()), 20),
                  "in short    the plans do the same: every command, every byte\n");
  DescribedPlan old = budgetedPlan();
  old.saved.reset();
  old.timeline.reset();
  old.facts.prediction.stepSeconds.reset();
  PlanDiff diff = comparePlans(examplePlan(), old);
  ASSERT_EQ(diff.notes.size(), 2u);
  EXPECT_EQ(diff.notes[0],
            "B does not tell what becomes of each saved value; compile it again to compare that");
  EXPECT_CONTAINS(diffText(diff, 20), "predicted step             100 ms            ?");
  EXPECT_TRUE(json::parse(diffJson(diff))["values"].is_null());
}

TEST(PlanDiff, JsonHasItsKeys) {
  json report = json::parse(diffJson(comparePlans(examplePlan(), budgetedPlan())));
  for (const char *key : {"a", "b", "identical", "same_model", "settings", "difference", "values",
                          "alive_at_peak", "run_otherwise", "notes"})
    EXPECT_TRUE(report.contains(key)) << key;
  EXPECT_EQ(report["difference"]["peak_bytes"], -20971520);
  EXPECT_EQ(report["settings"].size(), 1u);
  EXPECT_EQ(report["settings"][0]["name"], "budget");
  EXPECT_EQ(report["values"]["recomputed_in_b"][0]["b"]["seconds_paid"], 0.004);
  EXPECT_EQ(report["values"]["kept_in_both"], 1);
  EXPECT_EQ(report["a"]["memory"]["arena_bytes"], 100 * MiB);
}

TEST(PlanDiff, HostileNames) {
  DescribedPlan plan = examplePlan();
  plan.facts.model = "a</title><script>\xff";
  (*plan.saved)[0].name = "<b>\xc3\"";
  PlanDiff diff = comparePlans(plan, budgetedPlan());
  EXPECT_TRUE(json::accept(diffJson(diff)));
  std::string page = diffPage(diff, 20);
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

TEST(SavedValues, ReadsTheCompileReport) {
  json value = {{"op", 3},        {"name", "conv"},     {"result", 1},
                {"bytes", 64},    {"kept", false},      {"executions", 2},
                {"seconds", 0.5}, {"repeatable", true}, {"at_peak", true}};
  json report = {{"saved", {value, value}}};
  auto read = readSavedValues(report.dump());
  ASSERT_TRUE(read.ok() && read->has_value());
  ASSERT_EQ((*read)->size(), 2u);
  const SavedValue &first = (*read)->front();
  EXPECT_EQ(first.op, 3);
  EXPECT_EQ(first.name, "conv");
  EXPECT_EQ(first.result, 1);
  EXPECT_EQ(first.bytes, 64u);
  EXPECT_FALSE(first.kept);
  EXPECT_EQ(first.executions, 2);
  EXPECT_EQ(first.seconds, 0.5);
  EXPECT_TRUE(first.atPeak);
  for (const char *none : {"{}", "", "[1]"}) {
    auto nothing = readSavedValues(none);
    EXPECT_TRUE(nothing.ok() && !nothing->has_value()) << none;
  }
  for (auto &[key, right] : value.items()) {
    json broken = report;
    broken["saved"][1][key] = json::array();
    EXPECT_BAD_INPUT(readSavedValues(broken.dump()), "'" + key + "'");
    broken["saved"][1].erase(key);
    EXPECT_BAD_INPUT(readSavedValues(broken.dump()), "'" + key + "'");
  }
  EXPECT_BAD_INPUT(readSavedValues("{\"saved\": 7}"), "'saved'");
  EXPECT_BAD_INPUT(readSavedValues("{\"saved\": [7]}"), "'saved'");
}
