// A case in a process of its own, with a limit of time: after an error that sticks to a GPU's
// context, a crash or a hang the next case begins anew.
#ifndef GC_TOOLS_SELFTEST_CASEPROCESS_H
#define GC_TOOLS_SELFTEST_CASEPROCESS_H

#include "tools/selftest/CaseReporter.h"
#include "tools/selftest/Findings.h"

#include <functional>
#include <map>
#include <set>

class CaseRunner {
public:
  CaseRunner(Findings &findings, double limitSeconds);

  /// From now on only cases run whose names begin with one of these; the others are left out.
  void select(const std::vector<std::string> &beginnings) { only = beginnings; }

  /// Runs `body` in a child of this process and adds what it reports to the findings. A child that
  /// crashes, takes longer than the limit, or reports nothing adds a failure `name` with what it
  /// was doing. Returns what the case answered; null: nothing. This process must have one thread
  /// only, and no GPU in use. Once a child cannot even be killed, all further ones are skipped.
  CaseReporter::Json run(const std::string &name, const std::function<void(CaseReporter &)> &body);

  /// How many cases were among those to run.
  size_t selectedCases() const { return selected; }

  Findings &findings;

private:
  size_t selected = 0;
  double limitSeconds;
  std::vector<std::string> only; // empty: all
  bool isStuck = false;
  std::set<std::string> told; // what cases wrote to standard error: each line is told once
};

/// Bytes that one case leaves for a later one: in memory, so that nothing stays behind however the
/// processes end. Names are given before the first case runs.
class SharedFiles {
public:
  ~SharedFiles();
  SharedFiles() = default;
  SharedFiles(const SharedFiles &) = delete;
  SharedFiles &operator=(const SharedFiles &) = delete;

  /// False where the system has no memory for it.
  bool add(const std::string &name);
  /// Empty: nothing was written under that name, or it was never added. `path` is for whoever
  /// reads files only.
  std::string read(const std::string &name) const;
  std::string path(const std::string &name) const;
  /// Once for a name. False where it was never added, or memory is short: whoever reads it next
  /// makes it again.
  bool write(const std::string &name, const std::string &bytes) const;

private:
  int whole(const std::string &name) const;

  std::map<std::string, int> files;
};

#endif // GC_TOOLS_SELFTEST_CASEPROCESS_H
