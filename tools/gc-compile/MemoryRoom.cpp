#include "tools/gc-compile/MemoryRoom.h"

#include "compiler/cuda/DeviceModel.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>

using namespace gc::runtime;

std::string MemoryRoom::text() const {
  std::string text = sizeText(bytes);
  if (cardBytes)
    return text + fmt::format(": {} of the card less {} for driver and context (--reserve)",
                              shortSizeText(cardBytes), shortSizeText(reserveBytes));
  if (reserveBytes)
    return text + fmt::format(": --budget less --reserve of {}", shortSizeText(reserveBytes));
  return text;
}

// The GPU that is compiled for, where it is known; `isCard` is false for one that stands for its
// architecture.
static std::optional<gc::cuda::DeviceModel> cardOf(const gc::CompileOptions &options,
                                                   bool &isCard) {
  isCard = true;
  std::string unused;
  if (options.target.empty())
    return gc::cuda::describedDevice(options.targetProperties, unused);
  const gc::cuda::DeviceModel *model = gc::cuda::findDeviceModel(options.target);
  if (!model)
    return std::nullopt;
  isCard = options.target != model->target;
  return *model;
}

Result<MemoryRoom> memoryRoom(const gc::CompileOptions &options, std::optional<uint64_t> reserve) {
  MemoryRoom room;
  room.device = options.device;
  bool isCard = false;
  std::optional<gc::cuda::DeviceModel> card;
  if (options.device == "cuda")
    card = cardOf(options, isCard);
  if (options.device == "cuda" && !card)
    return badInput(fmt::format("--target={} is not known; gc-compile --targets lists what is",
                                options.target));
  if (card)
    room.device += isCard ? fmt::format(", {} ({})", card->name, card->target)
                          : fmt::format(", {}", card->target);
  uint64_t all = options.budgetBytes;
  if (all == 0) {
    if (options.device != "cuda")
      return badInput("--max-batch needs a --budget=SIZE to fit into");
    if (!isCard)
      return badInput(
          fmt::format("--max-batch needs a --budget=SIZE, or a card with a memory of its "
                      "own, which {} is not: --target=\"RTX 3060\" (gc-compile "
                      "--targets lists cards)",
                      options.target));
    room.cardBytes = all = static_cast<uint64_t>(card->memoryBytes);
  }
  room.reserveBytes = reserve.value_or(room.cardBytes ? kDefaultCardReserve : 0);
  if (room.reserveBytes >= all)
    return badInput(
        fmt::format("--reserve={} leaves nothing of {}", room.reserveBytes, sizeText(all)));
  room.bytes = all - room.reserveBytes;
  return room;
}
