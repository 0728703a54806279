// What is kept of a machine: read, refused, measured again. Nothing is measured here;
// calibrate.test does that once.
#include "compiler/Calibrate.h"
#include "runtime/hal/cpu/library/Team.h"
#include "runtime/session/Disturbance.h"
#include "tools/calibration/CacheFolder.h"
#include "tools/calibration/ChildProcess.h"
#include "tools/calibration/MachineRates.h"
#include "tools/calibration/RatesFile.h"
#include "tools/calibration/TimesFile.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace gc::runtime;

namespace {

/// As gc-run --calibrate writes them. `start` makes a difference that can be found again.
std::string ratesText(double start, double busy = 0) {
  gc::Calibration calibration;
  calibration.device = "cpu";
  for (const char *name :
       {"starts_per_second", "conv_forward_flops_per_second", "conv_data_flops_per_second",
        "conv_weights_flops_per_second", "conv_strided_weights_flops_per_second",
        "matmul_flops_per_second", "attention_flops_per_second", "product_bytes_per_second",
        "stream_bytes_per_second", "row_bytes_per_second", "arithmetic_flops_per_second"})
    calibration.rates.push_back({name, calibration.rates.empty() ? start : 1e9});
  std::string text = calibration.json("test", 1);
  return text.substr(0, text.rfind('}')) + ",\"busy\": " + std::to_string(busy) + "}\n";
}

class Kept : public testing::Test {
protected:
  void SetUp() override {
    const auto *test = testing::UnitTest::GetInstance()->current_test_info();
    home = std::filesystem::temp_directory_path() /
           (std::string("gc-kept-") + test->name() + std::to_string(::getpid()));
    std::filesystem::create_directories(home);
    ::setenv("XDG_CACHE_HOME", home.c_str(), 1);
    ::unsetenv("GC_NO_CALIBRATE");
    wish.measure = true;
    wish.how = [this](int threads) -> Result<std::string> {
      ++measured;
      measuredThreads = threads;
      return ratesText(1000 + measured);
    };
    wish.say = [this](const std::string &line) { said += line + "\n"; };
  }
  void TearDown() override {
    std::filesystem::permissions(home, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(home);
  }

  gc::CompileOptions find(gc::CompileOptions options = {}) {
    said.clear();
    findMachineRates(options, wish);
    return options;
  }
  bool hasSaid(const std::string &part) const { return said.find(part) != std::string::npos; }
  std::string ratesPath() const {
    return RatesFile((home / "gc").string(), thisMachine(cpu::usableThreads())).path();
  }
  static std::string read(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path home;
  RatesWish wish;
  int measured = 0, measuredThreads = 0;
  std::string said;
};

} // namespace

TEST(MachineKey, NamesTheCpuBeyondWhatVirtualMachinesHide) {
  std::istringstream epyc("processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
                          "model\t\t: 17\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\n"
                          "cpu family\t: 99\n");
  EXPECT_EQ(cpuName(epyc), "AMD EPYC (family 25, model 17)");
  std::istringstream named("model name\t: Cortex: A\n");
  EXPECT_EQ(cpuName(named), "Cortex: A");
  std::istringstream nothing("");
  EXPECT_EQ(cpuName(nothing), "unnamed CPU");
  MachineKey key{"Intel(R) Xeon(R) @ 2.10GHz/x", 1, "oneDNN 3.0.0"};
  EXPECT_EQ(key.fileStem(), "Intel-R-Xeon-R-2.10GHz-x.1-threads.oneDNN-3.0.0");
  EXPECT_EQ(key.text(), "Intel(R) Xeon(R) @ 2.10GHz/x, 1 thread");
  EXPECT_FALSE(thisMachine(2).library.empty());
}

TEST_F(Kept, TheFirstCompilationMeasuresAndTheNextOnesUseIt) {
  gc::CompileOptions first = find();
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(measuredThreads, cpu::usableThreads());
  EXPECT_TRUE(hasSaid("measuring this machine's rates once ("));
  EXPECT_TRUE(hasSaid("measured; kept in '" + ratesPath() + "'"));
  EXPECT_EQ(first.machine.name, "calibrated " + thisMachine(cpu::usableThreads()).text());
  EXPECT_NE(first.machine.rates.find("1001"), std::string::npos);

  wish.measure = false; // what is known is used whatever is asked
  gc::CompileOptions second = find();
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(said, "");
  EXPECT_EQ(second.machine.name, first.machine.name);
  EXPECT_NE(second.machine.rates.find("1001"), std::string::npos);
  EXPECT_EQ(gc::refuseCalibration(read(ratesPath()), "kept"), ""); // --costs takes it, too
}

TEST_F(Kept, NothingIsMeasuredWhereNoTimeIsAsked) {
  wish.measure = false;
  EXPECT_EQ(find().machine.rates, "");
  EXPECT_EQ(measured, 0);
  EXPECT_EQ(said, "");

  gc::CompileOptions options;
  EXPECT_FALSE(asksForTime(options));
  options.budgetBytes = 1;
  EXPECT_TRUE(asksForTime(options));
  options = {};
  options.remat = "sqrt";
  EXPECT_TRUE(asksForTime(options));
  options = {};
  options.pareto = 3;
  EXPECT_TRUE(asksForTime(options));
  options = {};
  options.accumulateAuto = true;
  EXPECT_TRUE(asksForTime(options));
}

TEST_F(Kept, NothingIsUsedWhereThePlanMustNotDependOnTheMachine) {
  find();
  keepOpTimes({{"conv", 1}}, cpu::usableThreads());
  EXPECT_EQ(find().machine.opSeconds.size(), 1u);
  gc::CompileOptions given;
  given.costs = "costs.json";
  EXPECT_EQ(find(given).machine.rates, "");
  given = {};
  given.device = "cuda";
  EXPECT_EQ(find(given).machine.rates, "");
  wish.noCalibrate = true;
  EXPECT_EQ(find().machine.rates, "");
  EXPECT_TRUE(find().machine.opSeconds.empty());
  EXPECT_EQ(measured, 1);

  EXPECT_FALSE(usualWish(false, true).noCalibrate);
  ::setenv("GC_NO_CALIBRATE", "1", 1);
  EXPECT_TRUE(usualWish(false, true).noCalibrate);
  ::setenv("GC_NO_CALIBRATE", "0", 1);
  EXPECT_FALSE(usualWish(false, true).noCalibrate);
  ::unsetenv("GC_NO_CALIBRATE");
}

TEST_F(Kept, MoreThreadsThanTheMachineHasAreNotMeasured) {
  gc::CompileOptions options;
  options.threads = cpu::usableThreads() + 1;
  EXPECT_EQ(find(options).machine.rates, "");
  EXPECT_EQ(measured, 0);
  EXPECT_TRUE(hasSaid("built-in rates are used"));
  options.threads = 1; // another key than that of all threads, unless there is one only
  find(options);
  EXPECT_EQ(measuredThreads, 1);
}

TEST_F(Kept, WhatCannotBeUsedIsSaidAndMeasuredAgain) {
  find();
  std::string whole = read(ratesPath());
  std::string negative = whole, other = whole;
  negative.replace(negative.find("1001"), 4, "-101");
  other.replace(other.find("\"version\": 1"), 12, "\"version\": 0");
  const std::pair<std::string, const char *> cases[] = {
      {"", "is damaged"},
      {whole.substr(0, whole.size() / 2), "is damaged"},
      {"[]", "is damaged"},
      {negative, "is damaged"},
      {other, "is of another machine or version"}};
  for (const auto &[text, fault] : cases) {
    std::ofstream(ratesPath()) << text;
    int before = measured;
    EXPECT_NE(find().machine.rates, "");
    EXPECT_TRUE(hasSaid(fault)) << said;
    EXPECT_TRUE(hasSaid("it is measured again"));
    EXPECT_EQ(measured, before + 1);
    find();
    EXPECT_EQ(measured, before + 1) << "the file was not replaced";
  }
}

TEST_F(Kept, RatesOfABusyMachineAreMeasuredAgainLater) {
  wish.how = [this](int) -> Result<std::string> { return ratesText(1000 + ++measured, 0.5); };
  find();
  find();
  EXPECT_EQ(measured, 1) << "not at once";
  std::filesystem::last_write_time(ratesPath(), std::filesystem::file_time_type::clock::now() -
                                                    std::chrono::minutes(11));
  wish.measure = false;
  find();
  EXPECT_EQ(measured, 1) << "only where time is asked";
  wish.measure = true;
  find();
  EXPECT_EQ(measured, 2);
  std::filesystem::last_write_time(ratesPath(), std::filesystem::file_time_type::clock::now() -
                                                    std::chrono::minutes(11));
  wish.how = [](int) -> Result<std::string> { return runFailed("no time"); };
  EXPECT_NE(find().machine.rates.find("1002"), std::string::npos);
  EXPECT_TRUE(hasSaid("could not be measured (no time); older ones are used"));
}

TEST_F(Kept, WithoutAPlaceToKeepThemRatesAreUsedAllTheSame) {
  std::ofstream(home / "file") << "in the way";
  for (const std::string &folder : {(home / "file").string(), std::string("relative")}) {
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    ::setenv("HOME", "", 1);
    EXPECT_NE(find().machine.rates, "");
    EXPECT_TRUE(hasSaid("measured, but not kept for the next time: ")) << said;
  }
  EXPECT_EQ(measured, 2);
  ::setenv("HOME", home.c_str(), 1);
  ::unsetenv("XDG_CACHE_HOME");
  Result<std::string> folder = cacheFolder();
  ASSERT_TRUE(folder);
  EXPECT_EQ(*folder, (home / ".cache" / "gc").string());
}

TEST_F(Kept, AMeasurementThatFailsLeavesBuiltInRates) {
  wish.how = [](int) -> Result<std::string> { return runFailed("too busy"); };
  EXPECT_EQ(find().machine.rates, "");
  EXPECT_TRUE(hasSaid("could not be measured (too busy); built-in ones are used"));
  EXPECT_FALSE(std::filesystem::exists(ratesPath()));
}

TEST_F(Kept, ProcessesThatWriteAtOnceLeaveAWholeFile) {
  RatesFile file(home.string(), thisMachine(1));
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      std::string fault;
      for (int j = 0; j < 20 && fault.empty(); ++j) {
        Status wrote = file.write(ratesText(1000 * (i + 1) + j));
        RatesFile::Content content = file.read();
        fault = !wrote ? wrote.error().message : content.fault;
        if (fault.empty() && content.rates.empty())
          fault = "the file is gone";
      }
      if (!fault.empty())
        std::fprintf(stderr, "%s\n", fault.c_str());
      ::_exit(fault.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_NE(file.read().rates, "");
}

TEST_F(Kept, TimesAreMediansOfTheLastRuns) {
  TimesFile file(home.string(), thisMachine(1));
  std::string fault;
  EXPECT_TRUE(file.read(fault).empty());
  EXPECT_EQ(fault, "");
  for (double seconds : {100.0, 1.0, 5.0, 3.0, 2.0, 4.0}) // the first one is forgotten
    ASSERT_TRUE(file.add({{"conv", seconds}, {"relu", 0.5}}).ok());
  ASSERT_TRUE(file.add({{"add", 0.25}}).ok());
  std::map<std::string, double> expected = {{"conv", 3}, {"relu", 0.5}, {"add", 0.25}};
  EXPECT_EQ(file.read(fault), expected);

  std::vector<OpTime> many;
  for (size_t i = 0; i < kMostOps - 1; ++i)
    many.push_back({"op " + std::to_string(i), 1});
  ASSERT_TRUE(file.add(many).ok());
  std::map<std::string, double> kept = file.read(fault);
  EXPECT_EQ(kept.size(), kMostOps);
  EXPECT_EQ(kept.count("add"), 1u) << "it ran last of the old ones";
  EXPECT_EQ(kept.count("conv"), 0u);
}

TEST_F(Kept, DamagedTimesAreSaidAndBegunAnew) {
  std::filesystem::create_directories(home / "gc");
  TimesFile file((home / "gc").string(), thisMachine(cpu::usableThreads()));
  ASSERT_TRUE(file.add({{"conv", 1}}).ok());
  std::string whole = read(file.path()), zero = whole, text = whole;
  zero.replace(zero.find("1.0"), 3, "0.0");
  text.replace(text.find("\"conv\""), 6, "[]");
  for (const std::string &bad : {std::string(), whole.substr(0, whole.size() - 9), zero, text}) {
    std::ofstream(file.path()) << bad;
    wish.measure = false;
    EXPECT_TRUE(find().machine.opSeconds.empty());
    EXPECT_TRUE(hasSaid("is damaged; the times in it are not used")) << bad;
    ASSERT_TRUE(file.add({{"conv", 2}}).ok());
    EXPECT_EQ(find().machine.opSeconds.at("conv"), 2);
    EXPECT_EQ(said, "");
  }
}

TEST(ChildProcess, AnswersOrSaysHowItEnded) {
  Result<std::string> answer =
      inChildProcess([]() -> Result<std::string> { return std::string(100000, 'x'); }, 20);
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, std::string(100000, 'x'));
  auto reason = [](const std::function<Result<std::string>()> &work, int seconds) {
    Result<std::string> result = inChildProcess(work, seconds);
    return result ? "none" : result.error().message;
  };
  EXPECT_EQ(reason([]() -> Result<std::string> { return runFailed("no luck"); }, 20), "no luck");
  EXPECT_EQ(reason([]() -> Result<std::string> { std::abort(); }, 20),
            "its process was ended by signal 6");
  EXPECT_EQ(reason([]() -> Result<std::string> { ::_exit(3); }, 20),
            "its process ended with code 3");
  EXPECT_EQ(reason(
                []() -> Result<std::string> {
                  std::this_thread::sleep_for(std::chrono::seconds(30));
                  return std::string();
                },
                1),
            "it took more than 1 s");
}

TEST(Disturbance, SpoilsByWaitingAndByPagesFromTheDisk) {
  Disturbance begin{10, 1, 5};
  EXPECT_FALSE((Disturbance{12, 1.1, 5}.spoils(begin)));
  EXPECT_TRUE((Disturbance{12, 1.5, 5}.spoils(begin)));
  EXPECT_TRUE((Disturbance{12, 1, 6}.spoils(begin)));
  EXPECT_DOUBLE_EQ((Disturbance{12, 1.5, 5}.waitedSince(begin)), 0.25);
  EXPECT_EQ(begin.waitedSince(begin), 0);
  EXPECT_GT(Disturbance::now().seconds, 0);
}
