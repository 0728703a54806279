#include "runtime/trainer/DescribePlan.h"

#include "runtime/trainer/PlanFacts.h"
#include "runtime/trainer/PlanText.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace gc::runtime {
namespace {

size_t countOf(const auto *list) { return list ? list->size() : 0; }

std::string machineOf(const plan::Target &target) {
  std::string text = textOf(target.cpu()) + textOf(target.architecture());
  std::string card = textOf(target.card());
  return card.empty() ? text : text + " " + card;
}

/// "oneDNN 2.6.3", "cuDNN 9.19.0"; empty where the plan needs none. For CUDA a plan has the version
/// alone.
std::string libraryOf(const plan::Target &target) {
  std::string version = textOf(target.library_version());
  bool isBare = !version.empty() && version.find(' ') == std::string::npos;
  return isBare && target.device()->string_view() == "cuda" ? "cuDNN " + version : version;
}

/// Of floating-point numbers that are neither variables nor bytes of a workspace.
std::string typesOf(const plan::Plan &plan) {
  std::set<std::string> types;
  for (size_t i = 0; i < countOf(plan.buffers()); ++i) {
    const plan::Buffer &buffer = *plan.buffers()->Get(i);
    if (buffer.kind() != plan::BufferKind_Activation)
      continue;
    switch (buffer.dtype()) {
    case plan::DType_F32:
      types.insert("f32");
      break;
    case plan::DType_F16:
      types.insert("f16");
      break;
    case plan::DType_BF16:
      types.insert("bf16");
      break;
    default:
      break; // indices, masks
    }
  }
  return fmt::format("{}", fmt::join(types, " and "));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool isOfLibrary(const plan::Command &command) {
  switch (command.operation_type()) {
  case plan::Operation_Convolution:
  case plan::Operation_MatMul:
  case plan::Operation_GraphCall:
    return true;
  default:
    return false;
  }
}

std::string howItRuns(const plan::Plan &plan, const plan::Command &command) {
  if (!isOfLibrary(command))
    return "generated";
  std::string library = libraryOf(*plan.target());
  library = library.empty() ? "library" : library.substr(0, library.find(' ')); // no version
  const plan::GraphCall *call = command.operation_as_GraphCall();
  std::string engine = call ? textOf(plan.graphs()->Get(call->graph())->engine()) : "";
  return engine.empty() ? library : fmt::format("{}, {}", library, engine);
}

/// Every op of the list that is not there a second time; an op may be several commands, and several
/// ops one.
void addOps(const plan::Plan &plan, const plan::CommandList *list,
            std::vector<OpImplementation> &ops) {
  std::map<int, size_t> known; // of each op's number: its place
  const auto *commands = list ? list->commands() : nullptr;
  for (size_t i = 0; i < countOf(commands); ++i) {
    const plan::Command &command = *commands->Get(i);
    if (command.recomputed())
      continue;
    for (size_t j = 0; j < countOf(command.parts()); ++j) {
      const plan::CommandPart &part = *command.parts()->Get(j);
      ops.push_back({part.name()->str(), howItRuns(plan, command), isOfLibrary(command),
                     part.seconds_predicted()});
    }
    if (countOf(command.parts()) > 0 || command.op() < 0)
      continue;
    auto [place, isNew] = known.try_emplace(command.op(), ops.size());
    if (isNew)
      ops.push_back({command.name()->str(), "generated", false, 0});
    OpImplementation &op = ops[place->second];
    op.seconds += command.seconds_predicted();
    if (isOfLibrary(command) && !op.byLibrary) {
      op.byLibrary = true;
      op.how = howItRuns(plan, command);
    }
  }
}

//===----------------------------------------------------------------------===//
// Memory over the step
//===----------------------------------------------------------------------===//

/// Bytes in use at each command. verifyPlan() has seen to it that lives are within -1 and the
/// number of commands; what a hostile plan claims to be alive at once may be more than there is.
std::vector<uint64_t> liveBytes(const plan::Plan &plan, size_t commands) {
  std::vector<uint64_t> change(commands + 2, 0);
  for (size_t i = 0; i < countOf(plan.buffers()); ++i) {
    const plan::Buffer &buffer = *plan.buffers()->Get(i);
    if (buffer.evaluate() || buffer.part_of() >= 0)
      continue; // not of this step, or counted with what it is a part of
    change[static_cast<size_t>(std::max(buffer.first_command(), 0))] += buffer.bytes();
    change[static_cast<size_t>(std::max(buffer.last_command() + 1, 0))] -= buffer.bytes();
  }
  std::vector<uint64_t> live(commands);
  uint64_t now = 0;
  for (size_t i = 0; i < commands; ++i) {
    now += change[i];
    live[i] = std::min(now, plan.arena_bytes());
  }
  return live;
}

/// The first command behind that of the loss; where no loss is computed, the first of all.
size_t behindTheLoss(const plan::Plan &plan, size_t commands) {
  for (size_t i = 0; i < countOf(plan.metrics()); ++i) {
    const plan::Metric &metric = *plan.metrics()->Get(i);
    if (metric.evaluate() || metric.name()->string_view() != "loss")
      continue;
    int first = plan.buffers()->Get(metric.buffer())->first_command();
    return std::clamp<size_t>(static_cast<size_t>(std::max(first, 0)) + 1, 0, commands);
  }
  return 0;
}

/// The plan without its report, in which times of the compilation are.
std::string withoutReport(const plan::Plan &plan) {
  plan::PlanT copy;
  plan.UnPackTo(&copy);
  copy.report.clear();
  flatbuffers::FlatBufferBuilder builder;
  plan::FinishPlanBuffer(builder, plan::Plan::Pack(builder, &copy));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
}

} // namespace

Result<DescribedPlan> describePlan(const PlanFile &file, const std::string &path) {
  const plan::Plan &plan = file.get();
  DescribedPlan described;
  described.path = path;
  fillPlanFacts(described.facts, plan);
  described.machine = machineOf(*plan.target());
  described.library = libraryOf(*plan.target());
  described.types = typesOf(plan);
  described.threads = plan.target()->threads();
  described.planBytes = file.sizeBytes();
  for (size_t i = 0; i < countOf(plan.inputs()); ++i)
    described.inputBuffers =
        std::max(described.inputBuffers, countOf(plan.inputs()->Get(i)->slots()));
  described.evaluates = commandsOf(plan.evaluate()) > 0;
  described.keepsGradients = keepsGradients(plan);
  described.commands = {commandsOf(plan.once()), commandsOf(plan.micro_batch()),
                        commandsOf(plan.step()), commandsOf(plan.evaluate())};
  described.kernels = plan.kernels() ? countOf(plan.kernels()->symbols()) : 0;
  described.libraryGraphs = countOf(plan.graphs());
  addOps(plan, plan.micro_batch(), described.ops);
  addOps(plan, plan.step(), described.ops);
  described.live = liveBytes(plan, described.commands.inStep());
  described.firstBackward = behindTheLoss(plan, described.live.size());
  described.executed = withoutReport(plan);
  if (!plan.report())
    return described;
  auto inPlan = [&](const Error &error) {
    return badInput(fmt::format("plan '{}': {}", path, error.message));
  };
  auto timeline = readTimeline(plan.report()->str());
  if (!timeline)
    return inPlan(timeline.error());
  described.timeline = std::move(*timeline);
  auto saved = readSavedValues(plan.report()->str());
  if (!saved)
    return inPlan(saved.error());
  described.saved = std::move(*saved);
  return described;
}

} // namespace gc::runtime
