#include "runtime/report/EventFile.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <unistd.h>
#include <utility>

namespace gc::runtime {

namespace fs = std::filesystem;

static constexpr std::array<uint32_t, 256> makeCrcTable() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = value & 1 ? (value >> 1) ^ 0x82f63b78u : value >> 1;
    table[byte] = value;
  }
  return table;
}

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> table = makeCrcTable();
  uint32_t crc = ~0u;
  for (char c : bytes)
    crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

/// A checksum of checksums would be weak, so the format rotates them and adds a constant.
static uint32_t masked(std::string_view bytes) {
  uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

template <class T> static void appendRaw(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

static void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// Protocol buffers by hand; a tag is (field number << 3) | wire type: 0 a number, 1 eight bytes, 2
// bytes with their length, 5 four bytes.
static constexpr char tagOf(int field, int wire) { return static_cast<char>(field << 3 | wire); }

static void appendNumber(std::string &out, int field, uint64_t value) {
  out.push_back(tagOf(field, 0));
  appendVarint(out, value);
}

static void appendDouble(std::string &out, int field, double value) {
  out.push_back(tagOf(field, 1));
  appendRaw(out, value);
}

static void appendBytes(std::string &out, int field, std::string_view bytes) {
  out.push_back(tagOf(field, 2));
  appendVarint(out, bytes.size());
  out.append(bytes);
}

static double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The fields that we write, by message.
namespace field {
enum Event { WallTime = 1, Step = 2, FileVersion = 3, Summary = 5 };
enum SummaryValue { Tag = 1, SimpleValue = 2, Histogram = 5, Tensor = 8, Metadata = 9 };
enum HistogramProto { Min = 1, Max = 2, Count = 3, Sum = 4, Squares = 5, Limits = 6, Buckets = 7 };
enum TensorProto { Dtype = 1, Shape = 2, Strings = 8 };
enum PluginData { Name = 1, Content = 2 };
enum HparamsData { Version = 1, SessionStart = 3, SessionEnd = 4 };
enum StructValue { Number = 2, String = 3, Bool = 4 };
} // namespace field

static std::string eventAt(uint64_t step) {
  std::string event;
  appendDouble(event, field::WallTime, now());
  appendNumber(event, field::Step, step);
  return event;
}

Result<EventFile> EventFile::create(const std::string &directory) {
  std::error_code failure;
  fs::create_directories(directory, failure);
  EventFile log;
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  log.path =
      (fs::path(directory) / fmt::format("events.out.tfevents.{:010}.gc.{}", seconds, ::getpid()))
          .string();
  log.file = std::fopen(log.path.c_str(), "wbe");
  if (!log.file)
    return badInput(fmt::format("cannot write '{}': {}; --log-dir needs a directory that you may "
                                "write to",
                                log.path, std::strerror(errno)));
  std::string event = eventAt(0);
  appendBytes(event, field::FileVersion, "brain.Event:2");
  if (Status written = log.record(event); !written)
    return written.error();
  return log;
}

EventFile::EventFile(EventFile &&other) noexcept
    : path(std::move(other.path)), file(std::exchange(other.file, nullptr)) {}

EventFile::~EventFile() {
  if (file)
    std::fclose(file);
}

Status EventFile::summary(uint64_t step, std::string_view value) {
  std::string summary;
  appendBytes(summary, 1, value);
  std::string event = eventAt(step);
  appendBytes(event, field::Summary, summary);
  return record(event);
}

Status EventFile::scalar(std::string_view tag, uint64_t step, float value) {
  std::string entry;
  appendBytes(entry, field::Tag, tag);
  entry.push_back(tagOf(field::SimpleValue, 5));
  appendRaw(entry, value);
  return summary(step, entry);
}

Status EventFile::histogram(std::string_view tag, uint64_t step, const Histogram &histogram) {
  std::string proto, limits, counts;
  appendDouble(proto, field::Min, histogram.min);
  appendDouble(proto, field::Max, histogram.max);
  appendDouble(proto, field::Count, static_cast<double>(histogram.count));
  appendDouble(proto, field::Sum, histogram.sum);
  appendDouble(proto, field::Squares, histogram.sumOfSquares);
  for (double end : histogram.ends)
    appendRaw(limits, end);
  for (uint64_t count : histogram.counts)
    appendRaw(counts, static_cast<double>(count));
  appendBytes(proto, field::Limits, limits);
  appendBytes(proto, field::Buckets, counts);
  std::string entry;
  appendBytes(entry, field::Tag, tag);
  appendBytes(entry, field::Histogram, proto);
  return summary(step, entry);
}

/// What tells TensorBoard whose a value is.
static std::string metadataOf(std::string_view plugin, std::string_view content) {
  std::string data, metadata;
  appendBytes(data, field::Name, plugin);
  appendBytes(data, field::Content, content);
  appendBytes(metadata, 1, data);
  return metadata;
}

Status EventFile::text(std::string_view tag, uint64_t step, std::string_view markdown) {
  constexpr uint64_t stringType = 7;
  std::string size, shape, tensor, entry;
  appendNumber(size, 1, 1);
  appendBytes(shape, 2, size); // of one dimension
  appendNumber(tensor, field::Dtype, stringType);
  appendBytes(tensor, field::Shape, shape);
  appendBytes(tensor, field::Strings, markdown);
  appendBytes(entry, field::Tag, tag);
  appendBytes(entry, field::Tensor, tensor);
  appendBytes(entry, field::Metadata, metadataOf("text", ""));
  return summary(step, entry);
}

static std::string structValue(const std::variant<bool, double, std::string> &value) {
  std::string out;
  if (const bool *flag = std::get_if<bool>(&value))
    appendNumber(out, field::Bool, *flag);
  else if (const double *number = std::get_if<double>(&value))
    appendDouble(out, field::Number, *number);
  else
    appendBytes(out, field::String, std::get<std::string>(value));
  return out;
}

/// A value of the page that compares runs: all it says is in the metadata.
static std::string hparamsValue(std::string_view tag, field::HparamsData kind,
                                std::string_view message) {
  std::string data, entry;
  appendNumber(data, field::Version, 0);
  appendBytes(data, kind, message);
  appendBytes(entry, field::Tag, tag);
  appendBytes(entry, field::Metadata, metadataOf("hparams", data));
  return entry;
}

Status EventFile::sessionStart(const std::vector<HyperParameter> &parameters) {
  std::string session;
  for (const auto &[name, value] : parameters) {
    std::string pair;
    appendBytes(pair, 1, name);
    appendBytes(pair, 2, structValue(value));
    appendBytes(session, 1, pair);
  }
  appendDouble(session, 5, now());
  return summary(0, hparamsValue("_hparams_/session_start_info", field::SessionStart, session));
}

Status EventFile::sessionEnd(bool isSuccess) {
  std::string session;
  appendNumber(session, 1, isSuccess ? 1 : 2);
  appendDouble(session, 2, now());
  return summary(0, hparamsValue("_hparams_/session_end_info", field::SessionEnd, session));
}

Status EventFile::record(std::string_view event) {
  std::string frame;
  appendRaw(frame, static_cast<uint64_t>(event.size()));
  appendRaw(frame, masked(frame));
  frame.append(event);
  appendRaw(frame, masked(event));
  if (std::fwrite(frame.data(), 1, frame.size(), file) != frame.size() || std::fflush(file) != 0)
    return runFailed(fmt::format("writing '{}' failed: {}", path, std::strerror(errno)));
  return {};
}

} // namespace gc::runtime
