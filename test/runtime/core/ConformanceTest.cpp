#include "runtime/hal/conformance/Conformance.h"

#include <gtest/gtest.h>

using namespace gc::runtime::conformance;

class Conformance : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Conformance, Case) {
  auto [device, name] = GetParam();
  CaseResult result = runCase(name, device, 2);
  EXPECT_TRUE(result.passed) << result.message;
}

INSTANTIATE_TEST_SUITE_P(Devices, Conformance,
                         testing::Combine(testing::Values("null", "cpu"),
                                          testing::ValuesIn(caseNames("cpu"))),
                         [](const auto &info) {
                           std::string name =
                               std::get<0>(info.param) + "_" + std::get<1>(info.param);
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

TEST(ConformanceSuite, UnknownCaseFails) { EXPECT_FALSE(runCase("nonsense", "cpu").passed); }
TEST(ConformanceSuite, UnknownDeviceFails) {
  EXPECT_FALSE(runCase(caseNames("cpu").front(), "toaster").passed);
}
