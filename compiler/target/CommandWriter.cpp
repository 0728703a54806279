//===- CommandWriter.cpp - the commands of one op -------------------------===//
#include "compiler/target/CommandWriter.h"
#include "compiler/target/WorkText.h"
#include "dialects/OpName.h"
#include "passes/analysis/Liveness.h"

using namespace mlir;

namespace gc {

bool isWorthAccumulating(Operation *op, int64_t apart, int64_t inside) {
  constexpr int64_t few = 4096;
  for (Type type : op->getResultTypes())
    apart += alignedBytes(byteSize(type));
  return inside <= apart + few;
}

LogicalResult Target::lowerUpdates(ArrayRef<UpdateOpInterface> updates, ArrayRef<OpBuffers>,
                                   std::vector<std::unique_ptr<plan::CommandT>> &) {
  return updates.front()->emitOpError("was joined with other updates, which the target cannot do");
}

// Of one command for all of them. Measured seconds are of commands that were joined already.
static double secondsWhenJoined(UpdateOpInterface update, size_t count) {
  double alone = OpCosts().seconds(update);
  if (update->hasAttr("gc.seconds"))
    return alone;
  double start = 1 / Roofline::of(update).perSecond[static_cast<size_t>(Resource::Start)];
  return alone - start + start / double(count);
}

std::unique_ptr<plan::CommandT> commandOf(ArrayRef<UpdateOpInterface> updates) {
  auto command = std::make_unique<plan::CommandT>();
  command->name =
      displayName(updates.front()) + " and " + std::to_string(updates.size() - 1) + " more";
  for (UpdateOpInterface update : updates) {
    auto part = std::make_unique<plan::CommandPartT>();
    auto cost = cast<CostOpInterface>(update.getOperation());
    part->name = displayName(update);
    part->flops = cost.getFlops();
    part->bytes_moved = cost.getBytesMoved();
    part->seconds_predicted = secondsWhenJoined(update, updates.size());
    if (auto number = update->getAttrOfType<IntegerAttr>("gc.op"))
      part->op = static_cast<int32_t>(number.getInt());
    command->flops += part->flops;
    command->bytes_moved += part->bytes_moved;
    command->seconds_predicted += part->seconds_predicted;
    command->parts.push_back(std::move(part));
  }
  return command;
}

SmallVector<int> OpBuffers::aliases() const {
  SmallVector<int> found;
  for (unsigned operand : operands) {
    auto same = llvm::find(results, operand);
    found.push_back(same == results.end() ? -1 : same - results.begin());
  }
  return found;
}

plan::CommandT *CommandWriter::addCommand() {
  auto command = std::make_unique<plan::CommandT>();
  command->name = displayName(op);
  command->recomputed = op->hasAttr("gc.recomputed");
  if (auto number = op->getAttrOfType<IntegerAttr>("gc.op"))
    command->op = static_cast<int32_t>(number.getInt());
  commands.push_back(std::move(command));
  return commands.back().get();
}

uint32_t CommandWriter::resolve(int number) const {
  if (number < 0)
    return static_cast<uint32_t>(buffers.workspace);
  size_t index = number;
  if (index < buffers.operands.size())
    return buffers.operands[index];
  index -= buffers.operands.size();
  if (index < buffers.results.size())
    return buffers.results[index];
  return buffers.variables[index - buffers.results.size()];
}

std::vector<uint32_t> CommandWriter::resolve(ArrayRef<int> numbers) const {
  std::vector<uint32_t> resolved;
  for (int number : numbers)
    resolved.push_back(resolve(number));
  return resolved;
}

void CommandWriter::finish() {
  if (commands.size() == first)
    return;
  auto cost = cast<CostOpInterface>(op);
  commands[first]->flops = cost.getFlops();
  commands[first]->bytes_moved = cost.getBytesMoved();
  commands[first]->seconds_predicted = OpCosts().seconds(op);
  commands[first]->work = workText(op);
}

std::vector<plan::Access> planAccess(ArrayRef<kernels::ArgumentAccess> access) {
  std::vector<plan::Access> all;
  for (kernels::ArgumentAccess one : access)
    all.push_back(one.reads ? (one.writes ? plan::Access_ReadWrite : plan::Access_Read)
                            : (one.writes ? plan::Access_Write : plan::Access_None));
  return all;
}

} // namespace gc
