//===- PlannerProcess.h - a program that answers lines ----------*- C++ -*-===//
#ifndef GC_COMPILER_CUDA_LIBRARY_PLANNERPROCESS_H
#define GC_COMPILER_CUDA_LIBRARY_PLANNERPROCESS_H

#include <optional>
#include <string>
#include <sys/types.h>

namespace gc::cuda {

/// A child whose standard input and output are one socket. It ends when this object does.
class PlannerProcess {
public:
  PlannerProcess() = default;
  PlannerProcess(const PlannerProcess &) = delete;
  PlannerProcess &operator=(const PlannerProcess &) = delete;
  ~PlannerProcess() { stop(); }

  /// False, and `reason` set, if the program cannot be started.
  bool start(const std::string &program, std::string &reason);
  bool running() const { return pid > 0; }
  /// Sends a line and waits for one; nothing, and `reason` set, if the child ended or is stuck. It
  /// has to be started anew then.
  std::optional<std::string> ask(const std::string &line, std::string &reason);

private:
  void stop();
  std::string reap(); // waits; how it ended
  pid_t pid = -1;
  int socket = -1;
  std::string received;
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARY_PLANNERPROCESS_H
