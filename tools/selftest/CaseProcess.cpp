#include "tools/selftest/CaseProcess.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace {

using Clock = std::chrono::steady_clock;

/// What came of a case.
struct CaseEnd {
  bool isStuck = false;        // it could not even be killed
  CaseReporter::Json answer{}; // null: it gave none
};

/// How long a killed process may take to go. A driver that hangs may keep it for ever.
constexpr auto kPatience = std::chrono::seconds(10);
/// How long its pipes are read after that: what it said before is in them, and they are closed
/// when it goes.
constexpr auto kLastWords = std::chrono::seconds(2);

/// The parent's end of a pipe, read line by line.
class Lines {
public:
  explicit Lines(int fd) : fd(fd) {}
  Lines(const Lines &) = delete;
  Lines &operator=(const Lines &) = delete;
  ~Lines() { ::close(fd); }

  bool isOpen() const { return !ended; }
  pollfd waitFor() const { return {ended ? -1 : fd, POLLIN, 0}; }
  /// Takes what is there; `each` gets the lines that are whole.
  void take(const auto &each) {
    char piece[1 << 14];
    ssize_t count = ::read(fd, piece, sizeof(piece));
    if (count < 0 && errno == EINTR)
      return;
    if (count <= 0) {
      ended = true;
      if (!text.empty())
        each(std::exchange(text, ""));
      return;
    }
    text.append(piece, static_cast<size_t>(count));
    for (size_t line; (line = text.find('\n')) != std::string::npos; text.erase(0, line + 1))
      each(text.substr(0, line));
  }

private:
  int fd;
  bool ended = false;
  std::string text;
};

class Child {
public:
  Child(const std::string &name, Findings &findings, std::set<std::string> &told)
      : name(name), findings(findings), told(told) {}

  CaseEnd run(double limitSeconds, const std::function<void(CaseReporter &)> &body) {
    int said[2] = {-1, -1}, complained[2] = {-1, -1}; // the case's reports, its standard error
    if (::pipe2(said, O_CLOEXEC) != 0 || ::pipe2(complained, O_CLOEXEC) != 0) {
      ::close(said[0]);
      ::close(said[1]);
      findings.failed(name, Problem::Host, fmt::format("no pipe: {}", std::strerror(errno)));
      return {};
    }
    std::fflush(nullptr); // what is buffered here must not be printed by the child, too
    child = ::fork();
    if (child == 0) {
      ::close(said[0]);
      ::close(complained[0]);
      ::dup2(complained[1], STDERR_FILENO);
      ::close(complained[1]);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL); // no child outlives the self-test
      ::setpgid(0, 0);                    // Ctrl-C is for the parent
      CaseReporter reporter(said[1]);
      body(reporter);
      std::exit(0);
    }
    ::close(said[1]);
    ::close(complained[1]);
    Lines reports(said[0]), complaints(complained[0]);
    if (child < 0) {
      findings.failed(name, Problem::Host, fmt::format("no process: {}", std::strerror(errno)));
      return {};
    }
    listen(reports, complaints,
           Clock::now() + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(limitSeconds)));
    bury(limitSeconds);
    return std::move(end);
  }

