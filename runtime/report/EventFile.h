// TensorBoard's event files: records of scalars, histograms, texts and hyper-parameters, each
// framed with its length and masked CRC-32C.
#ifndef GC_RUNTIME_REPORT_EVENTFILE_H
#define GC_RUNTIME_REPORT_EVENTFILE_H

#include "runtime/Error.h"
#include "runtime/report/Histogram.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

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
  Status histogram(std::string_view tag, uint64_t step, const Histogram &histogram);
  /// Markdown.
  Status text(std::string_view tag, uint64_t step, std::string_view markdown);

  using HyperParameter = std::pair<std::string, std::variant<bool, double, std::string>>;
  /// At the beginning, for the page that compares runs.
  Status sessionStart(const std::vector<HyperParameter> &parameters);
  /// At the end; a run that was killed has none, and counts as running.
  Status sessionEnd(bool isSuccess);

private:
  EventFile() = default;
  /// The only value of a summary at a step.
  Status summary(uint64_t step, std::string_view value);
  Status record(std::string_view event);
  std::string path;
  std::FILE *file = nullptr;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_EVENTFILE_H
