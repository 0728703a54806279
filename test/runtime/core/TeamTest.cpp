// OpenMP gives teams of another size than planned: nothing may be computed then.
#include "runtime/hal/cpu/library/Team.h"
#include "runtime/hal/Registry.h"
#include "runtime/hal/cpu/library/Library.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <vector>

using namespace gc::runtime;

namespace {

int teamOf(int threads) {
  int team = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  team = omp_get_num_threads();
  return team;
}

} // namespace

TEST(Team, OverrulesTheEnvironment) {
  omp_set_dynamic(1); // as OMP_DYNAMIC=true
  omp_set_max_active_levels(0);
  EXPECT_EQ(teamOf(2), 1);
  EXPECT_FALSE(cpu::checkTeam(2));
  cpu::requestTeam(2);
  EXPECT_TRUE(cpu::checkTeam(2));
  EXPECT_EQ(teamOf(2), 2);
}

TEST(Team, SaysWhatStandsInTheWay) {
  cpu::requestTeam(2);
  auto expect = [](const char *part) {
    Status team = cpu::checkTeam(2);
    ASSERT_FALSE(team);
    EXPECT_EQ(team.error().exitCode(), 4);
    EXPECT_NE(team.error().message.find(part), std::string::npos) << team.error().message;
  };
  omp_set_dynamic(1);
  expect("OMP_DYNAMIC");
  cpu::requestTeam(2);
  omp_set_max_active_levels(0);
  expect("OMP_MAX_ACTIVE_LEVELS");
  cpu::requestTeam(2);
  Status inside;
#pragma omp parallel num_threads(2)
#pragma omp single
  inside = cpu::checkTeam(2);
  ASSERT_FALSE(inside);
  EXPECT_NE(inside.error().message.find("inside a parallel region"), std::string::npos);
  EXPECT_TRUE(cpu::checkTeam(1)); // needs nobody
}

TEST(Team, IsStartedWithAllItsThreads) {
  for (int threads : {1, 2, 5}) {
    auto device = hal::createDevice("cpu", {.threads = threads});
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ(teamOf(threads), threads);
  }
}

// A product that was cut in two parts and is executed by one thread would leave one part out.
TEST(Team, LibraryCallsRefuseAnother) {
  cpu::requestTeam(2);
  cpu::MatMulSpec s;
  s.m = s.n = s.k = 64, s.a_strides = s.b_strides = s.c_strides = {64, 1};
  auto call = cpu::MatMulCall::create(s);
  ASSERT_TRUE(call) << call.error().message;
  std::vector<float> a(64 * 64, 1), b(64 * 64, 1), c(64 * 64);
  std::vector<std::max_align_t> workspace((*call)->workspaceBytes() / sizeof(std::max_align_t) + 8);
  cpu::MatMulPointers p{a.data(), b.data(), c.data(), nullptr, nullptr, workspace.data()};
  omp_set_max_active_levels(0);
  Status refused = (*call)->execute(p);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exitCode(), 4);
  cpu::requestTeam(2);
  EXPECT_TRUE((*call)->execute(p));
  EXPECT_EQ(c, std::vector<float>(64 * 64, 64));
}
