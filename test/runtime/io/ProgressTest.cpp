// What moves while training: what fits is chosen by importance, and nothing is ever wider than the
// terminal. test/tools/Inputs/terminal.py looks at the same on a pseudo-terminal.
#include "runtime/trainer/Progress.h"
#include "runtime/report/Sizes.h"
#include "runtime/trainer/Console.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <sstream>
#include <thread>

using namespace gc::runtime;

namespace {

uint64_t threeMebibytes() { return 3 << 20; }

/// What is printed into a stream in memory, which is no terminal.
std::string printed(const std::function<void(std::FILE *)> &print) {
  char *text = nullptr;
  size_t size = 0;
  std::FILE *out = ::open_memstream(&text, &size);
  print(out);
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

ProgressState stateAt(uint64_t step, uint64_t steps) {
  ProgressState state;
  state.step = step;
  state.totalSteps = steps;
  state.epoch = 1;
  state.totalEpochs = 2;
  state.loss = 0.5;
  state.epochLoss = 0.75;
  state.epochAccuracy = 0.25;
  state.learningRate = 0.001;
  state.samples = 16;
  return state;
}

ProgressOptions optionsOf(ProgressMode mode, size_t columns = 0,
                          std::chrono::milliseconds interval = std::chrono::hours(1)) {
  return {mode, interval, columns, threeMebibytes};
}

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);)
    parts.push_back(part);
  return parts;
}

} // namespace

TEST(ProgressLine, LeavesOutByImportanceAndGivesTheRestToTheBar) {
  std::vector<LinePart> parts = {{"step 1/9", 9}, {"rare", 1}, {"loss 0.5", 7}, {"left", 6}};
  // 8 + 2 + 8 + 2 + 4 and the bar's 2 + 8 are 34; the fourth part, of 2 + 4, wants 40.
  EXPECT_EQ(fitLine(parts, 0.5, 5, 34).text, "step 1/9  [###...]  loss 0.5  left");
  EXPECT_EQ(fitLine(parts, 0.5, 5, 39).text, "step 1/9  [#####......]  loss 0.5  left");
  EXPECT_EQ(fitLine(parts, 0.5, 5, 40).text, "step 1/9  [###...]  rare  loss 0.5  left");
  EXPECT_EQ(fitLine(parts, 0.5, 5, 24).text, "step 1/9  loss 0.5  left");
  EXPECT_EQ(fitLine(parts, 0.5, 5, 18).text, "step 1/9  loss 0.5");
  EXPECT_EQ(fitLine(parts, 0.5, 5, 6).text, "step 1");
  EXPECT_EQ(wholeLine(parts), "step 1/9  rare  loss 0.5  left");
}

TEST(ProgressLine, MarksWhatIsFilled) {
  ProgressLine line = fitLine({{"step", 9}}, 0.25, 5, 100);
  EXPECT_EQ(line.text, "step  [#######.....................]");
  EXPECT_EQ(line.text.substr(line.barBegin, line.barEnd - line.barBegin), "#######");
  EXPECT_EQ(fitLine({{"step", 9}}, 7, 5, 14).text, "step  [######]") << "more than all is all";
}

// Every width from what nobody has to what nobody has.
TEST(Progress, BarStaysWithinEveryWidth) {
  for (size_t columns = 1; columns <= 200; ++columns) {
    std::string text = printed([&](std::FILE *out) {
      Progress progress(out, optionsOf(ProgressMode::Bar, columns, std::chrono::milliseconds(1)));
      for (uint64_t step = 1; step <= 40; ++step)
        progress.update(stateAt(step * step * step, 64000));
      progress.update(EvaluationState{500, 10000, 0.5, 0.5});
      progress.update(EvaluationState{10000, 10000, 0.5, 0.5});
      progress.finishLine();
    });
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), columns > 1 ? 1 : 0) << columns;
    for (const std::string &update : split(text.substr(0, text.find('\n')), '\r'))
      ASSERT_LT(update.size(), std::max(columns, size_t(1))) << columns << ": " << update;
    if (columns >= 20) {
      EXPECT_CONTAINS(text, "step ");
    }
    if (columns >= 60) {
      EXPECT_CONTAINS(text, "batch loss 0.5000");
    }
    if (columns >= 90) {
      EXPECT_CONTAINS(text, "#");
    }
    if (columns >= 160) {
      EXPECT_CONTAINS(text, "epoch 1/2  batch loss 0.5000  epoch loss 0.7500  epoch accuracy 25.0 %"
                            "  lr 0.001");
    }
  }
}

