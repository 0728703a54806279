#include "runtime/plan/PlanFile.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace gc::runtime {

Result<PlanFile> PlanFile::load(const std::string &path) {
  std::error_code code;
  uintmax_t size =
      std::filesystem::file_size(path, code); // an error for what is not a regular file
  if (code)
    return badInput("cannot open plan '" + path + "': " + code.message());
  if (size >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return badInput("'" + path + "' is not a plan: it is larger than 2 GiB");
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  if (!file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(size)))
    return badInput("cannot read plan '" + path + "': " + std::strerror(errno));
  return fromMemory(bytes, path);
}

Result<PlanFile> PlanFile::fromMemory(std::span<const std::byte> bytes, const std::string &name) {
  if (bytes.size() < 8)
    return badInput("'" + name + "' is not a plan: it has " + std::to_string(bytes.size()) +
                    " bytes");
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return badInput("'" + name + "' is not a plan: it is larger than 2 GiB");
  PlanFile file;
  file.storage_.resize((bytes.size() + 7) / 8);
  file.size_ = bytes.size();
  std::memcpy(file.storage_.data(), bytes.data(), bytes.size());
  const auto *data = reinterpret_cast<const uint8_t *>(file.storage_.data());
  if (!gc::plan::PlanBufferHasIdentifier(data))
    return badInput("'" + name + "' is not a plan: the identifier GCPL is missing");
  // The builder pads to the largest alignment in the schema, so a cut in the padding shows here.
  if (bytes.size() % 8 != 0)
    return badInput("plan '" + name + "' is truncated or corrupt; compile it again");
  flatbuffers::Verifier verifier(data, bytes.size(), /*max_depth=*/64, /*max_tables=*/16000000);
  if (!gc::plan::VerifyPlanBuffer(verifier))
    return badInput("plan '" + name + "' is truncated or corrupt; compile it again");
  file.plan_ = gc::plan::GetPlan(data);
  if (file.plan_->version() != kPlanVersion)
    return badInput("plan '" + name + "' has version " + std::to_string(file.plan_->version()) +
                    ", this runtime reads version " + std::to_string(kPlanVersion) +
                    "; compile it again");
  if (Status sound = verifyPlan(*file.plan_); !sound)
    return badInput("plan '" + name + "' is unsound: " + sound.error().message);
  return file;
}

} // namespace gc::runtime
