//===- PlannerProcess.cpp - a program that answers lines ------------------===//
#include "compiler/cuda/library/PlannerProcess.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace gc::cuda {

// Far above what any graph takes; a library that waits for something would wait forever.
constexpr int timeoutMilliseconds = 300'000;

bool PlannerProcess::start(const std::string &program, std::string &reason) {
  stop();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    reason = std::string("cannot create a socket: ") + std::strerror(errno);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  char *arguments[] = {const_cast<char *>(program.c_str()), nullptr};
  int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  socket = ends[0];
  if (error != 0) {
    pid = -1;
    stop();
    reason = "cannot start " + program + ": " + std::strerror(error);
    return false;
  }
  return true;
}

void PlannerProcess::stop() {
  if (pid > 0)
    kill(pid, SIGKILL); // deep inside the library it would see no closed socket
  reap();
}

std::string PlannerProcess::reap() {
  if (socket >= 0)
    close(socket);
  socket = -1;
  received.clear();
  if (pid <= 0)
    return "";
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  pid = -1;
  if (WIFSIGNALED(status))
    return strsignal(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

std::optional<std::string> PlannerProcess::ask(const std::string &line, std::string &reason) {
  std::string text = line + '\n';
  for (size_t sent = 0; sent < text.size();) {
    ssize_t count = send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      break; // what follows finds out how the child ended
    sent += count;
  }
  for (;;) {
    if (size_t end = received.find('\n'); end != std::string::npos) {
      std::string answer = received.substr(0, end);
      received.erase(0, end + 1);
      return answer;
    }
    pollfd waiting{socket, POLLIN, 0};
    int ready = poll(&waiting, 1, timeoutMilliseconds);
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0) {
      stop();
      reason = "the planner gave no answer in " + std::to_string(timeoutMilliseconds / 1000) + " s";
      return std::nullopt;
    }
    char buffer[1 << 16];
    ssize_t count = recv(socket, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      reason = "the planner ended: " + reap();
      return std::nullopt;
    }
    received.append(buffer, count);
  }
}

} // namespace gc::cuda
