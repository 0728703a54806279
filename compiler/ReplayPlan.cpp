//===- ReplayPlan.cpp - proves a finished plan by replaying it ------------===//
#include "compiler/ReplayPlan.h"
#include "compiler/PlanAccess.h"
#include "runtime/plan/PlanFile.h"
#include <map>

namespace gc {
namespace {

std::string text(ByteRange range) {
  return "bytes [" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

bool meet(const PlanAccess &a, const PlanAccess &b) {
  if (!a.span().meets(b.span()))
    return false;
  auto i = a.ranges.begin(), j = b.ranges.begin();
  while (i != a.ranges.end() && j != b.ranges.end()) {
    if (i->meets(*j))
      return true;
    (i->end <= j->begin ? i : j)++;
  }
  return false;
}

class Replayer {
public:
  explicit Replayer(const plan::Plan &plan) : plan(plan) {}

  PlanReplay run() {
    size_t count = plan.buffers() ? plan.buffers()->size() : 0;
    replay.buffers = count;
    roots.resize(count);
    persistent.resize(count);
    inputs.resize(count);
    for (size_t i = 0; i < count && replay.ok(); ++i)
      findRoot(static_cast<uint32_t>(i));
    if (!replay.ok())
      return replay;
    findPersistent();
    std::vector<Entry> once = commandsOf(plan.once(), "once");
    std::vector<Entry> training = commandsOf(plan.micro_batch(), "micro_batch");
    size_t microBatch = training.size();
    for (Entry &entry : commandsOf(plan.step(), "step"))
      training.push_back(std::move(entry));
    std::vector<Entry> evaluate = commandsOf(plan.evaluate(), "evaluate");
    replayList(once, List::Once, 0);
    replayList(training, List::Training, microBatch);
    replayList(evaluate, List::Evaluate, evaluate.size());
    return replay;
  }

private:
  enum class List { Once, Training, Evaluate };
  struct Entry {
    const plan::Command *command;
    std::string place; // "micro_batch command 3"
  };
  struct Writing {
    uint32_t root;
    int command; // that wrote it; -1: it was there before the first command
  };

  const plan::Buffer &buffer(uint32_t index) const { return *plan.buffers()->Get(index); }
  ByteRange rangeOf(uint32_t index) const {
    auto begin = static_cast<int64_t>(buffer(index).offset());
    return {begin, begin + static_cast<int64_t>(buffer(index).bytes())};
  }
  std::string name(uint32_t index) const {
    return "buffer " + std::to_string(index) + " '" + buffer(index).name()->str() + "' at " +
           text(rangeOf(index));
  }
  std::string life(uint32_t index) const {
    return "commands " + std::to_string(buffer(index).first_command()) + " to " +
           std::to_string(buffer(index).last_command());
  }
  bool fail(std::string error) {
    if (replay.error.empty())
      replay.error = std::move(error);
    return false;
  }

  static std::vector<Entry> commandsOf(const plan::CommandList *list, const char *listName) {
    std::vector<Entry> entries;
    if (list && list->commands())
      for (const plan::Command *command : *list->commands())
        entries.push_back({command, std::string(listName) + " command " +
                                        std::to_string(entries.size()) + " '" +
                                        command->name()->str() + "'"});
    return entries;
  }

  //===--------------------------------------------------------------------===//
  // Buffers
  //===--------------------------------------------------------------------===//

  // The buffer whose bytes this one is: the outermost of those that it is a part of.
  bool findRoot(uint32_t index) {
    uint32_t root = index;
    for (size_t steps = 0; buffer(root).part_of() >= 0; ++steps) {
      auto whole = static_cast<uint32_t>(buffer(root).part_of());
      if (whole >= roots.size() || steps > roots.size())
        return fail(name(index) + " is part of a buffer that is not there");
      if (!rangeOf(whole).contains(rangeOf(root)))
        return fail(name(root) + " is not inside " + name(whole) + ", which it is part of");
      root = whole;
    }
    roots[index] = root;
    return true;
  }

  // Whether a buffer lasts: variables, input slots, and buffers that no command names, which are
  // bytes that the target's libraries use by themselves.
  void findPersistent() {
    std::vector<bool> named(roots.size());
    std::string ignored;
    for (const plan::CommandList *list :
         {plan.once(), plan.micro_batch(), plan.step(), plan.evaluate()})
      for (const Entry &entry : commandsOf(list, ""))
        for (const PlanAccess &access : accessesOf(plan, *entry.command, ignored))
          named[roots[access.buffer]] = true;
    for (uint32_t i = 0; i < roots.size(); ++i)
      if (!named[i] && roots[i] == i && buffer(i).kind() == plan::BufferKind_Workspace)
        persistent[i] = true;
    if (plan.variables())
      for (const plan::Variable *variable : *plan.variables())
        persistent[variable->buffer()] = true;
    if (plan.inputs())
      for (const plan::Input *input : *plan.inputs())
        for (uint32_t slot : *input->slots())
          persistent[slot] = inputs[slot] = true;
  }

  bool isThere(uint32_t root, List list) const {
    return persistent[root] ||
           (list != List::Once && buffer(root).evaluate() == (list == List::Evaluate));
  }
  int firstCommand(uint32_t root) const {
    return persistent[root] ? 0 : buffer(root).first_command();
  }
  int lastCommand(uint32_t root, int commands) const {
    return persistent[root] ? commands - 1 : buffer(root).last_command();
  }

  // Goes through the commands and checks that buffers which are alive together do not overlap.
  bool checkLives(List list, int commands) {
    std::multimap<int, uint32_t> begins, ends;
    for (uint32_t i = 0; i < roots.size(); ++i) {
      if (roots[i] != i || !isThere(i, list) || buffer(i).bytes() == 0)
        continue;
      int first = firstCommand(i), last = lastCommand(i, commands);
      if (first < 0 || last < first || last >= commands)
        return fail(name(i) + " lives in " + life(i) + " of " + std::to_string(commands));
      begins.insert({first, i});
      ends.insert({last, i});
    }
    std::map<int64_t, uint32_t> present; // by first byte
    auto ending = ends.begin();
    for (auto [command, i] : begins) {
      for (; ending != ends.end() && ending->first < command; ++ending) {
        auto it = present.find(rangeOf(ending->second).begin);
        if (it != present.end() && it->second == ending->second)
          present.erase(it);
      }
      auto it = present.lower_bound(rangeOf(i).begin);
      if (it != present.begin() && rangeOf(std::prev(it)->second).end > rangeOf(i).begin)
        --it;
      while (it != present.end() && it->first < rangeOf(i).end) {
        uint32_t other = it->second;
        bool takesOver = rangeOf(other) == rangeOf(i) && !persistent[other] &&
                         lastCommand(other, commands) == command && firstCommand(other) < command;
        if (!takesOver)
          return fail(name(i) + " (" + life(i) + ") overlaps " + name(other) + " (" + life(other) +
                      ") while both live");
        it = present.erase(it);
      }
      present[rangeOf(i).begin] = i;
    }
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Commands
  //===--------------------------------------------------------------------===//

  void replayList(const std::vector<Entry> &entries, List list, size_t metricsAfter) {
    int commands = static_cast<int>(entries.size());
    if (!replay.ok() || commands == 0 || !checkLives(list, commands))
      return;
    // When a list starts, only persistent buffers still hold what was written before.
    arena = ByteMap();
    writings.clear();
    for (uint32_t i = 0; i < roots.size(); ++i)
      if (persistent[i] && buffer(i).kind() != plan::BufferKind_Workspace)
        write(rangeOf(i), i, -1);
    for (int i = 0; i < commands; ++i) {
      if (!step(entries, i, list))
        return;
      if (static_cast<size_t>(i) + 1 == metricsAfter && !checkMetrics(entries, list))
        return;
    }
    if (list == List::Evaluate && plan.outputs())
      for (const plan::Output *output : *plan.outputs())
        if (!checkHeld(entries, "after the evaluation", static_cast<int>(output->buffer())))
          return;
    if (list == List::Training && plan.variables())
      for (const plan::Variable *variable : *plan.variables())
        if (variable->gradient_buffer() >= 0 &&
            !checkHeld(entries, "after the step", variable->gradient_buffer()))
          return;
    for (uint32_t i = 0; i < roots.size(); ++i)
      if (persistent[i] && buffer(i).kind() != plan::BufferKind_Workspace &&
          !checkHeld(entries, "at the end", static_cast<int>(i)))
        return;
  }

  bool step(const std::vector<Entry> &entries, int index, List list) {
    const Entry &entry = entries[index];
    ++replay.commands;
    std::string unclear;
    std::vector<PlanAccess> accesses = accessesOf(plan, *entry.command, unclear);
    if (!unclear.empty())
      return fail(entry.place + " " + unclear);
    for (const PlanAccess &access : accesses) {
      uint32_t root = roots[access.buffer];
      // A part of another buffer lives as long as that buffer.
      if (!isThere(root, list) || index < firstCommand(root) ||
          index > lastCommand(root, static_cast<int>(entries.size())))
        return fail(entry.place + " uses " + name(access.buffer) + " outside of its life, " +
                    (isThere(root, list) ? life(root) : "which is in another list"));
      if (access.writes && inputs[root])
        return fail(entry.place + " writes the input " + name(access.buffer));
    }
    for (const PlanAccess &written : accesses)
      for (const PlanAccess &other : accesses)
        if (written.writes && &written != &other && meet(written, other)) {
          bool inPlace = other.pointwise && !other.isWorkspace && !written.isWorkspace &&
                         other.span() == written.span();
          if (!inPlace)
            return fail(entry.place + " writes " + name(written.buffer) + " over bytes of " +
                        name(other.buffer) + " that it uses itself");
        }
    for (const PlanAccess &access : accesses)
      if (access.reads)
        for (ByteRange range : access.ranges)
          if (!checkHeld(entries, entry.place, static_cast<int>(access.buffer), range))
            return false;
    for (const PlanAccess &access : accesses)
      if (access.writes)
        for (ByteRange range : access.ranges)
          write(range, roots[access.buffer], index);
    return true;
  }

  bool checkMetrics(const std::vector<Entry> &entries, List list) {
    bool evaluate = list == List::Evaluate;
    for (size_t i = 0; plan.metrics() && i < plan.metrics()->size(); ++i) {
      const plan::Metric &metric = *plan.metrics()->Get(i);
      if (metric.evaluate() == evaluate &&
          !checkHeld(entries, "after the micro-batch", static_cast<int>(metric.buffer())))
        return false;
    }
    return true;
  }

  bool checkHeld(const std::vector<Entry> &entries, const std::string &when, int index) {
    return checkHeld(entries, when, index, rangeOf(static_cast<uint32_t>(index)));
  }
  bool checkHeld(const std::vector<Entry> &entries, const std::string &when, int index,
                 ByteRange range) {
    ++replay.reads;
    uint32_t root = roots[index];
    auto other = arena.findUnless(range, [&](int held) { return writings[held].root == root; });
    if (!other)
      return true;
    std::string what =
        when + ": " + name(static_cast<uint32_t>(index)) + " is read, but " + text(other->range);
    if (other->content < 0)
      return fail(what + " were never written");
    const Writing &writing = writings[other->content];
    return fail(what + " hold " + name(writing.root) +
                (writing.command < 0 ? "" : ", written by " + entries[writing.command].place));
  }

  void write(ByteRange range, uint32_t root, int command) {
    writings.push_back({root, command});
    arena.write(range, static_cast<int>(writings.size() - 1));
  }

  const plan::Plan &plan;
  PlanReplay replay;
  std::vector<uint32_t> roots;
  std::vector<bool> persistent, inputs;
  ByteMap arena; // for each byte, the number of the last write
  std::vector<Writing> writings;
};

} // namespace

std::string PlanReplay::text() const {
  if (!ok())
    return error;
  return "replayed " + std::to_string(commands) + " commands, " + std::to_string(buffers) +
         " buffers: no overlap, every read sees its value";
}

PlanReplay replayPlan(const plan::Plan &plan) { return Replayer(plan).run(); }

PlanReplay replayPlan(std::span<const uint8_t> bytes) {
  auto file = runtime::PlanFile::fromMemory(std::as_bytes(bytes));
  if (file)
    return replayPlan(file->get());
  PlanReplay failed;
  failed.error = file.error().message;
  return failed;
}

} // namespace gc
