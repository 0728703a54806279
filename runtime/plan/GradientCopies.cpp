#include "runtime/plan/GradientCopies.h"

#include <unordered_map>

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
      if (variable->role == VariableRole_Parameter)
        parameters[variable->buffer] = variable.get();
  }

  Status run() {
    for (CommandListT *list : {plan.micro_batch.get(), plan.step.get()})
      if (list)
        if (Status done = insertInto(*list); !done)
          return done;
    moveLives();
    plan.memory->gradients += end - plan.arena_bytes;
    plan.memory->lower_bound += end - plan.arena_bytes;
    plan.arena_bytes = end;
    return {};
  }

private:
  Status insertInto(CommandListT &list) {
    std::vector<std::unique_ptr<CommandT>> commands;
    int before = moved.empty() ? 0 : moved.back() + 1;
    for (auto &command : list.commands) {
      if (VariableT *parameter = changedBy(*command)) {
        int gradient = firstRead(*command);
        if (gradient < 0 || plan.buffers[gradient]->bytes != plan.buffers[parameter->buffer]->bytes)
          return runFailed("command '" + command->name + "' changes '" + parameter->name +
                           "' and does not say which gradient it reads");
        commands.push_back(copy(*parameter, static_cast<uint32_t>(gradient),
                                before + static_cast<int>(commands.size())));
      }
      moved.push_back(before + static_cast<int>(commands.size()));
      commands.push_back(std::move(command));
    }
    list.commands = std::move(commands);
    return {};
  }

  using Uses = std::vector<std::pair<uint32_t, Access>>;
  /// Updates are kernels; a copy can be one too. Libraries write no parameters.
  static Uses usesOf(const CommandT &command) {
    Uses uses;
    if (const DispatchT *dispatch = command.operation.AsDispatch())
      for (size_t i = 0; i < dispatch->buffers.size() && i < dispatch->access.size(); ++i)
        uses.push_back({dispatch->buffers[i], static_cast<Access>(dispatch->access[i])});
    if (const LaunchT *launch = command.operation.AsLaunch())
      for (size_t i = 0; i < launch->buffers.size() && i < launch->access.size(); ++i)
        uses.push_back({launch->buffers[i], static_cast<Access>(launch->access[i])});
    if (const CopyT *copy = command.operation.AsCopy())
      uses = {{copy->source->buffer(), Access_Read}, {copy->target->buffer(), Access_Write}};
    return uses;
  }

  VariableT *changedBy(const CommandT &command) {
    for (auto [buffer, access] : usesOf(command)) {
      int whole = plan.buffers[buffer]->part_of;
      auto found = parameters.find(whole < 0 ? buffer : static_cast<uint32_t>(whole));
      if (found != parameters.end() && (access == Access_ReadWrite || access == Access_Write))
        return found->second;
    }
    return nullptr;
  }

  /// An update's first operand is its gradient; coefficients follow.
  static int firstRead(const CommandT &command) {
    for (auto [buffer, access] : usesOf(command))
      if (access == Access_Read)
        return static_cast<int>(buffer);
    return -1;
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
  std::unordered_map<uint32_t, VariableT *> parameters; // by buffer
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
