#include "tools/gc-compile/Questions.h"

#include "runtime/process/Terminal.h"
#include "tools/flags/ModelFile.h"
#include "tools/gc-compile/MaxBatch.h"
#include "tools/gc-compile/WhatIf.h"

#include <fmt/format.h>

#include <cstdio>
#include <set>

using namespace gc::runtime;

namespace {

/// One line on standard error that is written over, where people look at it.
class ProgressLine {
public:
  void tell(const std::string &text) const {
    if (isShown)
      fmt::print(stderr, "\r\033[K{}", text);
  }
  ~ProgressLine() { tell(""); }

private:
  bool isShown = gc::runtime::takesEscapes(stderr);
};

} // namespace

Status answerMaxBatch(const Arguments &a, const std::string &text) {
  Result<MemoryRoom> room = memoryRoom(a.compile, a.reserve);
  if (!room)
    return room.error();
  gc::AskedModel model(text, displayName(a.model));
  if (!model.error().empty())
    return badInput(model.error());
  Result<MaxBatch> found = [&] {
    ProgressLine progress;
    return findMaxBatch(model, a.compile, *room,
                        [&](const std::string &next) { progress.tell(next); });
  }();
  if (!found)
    return found.error();
  fmt::print("{}", maxBatchText(*found, a.model));
  return writeIfAsked(a.report, maxBatchJson(*found));
}

Status answerWhatIf(const Arguments &a, const std::string &text) {
  Result<std::vector<WhatIfKey>> keys = readWhatIf(a.whatIf);
  if (!keys)
    return keys.error();
  Result<std::vector<WhatIfRow>> rows = whatIfRows(*keys, a.compile);
  if (!rows)
    return rows.error();
  gc::AskedModel model(text, displayName(a.model));
  if (!model.error().empty())
    return badInput(model.error());
  WhatIfTable table(*keys);
  fmt::print("{}", table.head());
  std::fflush(stdout);
  std::vector<AnsweredRow> answered;
  std::set<std::string> warned;
  Status status;
  for (const WhatIfRow &row : *rows) {
    gc::StepAnswer answer = [&] {
      ProgressLine progress;
      progress.tell(fmt::format("row {} of {}", answered.size() + 1, rows->size()));
      return model.answer(row.batch ? row.batch : model.batch(), row.options);
    }();
    fmt::print("{}", table.line(row, answer));
    std::fflush(stdout);
    if (!answer.warnings.empty() && warned.insert(answer.warnings).second)
      fmt::print(stderr, "{}\n", answer.warnings);
    if (status && answer.exitCode && answer.exitCode != gc::exits::NoBudget)
      status = Error{static_cast<ErrorClass>(answer.exitCode),
                     fmt::format("row {}: {}", answered.size() + 1, answer.error)};
    answered.push_back({row, answer});
  }
  std::string rates;
  for (const AnsweredRow &one : answered)
    if (!one.answer.exitCode)
      rates = one.answer.ratesFrom;
  if (!rates.empty())
    fmt::print("times predicted by rates: {}\n", rates);
  if (Status done = writeIfAsked(a.csv, whatIfCsv(*keys, answered)); !done)
    return done;
  if (Status done = writeIfAsked(a.report, whatIfJson(model.name(), *keys, answered)); !done)
    return done;
  return status;
}
