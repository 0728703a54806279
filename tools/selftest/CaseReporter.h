// What a case of the self-test says while it runs in a process of its own: lines of JSON through a
// pipe, so that whatever it said before a crash or a hang has arrived.
#ifndef GC_TOOLS_SELFTEST_CASEREPORTER_H
#define GC_TOOLS_SELFTEST_CASEREPORTER_H

#include <nlohmann/json.hpp>
#include <string>

class CaseReporter {
public:
  using Json = nlohmann::ordered_json;

  /// Writes to the pipe `fd`, which stays the caller's.
  explicit CaseReporter(int fd) : fd(fd) {}

  /// One outcome each. `facts` is an object: numbers that whoever reads the file may want.
  void passed(const std::string &name, const std::string &text = "", Json facts = {});
  void failed(const std::string &name, const std::string &why, Json facts = {});
  void skipped(const std::string &name, const std::string &why);
  /// As `isFine` says; the text is printed in both cases. Not fine is a wrong result.
  void judge(bool isFine, const std::string &name, const std::string &text, Json facts = {});
  /// A line that is no case.
  void note(const std::string &label, const std::string &text);
  /// Data of the section as a whole.
  void fact(const std::string &key, Json value);
  /// What is about to run, for the message where it never ends.
  void doing(const std::string &what);
  /// For the parent alone: neither printed nor kept.
  void answer(Json value);

private:
  void send(const Json &line);
  void outcome(const char *kind, const std::string &name, const std::string &text, Json facts);

  int fd;
};

#endif // GC_TOOLS_SELFTEST_CASEREPORTER_H
