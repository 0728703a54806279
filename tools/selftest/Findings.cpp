#include "tools/selftest/Findings.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace gc::runtime;

static const char *const words[] = {"ok", "FAILED", "skip"};
static const char *const keys[] = {"passed", "failed", "skipped"};

Findings::~Findings() {
  if (progress >= 0)
    ::close(progress);
}

Status Findings::appendTo(const std::string &path, const Json &first) {
  progress = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (progress < 0)
    return badInput(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  append(first);
  return {};
}

void Findings::append(const Json &line) {
  if (progress < 0)
    return;
  std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (::write(progress, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    fmt::print(stderr, "gc-run: warning: the file of cases cannot be written any more: {}\n",
               std::strerror(errno));
    ::close(progress);
    progress = -1;
    return;
  }
  ::fdatasync(progress); // a machine that hangs loses no case that is over
}

void Findings::section(const std::string &name, const std::string &title) {
  endSection();
  current = {{"name", name}, {"cases", Json::array()}};
  began = std::chrono::steady_clock::now();
  std::copy(std::begin(counts), std::end(counts), before);
  fmt::print("\n== {}\n", title);
  std::fflush(stdout);
}

void Findings::endSection() {
  if (current.is_null())
    return;
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  current["seconds"] = seconds.count();
  std::string summary;
  for (int i = 0; i < 3; ++i) {
    size_t count = counts[i] - before[i];
    current[keys[i]] = count;
    summary += fmt::format("{}{} {}", i ? ", " : "", count, keys[i]);
  }
  fmt::print("   {} in {:.1f} s\n", summary, seconds.count());
  sections.push_back(std::move(current));
  current = nullptr;
}

void Findings::add(Outcome outcome, const std::string &name, const std::string &text, Json facts) {
  ++counts[outcome];
  Json one = {{"name", name}, {"outcome", keys[outcome]}};
  if (!text.empty())
    one["text"] = text;
  if (facts.is_object())
    one.update(facts);
  Json line = {{"section", current["name"]}};
  line.update(one);
  append(line);
  current["cases"].push_back(std::move(one));
  fmt::print("{:<6} {}{}{}\n", words[outcome], name, text.empty() ? "" : ": ", text);
  std::fflush(stdout);
}

void Findings::passed(const std::string &name, const std::string &text, Json facts) {
  add(Passed, name, text, std::move(facts));
}
void Findings::failed(const std::string &name, Problem problem, const std::string &why,
                      Json facts) {
  if (!facts.is_object())
    facts = Json::object();
  facts["problem"] = problemName(problem);
  add(Failed, name, why, std::move(facts));
  allFailures.push_back({current["name"].get<std::string>(), name, problem, why});
}
void Findings::skipped(const std::string &name, const std::string &why) {
  add(Skipped, name, why, {});
}
void Findings::note(const std::string &label, const std::string &text) {
  fmt::print("{:<22} {}\n", label, text);
  std::fflush(stdout);
}

void Findings::fact(const std::string &key, Json value) { current[key] = std::move(value); }

Findings::Json Findings::finish() {
  endSection();
  return std::move(sections);
}
