// Cases that end badly: what the parent learns of them.
#include "tools/selftest/CaseProcess.h"

#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

class CaseProcess : public testing::Test {
protected:
  void SetUp() override { findings.section("cases", "cases that end badly"); }
  Findings findings;
};

TEST_F(CaseProcess, CrashIsSeenWhereChildrenWereIgnored) {
  std::signal(SIGCHLD, SIG_IGN); // as a program may leave it to those that it starts
  CaseRunner cases(findings, 60);
  cases.run("crashes", [](CaseReporter &) { std::raise(SIGSEGV); });
  ASSERT_EQ(findings.failures().size(), 1u);
  EXPECT_EQ(findings.failures()[0].problem, Problem::Crash);
  EXPECT_NE(findings.failures()[0].text.find("was ended by signal 11"), std::string::npos);
}

TEST_F(CaseProcess, AnEndThatNobodySawIsNoSuccess) {
  CaseRunner cases(findings, 60);
  std::signal(SIGCHLD, SIG_IGN);
  cases.run("passes", [](CaseReporter &report) { report.passed("passes"); });
  std::signal(SIGCHLD, SIG_DFL);
  ASSERT_EQ(findings.failures().size(), 1u);
  EXPECT_EQ(findings.failures()[0].problem, Problem::Host);
  EXPECT_NE(findings.failures()[0].text.find("how its process ended is not known"),
            std::string::npos);
}

// A line without an end is read when the pipe is closed, which is after the process was killed.
TEST_F(CaseProcess, LastWordsOfAKilledProcessAreHeard) {
  CaseRunner cases(findings, 0.5);
  cases.run("hangs", [](CaseReporter &report) {
    report.passed("before");
    if (::write(STDERR_FILENO, "half a li", 9) == 9)
      while (true)
        ::pause();
  });
  EXPECT_EQ(findings.passes(), 1u);
  ASSERT_EQ(findings.failures().size(), 1u);
  EXPECT_EQ(findings.failures()[0].problem, Problem::Hang);
  EXPECT_NE(findings.failures()[0].text.find("it last complained: half a li"), std::string::npos)
      << findings.failures()[0].text;
}

} // namespace
