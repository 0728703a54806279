// The file in which a machine's rates are kept: what gc-run --calibrate writes, and what they are
// of. --costs reads it, too.
#ifndef GC_TOOLS_CALIBRATION_RATESFILE_H
#define GC_TOOLS_CALIBRATION_RATESFILE_H

#include "runtime/Error.h"
#include "tools/calibration/MachineKey.h"

#include <string>

/// Counts changes of what is measured or how it is fitted: rates of another version are measured
/// again.
constexpr int kRatesVersion = 1;

class RatesFile {
public:
  RatesFile(const std::string &folder, MachineKey key);

  const std::string &path() const { return path_; }

  /// What was found: rates, or nothing, or a file that cannot be used and why.
  struct Content {
    std::string rates, fault;
    /// They were measured while other work went on, and that was some minutes ago: it may be over.
    bool isWorthRepeating = false;
  };
  Content read() const;

  gc::runtime::Status write(const std::string &rates) const;

private:
  MachineKey key;
  std::string path_;
};

#endif // GC_TOOLS_CALIBRATION_RATESFILE_H
