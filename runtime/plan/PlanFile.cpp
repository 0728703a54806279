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
  auto content = openSeal(bytes, name);
  if (!content)
    return content.error();
  if (content->size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return badInput("'" + name + "' is not a plan: it is larger than 2 GiB");
  PlanFile file;
  file.storage_.resize((content->size() + 7) / 8);
  file.size_ = bytes.size();
  if (!content->empty())
    std::memcpy(file.storage_.data(), content->data(), content->size());
  const auto *data = reinterpret_cast<const uint8_t *>(file.storage_.data());
  // The checksum is right, so these are for files that were made wrong, perhaps on purpose.
  flatbuffers::Verifier verifier(data, content->size(), /*max_depth=*/64, /*max_tables=*/16000000);
  if (content->size() < 8 || !gc::plan::VerifyPlanBuffer(verifier))
    return badInput("plan '" + name + "' is unsound: its tables are not in order");
  file.plan_ = gc::plan::GetPlan(data);
  if (Status sound = verifyPlan(*file.plan_); !sound)
    return badInput("plan '" + name + "' is unsound: " + sound.error().message);
  return file;
}

} // namespace gc::runtime
