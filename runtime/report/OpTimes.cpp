#include "runtime/report/OpTimes.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gc::runtime {

std::vector<OpTime> opTimesOf(const std::vector<CommandTime> &commands) {
  std::map<std::pair<std::string_view, int>, OpTime> ops; // by list and number
  for (const CommandTime &command : commands) {
    if (command.executions == 0 || command.recomputed || command.op < 0 ||
        (command.list != "micro_batch" && command.list != "step"))
      continue;
    OpTime &op = ops[{command.list, command.op}];
    if (op.work.empty())
      op.work = command.work;
    op.seconds += command.medianSeconds;
  }
  std::map<std::string, std::vector<double>> byWork;
  for (const auto &[place, op] : ops)
    if (!op.work.empty() && op.seconds >= kLeastOpSeconds)
      byWork[op.work].push_back(op.seconds);
  std::vector<OpTime> times;
  for (auto &[work, seconds] : byWork) {
    std::sort(seconds.begin(), seconds.end());
    times.push_back({work, seconds[seconds.size() / 2]});
  }
  return times;
}

} // namespace gc::runtime
