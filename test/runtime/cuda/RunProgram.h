// Programs in processes of their own, with the emulated driver's settings in the environment.
#ifndef GC_TEST_RUNTIME_CUDA_RUNPROGRAM_H
#define GC_TEST_RUNTIME_CUDA_RUNPROGRAM_H

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace gc::test {

struct Outcome {
  int exitCode = -1; ///< 124: it hung
  std::string output;
};

/// `environment`: "A=1 B=2". The program is one of the build's, with arguments.
inline Outcome runProgram(const std::string &environment, const std::string &program,
                          const std::string &libraries = GC_EMULATOR) {
  std::string command = "env LD_LIBRARY_PATH=" + libraries + " GC_EMULATOR_LOG=/dev/null " +
                        environment + " timeout 60 " GC_BIN "/" + program + " 2>&1";
  Outcome outcome;
  std::FILE *pipe = ::popen(command.c_str(), "r");
  if (!pipe)
    return outcome;
  char text[4096];
  for (size_t got; (got = std::fread(text, 1, sizeof(text), pipe)) > 0;)
    outcome.output.append(text, got);
  int status = ::pclose(pipe);
  outcome.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

inline std::string temporary(const std::string &name) {
  return testing::TempDir() + "gc-cuda-" + std::to_string(::getpid()) + "-" + name;
}

inline std::string contents(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace gc::test

#endif // GC_TEST_RUNTIME_CUDA_RUNPROGRAM_H
