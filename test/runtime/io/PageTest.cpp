// The page of a run: its parts, its data, and names that would like to be markup.
#include "runtime/plan/Plan_generated.h"
#include "runtime/report/Charts.h"
#include "runtime/report/HtmlParts.h"
#include "runtime/report/HtmlReport.h"
#include "runtime/report/RunCharts.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace gc::runtime;
namespace plan = gc::plan;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char *kHostile = "</script><script>alert(1)</script><!-- \" ' & \xe2\x80\xa8 \xff";

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// What a browser's JSON.parse gets: the text between the tags.
Json dataOf(const std::string &page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  size_t from = page.find(begin);
  EXPECT_NE(from, std::string::npos);
  from += begin.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

struct SmallPlan {
  SmallPlan(const char *name, const std::string &report = "") {
    source.model = name;
    source.target = std::make_unique<plan::TargetT>();
    source.memory = std::make_unique<plan::MemoryT>();
    source.optimizer = std::make_unique<plan::OptimizerT>();
    source.optimizer->name = "sgd";
    source.optimizer->lr = 0.125;
    source.report = report;
    auto buffer = std::make_unique<plan::BufferT>();
    buffer->name = name;
    buffer->bytes = 64;
    source.buffers.push_back(std::move(buffer));
    builder.Finish(plan::Plan::Pack(builder, &source));
  }
  const plan::Plan &get() const { return *plan::GetPlan(builder.GetBufferPointer()); }
  plan::PlanT source;
  flatbuffers::FlatBufferBuilder builder;
};

TrainingReport exampleRun() {
  TrainingReport run;
  run.model = "net";
  run.batch = 32;
  run.loss = {2, NAN, 1};
  run.learningRate = {0.125, 0.0625, 0.03125};
  run.stepSeconds = {0.5, 0.25, 0.25};
  run.evaluations = {{1, 2, 100, 1.5, 0.5}, {2, 3, 100, 1.25, 0.75}};
  run.accuracy = 0.8;
  run.monitor.samples = {{0, 0.5, 100}, {1, 1.5, 120}};
  return run;
}

const Chart &chartOf(const std::vector<Chart> &charts, const std::string &title) {
  static const Chart none;
  auto found = std::find_if(charts.begin(), charts.end(),
                            [&](const Chart &chart) { return chart.title == title; });
  EXPECT_NE(found, charts.end()) << title;
  return found == charts.end() ? none : *found;
}

} // namespace

TEST(Page, NamesStayText) {
  SmallPlan plan(kHostile);
  TrainingReport run = exampleRun();
  run.model = run.data = kHostile;
  auto page = htmlReport(run, plan.get());
  ASSERT_TRUE(page.ok());
  // One block of data and one of scripts, whatever the names say.
  EXPECT_EQ(count(*page, "<script"), 2u);
  EXPECT_EQ(count(*page, "</script"), 2u);
  EXPECT_EQ(page->find("<!--"), std::string::npos);
  EXPECT_EQ(page->find("alert(1)<"), std::string::npos);
  Json data = dataOf(*page);
  std::string name = data["step"]["strings"][data["step"]["buffers"]["name"][0].get<size_t>()];
  // As it was, but for the byte that is none of UTF-8.
  EXPECT_EQ(name, std::string(kHostile, std::strlen(kHostile) - 1) + "\xef\xbf\xbd");
}

TEST(Page, FetchesNothing) {
  SmallPlan plan("net");
  auto page = htmlReport(exampleRun(), plan.get());
  ASSERT_TRUE(page.ok());
  for (const char *fetch : {"src=", "href=", "url(", "@import", "http://", "https://", "fetch("})
    EXPECT_EQ(page->find(fetch), std::string::npos) << fetch;
  EXPECT_CONTAINS(*page, "default-src 'none'");
  EXPECT_CONTAINS(*page, "name=\"viewport\"");
  EXPECT_CONTAINS(*page, "prefers-color-scheme: dark");
}

TEST(Page, ChartsOfARun) {
  SmallPlan plan("net");
  TrainingReport run = exampleRun();
  run.stepsBefore = 10; // resumed
  for (EvaluationReport &evaluation : run.evaluations)
    evaluation.step += 10;
  std::vector<Chart> charts = runCharts(run);
  const Chart &loss = chartOf(charts, "Loss");
  ASSERT_EQ(loss.series.size(), 2u);
  EXPECT_EQ(loss.series[0].x, (std::vector<double>{11, 12, 13}));
  EXPECT_EQ(loss.series[1].x, (std::vector<double>{12, 13}));
  EXPECT_EQ(loss.series[1].y, (std::vector<double>{1.5, 1.25}));
  const Chart &accuracy = chartOf(charts, "Accuracy");
  EXPECT_EQ(accuracy.y.unit, "%");
  EXPECT_EQ(accuracy.series.at(0).y, (std::vector<double>{50, 75}));
  EXPECT_EQ(accuracy.series.at(1).x, (std::vector<double>{13}));
  EXPECT_EQ(chartOf(charts, "Learning rate").series.at(0).y,
            (std::vector<double>{0.125, 0.0625, 0.03125}));
  EXPECT_EQ(chartOf(charts, "Throughput").series.at(0).y, (std::vector<double>{64, 128, 128}));
  EXPECT_EQ(chartOf(charts, "Memory of the process").series.at(0).y,
            (std::vector<double>{100, 120}));
  EXPECT_EQ(chartOf(charts, "Utilization of the CPU").series.at(0).y,
            (std::vector<double>{0.5, 1.5}));
  // What is not a number leaves a gap.
  EXPECT_EQ(chartsJson(charts)[0]["series"][0]["y"], Json({2, nullptr, 1}));
  EXPECT_EQ(count(chartElements(charts), "<canvas"), charts.size());
  EXPECT_TRUE(runCharts(TrainingReport()).empty()) << "nothing was measured";
}

TEST(Page, LongCurvesKeepTheirExtremes) {
  ChartSeries series;
  for (int i = 0; i < 100000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 54321 ? 7 : i == 65432 ? -7 : i == 77777 ? NAN : 1);
  }
  ChartSeries thin = thinned(series);
  EXPECT_LE(thin.x.size(), 2000u);
  auto at = [&](double x) {
    auto found = std::find(thin.x.begin(), thin.x.end(), x);
    return found == thin.x.end() ? 0 : thin.y[static_cast<size_t>(found - thin.x.begin())];
  };
  EXPECT_EQ(at(54321), 7);
  EXPECT_EQ(at(65432), -7);
  EXPECT_TRUE(std::isnan(at(77777)));
  EXPECT_TRUE(std::is_sorted(thin.x.begin(), thin.x.end()));
}

TEST(Page, TheRunsPlanTellsItsTimeline) {
  Json step = {
      {"peak_bytes", 64}, {"peak_op", "conv"}, {"live", {64}}, {"alive_at_peak", Json::array()}};
  Json report = {{"timeline", {{"persistent_bytes", 0}, {"before", step}, {"after", step}}}};
  TestDirectory directory;
  SmallPlan plan("net", report.dump());
  ASSERT_TRUE(writeHtmlReport(directory.file("page"), exampleRun(), plan.get()).ok());
  EXPECT_EQ(dataOf(directory.read("page"))["step"]["timeline"]["before"]["peak"], 64);
  report["timeline"]["after"].erase("live");
  SmallPlan broken("net", report.dump());
  EXPECT_BAD_INPUT(writeHtmlReport(directory.file("other"), exampleRun(), broken.get()), "'live'");
  EXPECT_FALSE(std::filesystem::exists(directory.file("other")));
}
