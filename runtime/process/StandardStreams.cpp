#include "runtime/process/StandardStreams.h"

#include "runtime/process/Interrupt.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace gc::runtime {

void prepareProcess() {
  // Read-only: whoever reads finds the end, whoever writes fails. open() takes the lowest free
  // number.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF && ::open("/dev/null", O_RDONLY) != stream)
      ::_exit(exits::RunFailed); // no /dev/null and nobody to tell
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  endOnInterrupts();
}

int finishStandardOutput(const char *tool, int exitCode, PrintedText text) {
  bool failed = std::fflush(stdout) != 0;
  int reason = errno;
  if (!failed && std::ferror(stdout)) {
    // It failed before and its reason is gone; one more byte fails for the same reason.
    failed = true;
    std::clearerr(stdout);
    reason = std::fputc('\n', stdout) == EOF || std::fflush(stdout) != 0 ? errno : EIO;
  }
  if (!failed || exitCode != 0)
    return exitCode;
  if (reason == EPIPE)
    return interruptExitCode(SIGPIPE);
  if (reason == EBADF && text == PrintedText::TellsAboutFiles)
    return exits::Done; // closed by whoever started the tool, and nothing that was asked for is
                        // lost
  std::fprintf(stderr, "%s: cannot write to standard output: %s\n", tool, std::strerror(reason));
  return exits::RunFailed;
}

} // namespace gc::runtime
