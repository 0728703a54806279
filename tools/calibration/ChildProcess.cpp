#include "tools/calibration/ChildProcess.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gc::runtime;

/// The first byte of what the child says.
constexpr char kDone = '+', kFailed = '-';

[[noreturn]] static void beChild(int said, const std::function<Result<std::string>()> &work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL); // it is of no use without its parent
  Result<std::string> result = work();
  std::string text = result ? kDone + *result : kFailed + result.error().message;
  for (size_t done = 0; done < text.size();) {
    ssize_t count = ::write(said, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR)
      break;
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  ::_exit(0);
}

/// All that comes until the other end is closed; false where that takes too long.
static bool readAll(int fd, int limitSeconds, std::string &text) {
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::seconds(limitSeconds);
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      return false;
    pollfd wait = {fd, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left.count())) <= 0)
      continue; // a signal, or the end of the time
    char piece[1 << 12];
    ssize_t count = ::read(fd, piece, sizeof(piece));
    if (count == 0 || (count < 0 && errno != EINTR))
      return true;
    text.append(piece, count > 0 ? static_cast<size_t>(count) : 0);
  }
}

Result<std::string> inChildProcess(const std::function<Result<std::string>()> &work,
                                   int limitSeconds) {
  int said[2];
  if (::pipe2(said, O_CLOEXEC) != 0)
    return runFailed(fmt::format("no pipe: {}", std::strerror(errno)));
  std::fflush(nullptr); // what is buffered here must not be printed by the child, too
  pid_t child = ::fork();
  if (child == 0) {
    ::close(said[0]);
    beChild(said[1], work);
  }
  int forkError = errno;
  ::close(said[1]);
  if (child < 0) {
    ::close(said[0]);
    return runFailed(fmt::format("no process: {}", std::strerror(forkError)));
  }
  std::string text;
  bool inTime = readAll(said[0], limitSeconds, text);
  ::close(said[0]);
  if (!inTime)
    ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!inTime)
    return runFailed(fmt::format("it took more than {} s", limitSeconds));
  if (WIFSIGNALED(status))
    return runFailed(fmt::format("its process was ended by signal {}", WTERMSIG(status)));
  if (text.empty() || (text[0] != kDone && text[0] != kFailed))
    return runFailed(fmt::format("its process ended with code {}", WEXITSTATUS(status)));
  if (text[0] == kFailed)
    return runFailed(text.substr(1));
  return text.substr(1);
}