private:
  /// Reads until the child has closed both pipes, or its time is over and it was killed.
  void listen(Lines &reports, Lines &complaints, Clock::time_point deadline) {
    while (reports.isOpen() || complaints.isOpen()) {
      auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) {
        if (isLate)
          return;
        isLate = true;
        killAll();
        deadline = Clock::now() + kLastWords;
        continue;
      }
      pollfd wait[] = {reports.waitFor(), complaints.waitFor()};
      if (::poll(wait, 2, static_cast<int>(std::min<long>(left, 60000))) <= 0)
        continue; // a signal, or only a minute over
      if (wait[0].revents)
        reports.take([&](const std::string &line) {
          hear(CaseReporter::Json::parse(line, nullptr, /*allow_exceptions=*/false));
        });
      if (wait[1].revents)
        complaints.take([&](const std::string &line) {
          if (!line.starts_with("note:"))
            complaint = line;
          if (told.insert(line).second) // what every case says is said once
            fmt::print(stderr, "{}\n", line);
        });
    }
  }

  void hear(const CaseReporter::Json &line) {
    if (!line.is_object())
      return;
    std::string say = line.value("say", ""), subject = line.value("name", ""),
                text = line.value("text", "");
    CaseReporter::Json facts = line.value("facts", CaseReporter::Json());
    hasOutcome |= say == "passed" || say == "failed" || say == "wrong" || say == "skipped";
    if (say == "passed")
      findings.passed(subject, text, facts);
    else if (say == "failed")
      findings.failed(subject, problemOf(text), text, facts);
    else if (say == "wrong")
      findings.failed(subject, Problem::WrongResult, text, facts);
    else if (say == "skipped")
      findings.skipped(subject, text);
    else if (say == "note")
      findings.note(subject, text);
    else if (say == "fact")
      findings.fact(subject, line.value("value", CaseReporter::Json()));
    else if (say == "doing")
      doing = text;
    else if (say == "answer")
      end.answer = line.value("value", CaseReporter::Json());
  }

  /// The child and what it started: an assembler, the process that plans.
  void killAll() const {
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL); // its group may not be its own yet
  }

  void bury(double limitSeconds) {
    int status = 0;
    auto patience = Clock::now() + kPatience;
    for (pid_t ended; (ended = ::waitpid(child, &status, WNOHANG)) <= 0;) {
      if (ended < 0 && errno != EINTR) {
        findings.failed(
            name, Problem::Host,
            fmt::format("how its process ended is not known: {}", std::strerror(errno)));
        return;
      }
      if (Clock::now() > patience) {
        if (!isLate) { // it closed its pipe and goes on: no case does that
          isLate = true;
          killAll();
          patience = Clock::now() + kPatience;
          continue;
        }
        end.isStuck = true;
        break;
      }
      ::usleep(2000);
    }
    std::string what = doing.empty() ? "" : fmt::format("; it was doing: {}", doing);
    if (!complaint.empty())
      what += "; it last complained: " + complaint;
    if (isLate)
      findings.failed(
          name, Problem::Hang,
          fmt::format("took longer than {:.0f} s and was {}{}", limitSeconds,
                      end.isStuck ? "killed, but the driver does not let it go" : "killed", what));
    else if (WIFSIGNALED(status))
      findings.failed(name, Problem::Crash,
                      fmt::format("was ended by signal {} ({}){}", WTERMSIG(status),
                                  ::strsignal(WTERMSIG(status)), what));
    else if (WEXITSTATUS(status) != 0)
      findings.failed(name, Problem::Crash,
                      fmt::format("ended with exit code {}{}", WEXITSTATUS(status), what));
    else if (!hasOutcome && end.answer.is_null())
      findings.failed(name, Problem::Crash, "ended without an outcome" + what);
  }

  const std::string &name;
  Findings &findings;
  pid_t child = -1;
  bool isLate = false, hasOutcome = false;
  std::string doing, complaint;
  std::set<std::string> &told;
  CaseEnd end;
};

} // namespace

CaseReporter::Json CaseRunner::run(const std::string &name,
                                   const std::function<void(CaseReporter &)> &body) {
  if (!only.empty() && std::none_of(only.begin(), only.end(), [&](const std::string &beginning) {
        return name.starts_with(beginning);
      }))
    return {};
  ++selected;
  if (isStuck) {
    findings.skipped(name, "a process before it hangs in the GPU's driver");
    return {};
  }
  CaseEnd end = Child(name, findings, told).run(limitSeconds, body);
  isStuck = end.isStuck;
  return std::move(end.answer);
}

// Whoever started us may have ignored it, which execve keeps: then the system buries children, and
// nobody learns how they ended.
CaseRunner::CaseRunner(Findings &findings, double limitSeconds)
    : findings(findings), limitSeconds(limitSeconds) {
  std::signal(SIGCHLD, SIG_DFL);
}

SharedFiles::~SharedFiles() {
  for (const auto &[name, fd] : files)
    ::close(fd);
}

bool SharedFiles::add(const std::string &name) {
  int fd = ::memfd_create(name.c_str(), MFD_ALLOW_SEALING);
  if (fd >= 0)
    files[name] = fd;
  return fd >= 0;
}

/// A whole file is sealed: what a killed process left half-written counts as not written.
static constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

int SharedFiles::whole(const std::string &name) const {
  auto found = files.find(name);
  bool isWhole = found != files.end() && (::fcntl(found->second, F_GET_SEALS) & kSeals) == kSeals;
  return isWhole ? found->second : -1;
}

std::string SharedFiles::path(const std::string &name) const {
  int fd = whole(name);
  return fd < 0 ? "" : fmt::format("/proc/self/fd/{}", fd);
}

std::string SharedFiles::read(const std::string &name) const {
  int fd = whole(name);
  std::string bytes(fd < 0 ? 0 : static_cast<size_t>(::lseek(fd, 0, SEEK_END)), '\0');
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return "";
    done += static_cast<size_t>(count);
  }
  return bytes;
}

bool SharedFiles::write(const std::string &name, const std::string &bytes) const {
  auto found = files.find(name);
  if (found == files.end() || ::ftruncate(found->second, 0) != 0)
    return false;
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count =
        ::pwrite(found->second, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    done += static_cast<size_t>(count);
  }
  return ::fcntl(found->second, F_ADD_SEALS, kSeals) == 0;
}
