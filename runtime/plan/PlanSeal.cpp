#include "runtime/plan/PlanSeal.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <zlib.h>

namespace gc::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are copied as they are");

constexpr char kMagic[8] = {'\x89', 'G', 'C', 'P', 'L', 'A', 'N', '\n'};
constexpr size_t kVersionAt = 8, kChecksumAt = 12, kLengthAt = 16;

template <typename T> T read(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

/// Of everything but the checksum itself.
uint32_t checksumOf(std::span<const std::byte> file) {
  auto add = [](uLong sum, std::span<const std::byte> part) {
    return crc32_z(sum, reinterpret_cast<const Bytef *>(part.data()), part.size());
  };
  uLong sum = add(crc32_z(0, nullptr, 0), file.first(kChecksumAt));
  return static_cast<uint32_t>(add(sum, file.subspan(kLengthAt)));
}

bool beginsWithMagic(std::span<const std::byte> bytes) {
  return !bytes.empty() &&
         std::memcmp(bytes.data(), kMagic, std::min(bytes.size(), sizeof(kMagic))) == 0;
}

/// Up to version 2 a plan was a bare FlatBuffer, which has its identifier behind the root's offset.
bool isBareFlatBuffer(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "GCPL", 4) == 0;
}

std::string hexadecimal(uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof(text), "%08x", value);
  return text;
}

} // namespace

bool looksLikePlan(std::span<const std::byte> bytes) {
  return beginsWithMagic(bytes) || isBareFlatBuffer(bytes);
}

std::vector<std::byte> sealPlan(std::span<const uint8_t> flatbuffer) {
  std::vector<std::byte> file(kPlanHeaderBytes + flatbuffer.size());
  uint64_t length = flatbuffer.size();
  std::memcpy(file.data(), kMagic, sizeof(kMagic));
  std::memcpy(file.data() + kVersionAt, &kPlanVersion, sizeof(kPlanVersion));
  std::memcpy(file.data() + kLengthAt, &length, sizeof(length));
  if (length)
    std::memcpy(file.data() + kPlanHeaderBytes, flatbuffer.data(), flatbuffer.size());
  uint32_t checksum = checksumOf(file);
  std::memcpy(file.data() + kChecksumAt, &checksum, sizeof(checksum));
  return file;
}

Result<std::span<const std::byte>> openSeal(std::span<const std::byte> bytes,
                                            const std::string &name) {
  auto otherVersion = [&](const std::string &version) {
    return badInput("plan '" + name + "' has version " + version + ", this runtime reads version " +
                    std::to_string(kPlanVersion) + "; compile it again");
  };
  if (isBareFlatBuffer(bytes))
    return otherVersion("2 or older");
  if (!beginsWithMagic(bytes))
    return badInput("'" + name + "' is not a plan: " +
                    (bytes.empty() ? "it is empty" : "it does not begin as plans do"));
  auto damaged = [&](const std::string &how) {
    return badInput("plan '" + name + "' is " + how + "; copy it or compile it again");
  };
  if (bytes.size() < kPlanHeaderBytes)
    return damaged("truncated: it has " + std::to_string(bytes.size()) + " bytes, its header " +
                   std::to_string(kPlanHeaderBytes));
  if (auto version = read<uint32_t>(bytes, kVersionAt); version != kPlanVersion)
    return otherVersion(std::to_string(version));
  uint64_t has = bytes.size() - kPlanHeaderBytes, says = read<uint64_t>(bytes, kLengthAt);
  if (has != says)
    return damaged((has < says ? "truncated: " : "too long: ") + std::to_string(has) +
                   " bytes follow its header, which promises " + std::to_string(says));
  uint32_t is = checksumOf(bytes), should = read<uint32_t>(bytes, kChecksumAt);
  if (is != should)
    return damaged("corrupt: its checksum is " + hexadecimal(is) + ", its header says " +
                   hexadecimal(should));
  return bytes.subspan(kPlanHeaderBytes);
}

} // namespace gc::runtime
