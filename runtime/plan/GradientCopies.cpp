#include "runtime/plan/GradientCopies.h"

namespace gc::runtime {
namespace {

using namespace gc::plan;

uint64_t aligned(uint64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

class Inserter {
public:
  explicit Inserter(PlanT &plan) : plan(plan), end(aligned(plan.arena_bytes)) {
    for (auto &variable : plan.variables)
      variable->gradient_buffer = -1;
  }

  Status run() {
    for (CommandListT *list : {plan.micro_batch.get(), plan.step.get()})
      if (list)
        insertInto(*list);
    for (auto &variable : plan.variables)
      if (variable->role == VariableRole_Parameter && !variable->frozen &&
          variable->gradient_buffer < 0)
        return runFailed("no command of the plan says that it updates '" + variable->name + "'");
    moveLives();
    plan.memory->gradients += end - plan.arena_bytes;
    plan.memory->lower_bound += end - plan.arena_bytes;
    plan.arena_bytes = end;
    return {};
  }

private:
  static std::vector<const UpdateT *> updatesOf(const CommandT &command) {
    std::vector<const UpdateT *> updates;
    if (command.update)
      updates.push_back(command.update.get());
    for (const auto &part : command.parts)
      if (part->update)
        updates.push_back(part->update.get());
    return updates;
  }

  void insertInto(CommandListT &list) {
    std::vector<std::unique_ptr<CommandT>> commands;
    int before = moved.empty() ? 0 : moved.back() + 1;
    for (auto &command : list.commands) {
      for (const UpdateT *update : updatesOf(*command))
        commands.push_back(copy(*plan.variables[update->parameter], update->gradient,
                                before + static_cast<int>(commands.size())));
      moved.push_back(before + static_cast<int>(commands.size()));
      commands.push_back(std::move(command));
    }
    list.commands = std::move(commands);
  }

  std::unique_ptr<CommandT> copy(VariableT &parameter, uint32_t gradient, int command) {
    const BufferT &original = *plan.buffers[parameter.buffer];
    auto buffer = std::make_unique<BufferT>();
    buffer->name = parameter.name + ".gradient.copy";
    buffer->kind = BufferKind_Gradient;
    buffer->dtype = original.dtype;
    buffer->shape = original.shape;
    buffer->offset = end;
    buffer->bytes = original.bytes;
    end += aligned(original.bytes);
    parameter.gradient_buffer = static_cast<int32_t>(plan.buffers.size());
    copies.push_back({buffer.get(), command});
    plan.buffers.push_back(std::move(buffer));

    CopyT operation;
    operation.source = std::make_unique<View>(gradient, 0);
    operation.target = std::make_unique<View>(static_cast<uint32_t>(parameter.gradient_buffer), 0);
    operation.bytes = original.bytes;
    auto result = std::make_unique<CommandT>();
    result->operation.Set(std::move(operation));
    result->name = parameter.name + ".gradient.copy";
    result->bytes_moved = 2.0 * static_cast<double>(original.bytes);
    return result;
  }

  /// Lives are counted in commands, of which there are more now.
  void moveLives() {
    for (auto &buffer : plan.buffers)
      if (!buffer->evaluate)
        for (int32_t *at : {&buffer->first_command, &buffer->last_command})
          if (*at >= 0 && static_cast<size_t>(*at) < moved.size())
            *at = moved[*at];
    for (auto [buffer, command] : copies) {
      buffer->first_command = command;
      buffer->last_command = moved.back();
    }
  }

  PlanT &plan;
  uint64_t end;
  std::vector<int32_t> moved; // where each command of micro_batch and step is now
  std::vector<std::pair<BufferT *, int>> copies; // and the command that writes them
};

} // namespace

Result<PlanFile> withGradientCopies(const PlanFile &file) {
  PlanT plan;
  file->UnPackTo(&plan);
  if (Status done = Inserter(plan).run(); !done)
    return done.error();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Plan::Pack(builder, &plan), PlanIdentifier());
  return PlanFile::fromMemory(sealPlan({builder.GetBufferPointer(), builder.GetSize()}),
                              plan.model);
}

} // namespace gc::runtime
