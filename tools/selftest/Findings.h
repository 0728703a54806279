// What a self-test found: printed as it comes, counted, appended to a file at once, and kept as
// data for the report to send back.
#ifndef GC_TOOLS_SELFTEST_FINDINGS_H
#define GC_TOOLS_SELFTEST_FINDINGS_H

#include "runtime/Error.h"
#include "tools/selftest/Advice.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

class Findings {
public:
  using Json = nlohmann::ordered_json;
  struct Failure {
    std::string section, name; // "conformance", "matmul.plain"
    Problem problem = Problem::Unknown;
    std::string text;
    std::string whole() const { return section + ": " + name; }
  };

  ~Findings();
  Findings() = default;
  Findings(const Findings &) = delete;
  Findings &operator=(const Findings &) = delete;

  /// From now on each case is a line of JSON at the end of `path`, on the disk before the next one
  /// begins. `first` is the first line. Fails (bad input) where the file cannot be made.
  gc::runtime::Status appendTo(const std::string &path, const Json &first);

  /// Begins a section; what follows belongs to it.
  void section(const std::string &name, const std::string &title);
  /// One case each. `facts` is an object: numbers that whoever reads the file may want.
  void passed(const std::string &name, const std::string &text = "", Json facts = {});
  void failed(const std::string &name, Problem problem, const std::string &why, Json facts = {});
  void skipped(const std::string &name, const std::string &why);
  /// A line that is no case.
  void note(const std::string &label, const std::string &text);
  /// Data of the section as a whole.
  void fact(const std::string &key, Json value);

  size_t passes() const { return counts[0]; }
  size_t skips() const { return counts[2]; }
  const std::vector<Failure> &failures() const { return allFailures; }
  /// Ends the last section; all of them.
  Json finish();

private:
  enum Outcome { Passed, Failed, Skipped };
  void add(Outcome outcome, const std::string &name, const std::string &text, Json facts);
  void append(const Json &line);
  void endSection();

  Json sections = Json::array(), current;
  std::chrono::steady_clock::time_point began;
  size_t counts[3] = {}, before[3] = {};
  std::vector<Failure> allFailures;
  int progress = -1; // the file that cases are appended to; -1: none
};

#endif // GC_TOOLS_SELFTEST_FINDINGS_H
