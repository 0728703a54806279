// Kept or recomputed, and why: read from a compile report.
#include "runtime/report/SavedReasons.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace gc::runtime;
using nlohmann::json;

static json savedReport() {
  return {{"saved",
           {{{"op", 3},
             {"name", "conv:conv2d"},
             {"result", 1},
             {"bytes", 49 << 20},
             {"kept", false},
             {"executions", 2},
             {"seconds", 0.01162},
             {"repeatable", true},
             {"at_peak", true}}}}};
}

TEST(SavedValues, Read) {
  auto values = readSavedValues(savedReport().dump());
  ASSERT_TRUE(values.ok() && values->has_value());
  ASSERT_EQ((*values)->size(), 1u);
  const SavedValue &value = (**values)[0];
  EXPECT_EQ(value.op, 3);
  EXPECT_EQ(value.name, "conv:conv2d");
  EXPECT_EQ(value.result, 1);
  EXPECT_EQ(value.bytes, uint64_t{49} << 20);
  EXPECT_FALSE(value.kept);
  EXPECT_EQ(value.executions, 2);
  EXPECT_EQ(value.seconds, 0.01162);
  EXPECT_TRUE(value.repeatable);
  EXPECT_TRUE(value.atPeak);
}

TEST(SavedValues, NotToldIsNotAnError) {
  for (const char *report : {"{}", "", "[1]", "{\"remat\": {}}"}) {
    auto values = readSavedValues(report);
    ASSERT_TRUE(values.ok());
    EXPECT_FALSE(values->has_value());
  }
  auto none = readSavedValues("{\"saved\": []}");
  EXPECT_TRUE(none.ok() && none->has_value() && (*none)->empty()) << "none is an answer";
}

TEST(SavedValues, ABrokenListIs) {
  auto broken = [](const char *pointer, json value) {
    json report = savedReport();
    report[json::json_pointer(pointer)] = std::move(value);
    return readSavedValues(report.dump());
  };
  EXPECT_BAD_INPUT(broken("/saved", 7), "'saved'");
  EXPECT_BAD_INPUT(broken("/saved/0", 7), "'saved'");
  EXPECT_BAD_INPUT(broken("/saved/0/op", "3"), "'op'");
  EXPECT_BAD_INPUT(broken("/saved/0/bytes", -1), "'bytes'");
  EXPECT_BAD_INPUT(broken("/saved/0/kept", 1), "'kept'");
  EXPECT_BAD_INPUT(broken("/saved/0/seconds", nullptr), "'seconds'");
}

TEST(SavedValues, WhyAndAtWhatPrice) {
  SavedValue value;
  value.bytes = uint64_t{49} << 20;
  value.kept = false;
  value.executions = 2;
  value.seconds = 0.01162;
  value.atPeak = true;
  EXPECT_EQ(reasonText(value, 1), "recomputed: frees 49.0 MiB at the peak for 11.62 ms");
  // Each of the micro-batches pays.
  EXPECT_EQ(reasonText(value, 4), "recomputed: frees 49.0 MiB at the peak for 46.48 ms");
  value.executions = 4;
  EXPECT_EQ(reasonText(value, 1),
            "recomputed: frees 49.0 MiB at the peak for 34.86 ms (its op runs 3 times more)");
  value.atPeak = false;
  value.executions = 2;
  EXPECT_EQ(reasonText(value, 1),
            "recomputed for 11.62 ms; its 49.0 MiB are not alive at the peak");
  value.kept = true;
  value.executions = 1;
  EXPECT_EQ(reasonText(value, 1), "kept: not alive at the peak");
  value.atPeak = true;
  EXPECT_EQ(reasonText(value, 1),
            "kept: making it again would take 11.62 ms for 49.0 MiB at the peak");
  value.repeatable = false;
  EXPECT_EQ(reasonText(value, 1), "kept: its op may not run again");
}
