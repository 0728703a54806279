// What the self-test advises, and what docs/gpus.md says that it advises.
#include "tools/selftest/Advice.h"

#include <fstream>
#include <gtest/gtest.h>
#include <vector>

namespace {

/// Rows of the table below `header`, as they are written.
std::vector<std::string> rowsBelow(const std::string &header) {
  std::ifstream file(GC_DOCS_DIR "/gpus.md");
  std::vector<std::string> rows;
  std::string line;
  while (std::getline(file, line) && line != header) {
  }
  std::getline(file, line); // |---|---|
  while (std::getline(file, line) && line.starts_with("|"))
    rows.push_back(line);
  return rows;
}

/// A table has no bare bars in its cells.
std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

TEST(Advice, TheDocsHaveTheWordsOfTheProgram) {
  std::vector<std::string> expected;
  for (size_t i = 0; i < kProblems; ++i) {
    auto problem = static_cast<Problem>(i);
    expected.push_back("| " + cell(problemText(problem)) + " | " + cell(nextStep(problem)) + " |");
  }
  EXPECT_EQ(rowsBelow("| seen | next step |"), expected);
}

TEST(Advice, MessagesAreToldApart) {
  const std::pair<const char *, Problem> cases[] = {
      {"cuMemAlloc failed for an arena: CUDA_ERROR_OUT_OF_MEMORY: out of memory", Problem::Memory},
      {"cuInit failed: CUDA_ERROR_UNKNOWN: unknown error", Problem::NotReady},
      {"cuInit failed: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: x", Problem::NotReady},
      {"cuDevicePrimaryCtxRetain failed: CUDA_ERROR_DEVICE_UNAVAILABLE: x", Problem::NotReady},
      {"cuLaunchKernel failed: CUDA_ERROR_INVALID_VALUE: invalid argument", Problem::Refused},
      {"cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_PTX: x", Problem::Refused},
      {"cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_IMAGE: x", Problem::OldDriver},
      {"cuEventSynchronize failed: CUDA_ERROR_INVALID_PC: x", Problem::KernelFault},
      {"cuEventSynchronize failed: CUDA_ERROR_UNKNOWN: unknown error", Problem::Device},
      {"cudnnCreate failed for cuDNN: CUDNN_STATUS_NOT_INITIALIZED", Problem::Library},
      {"the CUDA driver finds no GPU (cuInit: CUDA_ERROR_NO_DEVICE)", Problem::Unknown},
      {"item 0 is 1, expected 2", Problem::Unknown}};
  for (auto [message, problem] : cases)
    EXPECT_STREQ(problemName(problemOf(message)), problemName(problem)) << message;
}

TEST(Advice, ACrashedCaseCanBeRunAlone) {
  std::string advice = nextStep(Problem::Crash, "conformance", "dispatch.two");
  EXPECT_NE(advice.find("--selftest-sections=conformance --selftest-only=dispatch.two --report="),
            std::string::npos)
      << advice;
  advice = nextStep(Problem::Crash, "device", "open");
  EXPECT_NE(advice.find("--selftest-sections=device --report="), std::string::npos) << advice;
  EXPECT_EQ(nextStep(Problem::Hang, "device", "open"), nextStep(Problem::Hang));
}

} // namespace