TEST(Progress, LinesHaveAllParts) {
  std::string text = printed([](std::FILE *out) {
    Progress progress(out, optionsOf(ProgressMode::Auto)); // no terminal: lines
    EXPECT_EQ(progress.mode(), ProgressMode::Lines);
    for (uint64_t step = 1; step <= 5; ++step)
      progress.update(stateAt(step, 5));
    progress.finishLine();
  });
  // Within the interval only the first and the last step are shown.
  EXPECT_CONTAINS(text, "step 1/5  epoch 1/2  batch loss 0.5000  epoch loss 0.7500  epoch accuracy "
                        "25.0 %  lr 0.001");
  EXPECT_CONTAINS(text, "samples/s  process 3.0 MiB");
  EXPECT_CONTAINS(text, "0:00 left\n");
  EXPECT_CONTAINS(text, "0:00 in all\n");
  EXPECT_CONTAINS(text, "step 5/5");
  EXPECT_EQ(text.find("step 3/5"), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(Progress, BarMovesWhileEvaluatingAndIsTakenAway) {
  std::string text = printed([](std::FILE *out) {
    Progress progress(out, optionsOf(ProgressMode::Bar, 160, std::chrono::milliseconds(1)));
    for (int64_t done : {20, 60, 100}) {
      // Longer than the interval, or one of them would not be shown.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      progress.update(EvaluationState{done, 100, 0.25, 0.5});
    }
    progress.clearLine();
  });
  EXPECT_CONTAINS(text, "testing  20/100");
  EXPECT_CONTAINS(text, "testing 100/100  [############################]  mean loss 0.2500  "
                        "accuracy 50.0 %");
  EXPECT_EQ(text.back(), '\r');
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Progress, EachStepIsAnObjectOfJson) {
  std::string text = printed([](std::FILE *out) {
    Progress progress(out, optionsOf(ProgressMode::Json));
    for (uint64_t step = 1; step <= 3; ++step) {
      ProgressState state = stateAt(step, 3);
      if (step == 2)
        state.loss = NAN;
      progress.update(state);
    }
    progress.update(EvaluationState{1, 1, 0.5, {}}); // its result is an event of the console's
    progress.finishLine();
  });
  std::vector<std::string> lines = split(text, '\n');
  ASSERT_EQ(lines.size(), 3u);
  nlohmann::json first = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(first["event"], "step");
  EXPECT_EQ(first["step"], 1);
  EXPECT_EQ(first["steps"], 3);
  EXPECT_EQ(first["batch_loss"], 0.5);
  EXPECT_EQ(first["learning_rate"], 0.001);
  EXPECT_EQ(first["process_bytes"], 3 << 20);
  EXPECT_TRUE(nlohmann::json::parse(lines[1])["batch_loss"].is_null()) << "JSON has no NaN";
}

TEST(Progress, NoneSaysNothing) {
  std::string text = printed([](std::FILE *out) {
    Console console(out, ProgressMode::None);
    TrainingReport report;
    console.begin(report, {});
    console.progress().update(stateAt(1, 1));
    console.evaluation({});
    console.end(report, 1);
  });
  EXPECT_EQ(text, "");
}

TEST(Console, EventsOfJson) {
  std::string text = printed([](std::FILE *out) {
    Console console(out, ProgressMode::Json);
    TrainingReport report;
    report.model = "mlp";
    console.begin(report, {5, 5, 0, true});
    console.evaluation({1, 5, 100, 0.5, 0.75});
    console.end(report, 5);
  });
  std::vector<std::string> lines = split(text, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["model"], "mlp");
  EXPECT_EQ(nlohmann::json::parse(lines[1])["accuracy"], 0.75);
  EXPECT_EQ(nlohmann::json::parse(lines[2])["event"], "end");
}

TEST(Console, TableOfEpochs) {
  TrainingReport report;
  report.epochs = {{1, 10, 2.5, 0.25, 61}};
  EXPECT_EQ(epochTable(report), "") << "one epoch is what the summary tells anyway";
  report.epochs.push_back({2, 10, 1.5, 0.5, 62});
  EXPECT_EQ(epochTable(report), "epoch   mean loss    accuracy      time\n"
                                "    1      2.5000     25.00 %      1:01\n"
                                "    2      1.5000     50.00 %      1:02\n");
  report.evaluations = {{2, 20, 100, 0.5, 0.75}};
  EXPECT_EQ(epochTable(report),
            "epoch   mean loss    accuracy   test loss  test accuracy      time\n"
            "    1      2.5000     25.00 %           -              -      1:01\n"
            "    2      1.5000     50.00 %      0.5000        75.00 %      1:02\n");
  report.epochs.resize(25, report.epochs[1]);
  EXPECT_CONTAINS(epochTable(report), "  ...  (5 before)\n");
}

TEST(Sizes, TimesAndRates) {
  EXPECT_EQ(secondsText(0.01234), "12.34 ms");
  EXPECT_EQ(secondsText(1.5), "1.5 s");
  EXPECT_EQ(secondsText(12345), "12345 s");
  EXPECT_EQ(secondsText(2e-6), "2 us");
  EXPECT_EQ(secondsText(0), "0 s");
  EXPECT_EQ(secondsText(NAN), "?");
  EXPECT_EQ(rateText(123456.7), "123457 samples/s") << "no exponent";
  EXPECT_EQ(rateText(0.8512), "0.8512 samples/s");
}
