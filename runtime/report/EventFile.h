// TensorBoard's event files: records of scalars, each framed with its length and masked CRC-32C.
#ifndef GC_RUNTIME_REPORT_EVENTFILE_H
#define GC_RUNTIME_REPORT_EVENTFILE_H

#include "runtime/Error.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace gc::runtime {

/// CRC-32C (Castagnoli) of the bytes.
uint32_t crc32c(std::string_view bytes);

/// Move-only; owns the open file. Records are flushed as they come, so that a crash loses none.
class EventFile {
public:
  /// Creates the directory where it is missing, and a new file in it.
  static Result<EventFile> create(const std::string &directory);
  EventFile(EventFile &&other) noexcept;
  EventFile &operator=(EventFile &&) = delete;
  ~EventFile();

  Status scalar(std::string_view tag, uint64_t step, float value);

private:
  EventFile() = default;
  Status record(std::string_view event);
  std::string path;
  std::FILE *file = nullptr;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_EVENTFILE_H
