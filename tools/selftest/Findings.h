// What a self-test found: printed as it comes, counted, and kept as data for the file to send back.
#ifndef GC_TOOLS_SELFTEST_FINDINGS_H
#define GC_TOOLS_SELFTEST_FINDINGS_H

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

class Findings {
public:
  using Json = nlohmann::ordered_json;

  /// Begins a section; what follows belongs to it.
  void section(const std::string &name, const std::string &title);
  /// One case each. `facts` is an object: numbers that whoever reads the file may want.
  void passed(const std::string &name, const std::string &text = "", Json facts = {});
  void failed(const std::string &name, const std::string &why, Json facts = {});
  void skipped(const std::string &name, const std::string &why);
  /// As `isFine` says; the text is printed in both cases.
  void judge(bool isFine, const std::string &name, const std::string &text, Json facts = {});
  /// A line that is no case.
  void note(const std::string &label, const std::string &text);
  /// Data of the section as a whole.
  void fact(const std::string &key, Json value);

  size_t passes() const { return counts[0]; }
  size_t failures() const { return counts[1]; }
  size_t skips() const { return counts[2]; }
  /// "conformance: matmul.plain: why"; empty where nothing failed.
  const std::string &firstFailure() const { return first; }
  /// Ends the last section; all of them.
  Json finish();

private:
  enum Outcome { Passed, Failed, Skipped };
  void add(Outcome outcome, const std::string &name, const std::string &text, Json facts);
  void endSection();

  Json sections = Json::array(), current;
  std::chrono::steady_clock::time_point began;
  size_t counts[3] = {}, before[3] = {};
  std::string first;
};

#endif // GC_TOOLS_SELFTEST_FINDINGS_H
