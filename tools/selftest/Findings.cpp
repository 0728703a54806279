#include "tools/selftest/Findings.h"

#include <fmt/format.h>

#include <cstdio>

static const char *const words[] = {"ok", "FAILED", "skip"};
static const char *const keys[] = {"passed", "failed", "skipped"};

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
  current["cases"].push_back(std::move(one));
  fmt::print("{:<6} {}{}{}\n", words[outcome], name, text.empty() ? "" : ": ", text);
  std::fflush(stdout);
  if (outcome == Failed && first.empty())
    first = fmt::format("{}: {}: {}", current["name"].get<std::string>(), name, text);
}

void Findings::passed(const std::string &name, const std::string &text, Json facts) {
  add(Passed, name, text, std::move(facts));
}
void Findings::failed(const std::string &name, const std::string &why, Json facts) {
  add(Failed, name, why, std::move(facts));
}
void Findings::skipped(const std::string &name, const std::string &why) {
  add(Skipped, name, why, {});
}
void Findings::judge(bool isFine, const std::string &name, const std::string &text, Json facts) {
  add(isFine ? Passed : Failed, name, text, std::move(facts));
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
