// What is kept about a machine: JSON that says of which one.
#ifndef GC_TOOLS_CALIBRATION_KEPTFILE_H
#define GC_TOOLS_CALIBRATION_KEPTFILE_H

#include "runtime/Error.h"
#include "tools/calibration/MachineKey.h"

#include <nlohmann/json.hpp>

#include <string>

struct KeptFile {
  using Json = nlohmann::ordered_json;
  Json content;      // null: there is no file, or it cannot be used
  std::string text;  // of the file
  std::string fault; // why it cannot be used; empty where all is well or there is none
};
KeptFile readKeptFile(const std::string &path, int version, const MachineKey &key);

/// Writes an object, whole or not at all, so that processes that do so at the same time do not
/// disturb each other: the last one stays.
gc::runtime::Status writeKeptFile(const std::string &path, int version, const MachineKey &key,
                                  const KeptFile::Json &content);

#endif // GC_TOOLS_CALIBRATION_KEPTFILE_H
