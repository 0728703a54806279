#include "tools/selftest/CaseReporter.h"

#include <cerrno>
#include <cstdlib>
#include <unistd.h>

void CaseReporter::send(const Json &line) {
  std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (size_t sent = 0; sent < text.size();) {
    ssize_t count = ::write(fd, text.data() + sent, text.size() - sent);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      std::_Exit(1); // nobody listens any more
    sent += static_cast<size_t>(count);
  }
}

void CaseReporter::outcome(const char *kind, const std::string &name, const std::string &text,
                           Json facts) {
  Json line = {{"say", kind}, {"name", name}, {"text", text}};
  if (facts.is_object())
    line["facts"] = std::move(facts);
  send(line);
}

void CaseReporter::passed(const std::string &name, const std::string &text, Json facts) {
  outcome("passed", name, text, std::move(facts));
}
void CaseReporter::failed(const std::string &name, const std::string &why, Json facts) {
  outcome("failed", name, why, std::move(facts));
}
void CaseReporter::skipped(const std::string &name, const std::string &why) {
  outcome("skipped", name, why, {});
}
void CaseReporter::judge(bool isFine, const std::string &name, const std::string &text,
                         Json facts) {
  outcome(isFine ? "passed" : "wrong", name, text, std::move(facts));
}
void CaseReporter::note(const std::string &label, const std::string &text) {
  send({{"say", "note"}, {"name", label}, {"text", text}});
}
void CaseReporter::fact(const std::string &key, Json value) {
  send({{"say", "fact"}, {"name", key}, {"value", std::move(value)}});
}
void CaseReporter::doing(const std::string &what) { send({{"say", "doing"}, {"text", what}}); }
void CaseReporter::answer(Json value) { send({{"say", "answer"}, {"value", std::move(value)}}); }
