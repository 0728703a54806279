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

static void appendBytes(std::string &out, char tag, std::string_view bytes) {
  out.push_back(tag);
  appendVarint(out, bytes.size());
  out.append(bytes);
}

// Protocol buffers by hand; a tag is (field number << 3) | wire type.
static constexpr char wallTimeTag = 1 << 3 | 1, stepTag = 2 << 3, fileVersionTag = 3 << 3 | 2,
                      summaryTag = 5 << 3 | 2;
static constexpr char summaryValueTag = 1 << 3 | 2;
static constexpr char valueNameTag = 1 << 3 | 2, simpleValueTag = 2 << 3 | 5;

static std::string eventAt(uint64_t step) {
  std::string event(1, wallTimeTag);
  appendRaw(
      event,
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  event.push_back(stepTag);
  appendVarint(event, step);
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
  appendBytes(event, fileVersionTag, "brain.Event:2");
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

Status EventFile::scalar(std::string_view tag, uint64_t step, float value) {
  std::string entry;
  appendBytes(entry, valueNameTag, tag);
  entry.push_back(simpleValueTag);
  appendRaw(entry, value);
  std::string summary;
  appendBytes(summary, summaryValueTag, entry);
  std::string event = eventAt(step);
  appendBytes(event, summaryTag, summary);
  return record(event);
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
