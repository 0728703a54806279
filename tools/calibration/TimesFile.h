// The file in which the times of ops in earlier runs are kept, beside the machine's rates.
#ifndef GC_TOOLS_CALIBRATION_TIMESFILE_H
#define GC_TOOLS_CALIBRATION_TIMESFILE_H

#include "runtime/Error.h"
#include "runtime/report/OpTimes.h"
#include "tools/calibration/MachineKey.h"

#include <map>
#include <string>
#include <vector>

/// Counts changes of what the file holds or how ops are named in it.
constexpr int kTimesVersion = 1;
/// Runs of an op that are remembered: the last ones.
constexpr size_t kRunsOfAnOp = 5;
/// Ops that are remembered: those that ran last. A large network has some hundred.
constexpr size_t kMostOps = 5000;

class TimesFile {
public:
  TimesFile(const std::string &folder, MachineKey key);

  const std::string &path() const { return path_; }

  /// Seconds of each op, the median over its remembered runs. Empty where there is no file;
  /// `fault` says why where there is one that cannot be used.
  std::map<std::string, double> read(std::string &fault) const;

  /// Remembers one more run. A file that cannot be used is begun anew.
  gc::runtime::Status add(const std::vector<gc::runtime::OpTime> &times) const;

private:
  struct Op {
    std::string work;
    std::vector<double> seconds; // of runs, the last one at the end
  };
  std::vector<Op> readOps(std::string &fault) const; // that ran last at the end

  MachineKey key;
  std::string path_;
};

#endif // GC_TOOLS_CALIBRATION_TIMESFILE_H
