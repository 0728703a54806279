#include "runtime/report/MetricFiles.h"

#include "runtime/process/AtomicFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace gc::runtime {

static constexpr std::string_view kHeader =
    "step,epoch,split,loss,accuracy,top5,learning_rate,seconds\n";

/// The step of a line of either file; nothing where it is none of ours.
static std::optional<uint64_t> stepOf(std::string_view line) {
  constexpr std::string_view key = "{\"step\":";
  if (line.starts_with(key))
    line.remove_prefix(key.size());
  uint64_t step = 0;
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
  if (error != std::errc() || end == line.data() + line.size() || *end != ',')
    return std::nullopt;
  return step;
}

/// The whole lines of the steps up to `from`.
static std::string keptLines(const std::string &path, uint64_t from) {
  std::ifstream in(path, std::ios::binary);
  std::string line, kept;
  while (from > 0 && std::getline(in, line) && !in.eof())
    if (std::optional<uint64_t> step = stepOf(line); step && *step <= from)
      kept += line + "\n";
  return kept;
}

Result<MetricFiles> MetricFiles::open(const std::string &directory, uint64_t from) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  MetricFiles metrics;
  for (auto [file, name] :
       {std::pair(&metrics.files[0], kMetricsCsv), std::pair(&metrics.files[1], kMetricsJson)}) {
    file->path = (std::filesystem::path(directory) / name).string();
    std::string kept = keptLines(file->path, from);
    if (name == kMetricsCsv)
      kept.insert(0, kHeader);
    if (Status written = writeFileAtomically(file->path, kept); !written)
      return written.error();
    file->descriptor = ::open(file->path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file->descriptor < 0)
      return badInput(fmt::format("cannot write '{}': {}", file->path, std::strerror(errno)));
  }
  return metrics;
}

MetricFiles::MetricFiles(MetricFiles &&other) noexcept : files(std::exchange(other.files, {})) {}

MetricFiles::~MetricFiles() {
  for (File &file : files)
    if (file.descriptor >= 0)
      ::close(file.descriptor);
}

static std::string csvLine(const MetricRow &row) {
  auto cell = [](const std::optional<double> &value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  return fmt::format("{},{},{},{},{},{},{},{}\n", row.step, row.epoch, row.split, row.loss,
                     cell(row.accuracy), cell(row.topFive), cell(row.learningRate), row.seconds);
}

static std::string jsonLine(const MetricRow &row) {
  using Line = nlohmann::ordered_json;
  auto orNull = [](const std::optional<double> &value) {
    return value && std::isfinite(*value) ? Line(*value) : Line();
  };
  return Line({{"step", row.step},
               {"epoch", row.epoch},
               {"split", row.split},
               {"loss", orNull(row.loss)},
               {"accuracy", orNull(row.accuracy)},
               {"top5", orNull(row.topFive)},
               {"learning_rate", orNull(row.learningRate)},
               {"seconds", row.seconds}})
             .dump() +
         "\n";
}

Status MetricFiles::add(const MetricRow &row) {
  for (auto [file, line] :
       {std::pair(&files[0], csvLine(row)), std::pair(&files[1], jsonLine(row))}) {
    ssize_t written;
    do
      written = ::write(file->descriptor, line.data(), line.size());
    while (written < 0 && errno == EINTR);
    if (written != static_cast<ssize_t>(line.size()))
      return runFailed(fmt::format("writing '{}' failed: {}", file->path,
                                   written < 0 ? std::strerror(errno) : "the disk is full"));
  }
  return {};
}

} // namespace gc::runtime
