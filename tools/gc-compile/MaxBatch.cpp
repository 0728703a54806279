#include "tools/gc-compile/MaxBatch.h"

#include "runtime/report/Sizes.h"
#include "tools/gc-compile/BatchSearch.h"
#include "tools/gc-compile/RecomputedText.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>

using namespace gc::runtime;
using json = nlohmann::ordered_json;

namespace {

class Finder {
public:
  Finder(gc::AskedModel &model, const gc::CompileOptions &options, const MemoryRoom &room,
         const std::function<void(const std::string &)> &tell)
      : model(model), options(options), room(static_cast<int64_t>(room.bytes)), tell(tell) {
    this->options.budgetBytes = 0;
    this->options.accumulate = 1;
  }

  Result<MaxBatch> run() {
    MaxBatch found;
    BatchWay alone, again, parts;
    alone.name = "alone";
    again.name = "recomputing";
    parts.name = "accumulating";
    // Where the model itself cannot be compiled, there is nothing to search.
    if (gc::StepNeed own = model.need(model.batch(), options); own.exitCode)
      return Error{static_cast<ErrorClass>(own.exitCode), own.error};
    if (Status done = findAlone(alone); !done)
      return done.error();
    if (Status done = findAgain(again, alone.largest.batch); !done)
      return done.error();
    if (Status done = findParts(parts, again.largest.batch); !done)
      return done.error();
    found.ways = {alone, again, parts};
    found.compilations = compilations;
    return found;
  }

  int64_t given = 1; // micro-batches that the user asked for; 1: none

private:
  static constexpr int64_t kMost = std::numeric_limits<int32_t>::max(); // of any dimension
  // Parts of the batch that --split=auto tries are powers of two up to this.
  static constexpr int64_t kParts = 16;

  gc::CompileOptions optionsOf(const BatchWay &way) const {
    gc::CompileOptions own = options;
    own.accumulate = way.microBatches;
    if (way.name != "alone")
      own.budgetBytes = static_cast<uint64_t>(room);
    return own;
  }

  // By what is known without a search. `unit` times as many samples as the search says are asked
  // about. A batch that the model cannot have does not fit; the answer to it will say why.
  Status look(const BatchWay &way, BatchSearch &search, int64_t unit) {
    while (std::optional<int64_t> count = search.next()) {
      Result<gc::StepNeed> need = needOf(way, *count * unit);
      if (!need)
        return need.error();
      int64_t bytes = need->exitCode        ? 0
                      : way.name == "alone" ? need->plainBytes
                                            : need->lowestBytes;
      search.learn(*count, bytes > 0 && bytes <= room, bytes);
    }
    return {};
  }

  Result<gc::StepNeed> needOf(const BatchWay &way, int64_t count) {
    int64_t batch = count * way.microBatches;
    tell(fmt::format("{}: batch {}", way.name, batch));
    ++compilations;
    gc::StepNeed need = model.need(batch, optionsOf(way));
    if (need.exitCode && need.exitCode != gc::exits::BadInput)
      return Error{static_cast<ErrorClass>(need.exitCode), need.error};
    return need;
  }

  // By plans, which are searched for and kept for when they turn out to be the answer.
  Result<bool> plan(const BatchWay &way, BatchSearch &search, int64_t count, int64_t unit) {
    const gc::StepAnswer &answer = answerOf(way, count * unit);
    if (answer.exitCode && answer.exitCode != gc::exits::NoBudget &&
        answer.exitCode != gc::exits::BadInput)
      return Error{static_cast<ErrorClass>(answer.exitCode), answer.error};
    // What a plan within a budget needs says little: it takes the room that there is.
    search.learn(count, fits(answer), fits(answer) ? 0 : answer.smallestBytes);
    return fits(answer);
  }

  Status planAll(const BatchWay &way, BatchSearch &search, int64_t unit) {
    while (std::optional<int64_t> count = search.next())
      if (Result<bool> planned = plan(way, search, *count, unit); !planned)
        return planned.error();
    return {};
  }

  const gc::StepAnswer &answerOf(const BatchWay &way, int64_t count) {
    auto [known, isNew] = answers.try_emplace({way.name, count});
    if (isNew) {
      int64_t batch = count * way.microBatches;
      tell(fmt::format("{}: batch {}, its plan", way.name, batch));
      ++compilations;
      known->second = model.answer(batch, optionsOf(way));
    }
    return known->second;
  }

  bool fits(const gc::StepAnswer &answer) const {
    return !answer.exitCode && answer.peakBytes <= room;
  }

  // Both the answer and the batch behind it are compiled: the one must fit, the other must not.
  // Else the search goes on from there.
  Status prove(BatchWay &way, BatchSearch &search) {
    for (;;) {
      int64_t count = search.largest();
      if (count) {
        Result<bool> planned = plan(way, search, count, 1);
        if (!planned)
          return planned.error();
        if (*planned)
          way.largest = answerOf(way, count);
      }
      if (search.largest() == count) {
        if (count == kMost)
          return {};
        Result<bool> planned = plan(way, search, count + 1, 1);
        if (!planned)
          return planned.error();
        if (!*planned) {
          if (!count)
            way.largest = {};
          way.next = answerOf(way, count + 1);
          return {};
        }
      }
      if (Status done = planAll(way, search, 1); !done)
        return done;
    }
  }

  Status findAlone(BatchWay &way) {
    BatchSearch search(room, model.batch(), kMost);
    Status done = look(way, search, 1);
    return done ? prove(way, search) : done;
  }

  // `least` is known to fit. First by proven bounds, which take no search for plans: no batch above
  // them can have one. Where chains of ops may run in parts of the batch, which must divide it,
  // multiples of all numbers of parts come first: they fit where their neighbours do not.
  Status findWithBudget(BatchWay &way, int64_t least, int64_t start) {
    Result<gc::StepNeed> trial = needOf(way, (start + kParts - 1) / kParts * kParts);
    if (!trial)
      return trial.error();
    int64_t unit = trial->triesParts ? kParts : 1;
    auto begin = [&](int64_t first, int64_t size) {
      BatchSearch search(room, std::max<int64_t>(1, first / size), kMost / size);
      if (least >= size)
        search.learn(least / size, true, 0);
      return search;
    };
    BatchSearch bounds = begin(start, unit);
    if (Status done = look(way, bounds, unit); !done)
      return done;
    int64_t most = bounds.largest();
    BatchSearch search = begin(start, unit);
    search.learn(most + 1, false, 0);
    if (most > search.largest())
      if (Result<bool> planned = plan(way, search, most, unit); !planned)
        return planned.error();
    if (Status done = planAll(way, search, unit); !done)
      return done;
    if (unit == 1)
      return prove(way, search);
    BatchSearch single = begin(least, 1);
    if (search.largest() > least / unit)
      single.learn(search.largest() * unit, true, 0);
    single.learn((search.largest() + 1) * unit, false, 0);
    if (Status done = planAll(way, single, 1); !done)
      return done;
    return prove(way, single);
  }

  Status findAgain(BatchWay &way, int64_t alone) {
    return findWithBudget(way, alone, std::max<int64_t>(1, 2 * alone));
  }

  Status findParts(BatchWay &way, int64_t again) {
    way.microBatches = given > 1 ? given : 2;
    int64_t first = std::max<int64_t>(1, again);
    Result<gc::StepNeed> trial = needOf(way, first);
    if (!trial)
      return trial.error();
    if (!trial->mixesSamples.empty() && given == 1) {
      way.isCounted = false;
      way.note = fmt::format("micro-batches do not give the step of the whole batch, because "
                             "samples meet in {}; --accumulate=K counts them all the same",
                             trial->mixesSamples);
      return {};
    }
    if (!trial->mixesSamples.empty())
      way.note =
          fmt::format("not the step of the whole batch: samples meet in {}", trial->mixesSamples);
    return findWithBudget(way, 0, first);
  }

  gc::AskedModel &model;
  gc::CompileOptions options;
  int64_t room;
  const std::function<void(const std::string &)> &tell;
  int64_t compilations = 0;
  std::map<std::pair<std::string, int64_t>, gc::StepAnswer> answers; // by way and count
};

json answerJson(const gc::StepAnswer &answer) {
  if (!answer.batch)
    return nullptr;
  return {{"batch", answer.batch},
          {"micro_batches", answer.microBatches},
          {"split_parts", answer.parts},
          {"input_slots", answer.inputSlots},
          {"peak_bytes", answer.peakBytes},
          {"step_seconds_predicted", answer.stepSeconds},
          {"samples_per_second_predicted", answer.samplesPerSecond()},
          {"recomputed", answer.recomputed},
          {"retained", answer.retained},
          {"recompute_fraction", answer.recomputeFraction}};
}

std::string firstLine(const std::string &text) { return text.substr(0, text.find('\n')); }

// Why the batch behind the answer is none.
std::string nextText(const BatchWay &way) {
  const gc::StepAnswer &next = way.next;
  if (!next.batch)
    return "";
  if (!next.exitCode)
    return fmt::format("batch {} needs {}", next.batch, sizeText(next.peakBytes));
  if (next.exitCode == gc::exits::NoBudget)
    return fmt::format("batch {} needs at least {}, and no plan of it less than {}", next.batch,
                       sizeText(next.smallestBytes), sizeText(next.lowestBytes));
  return fmt::format("batch {}: {}", next.batch, firstLine(next.error));
}

} // namespace

Result<MaxBatch> findMaxBatch(gc::AskedModel &model, const gc::CompileOptions &options,
                              const MemoryRoom &room,
                              const std::function<void(const std::string &)> &tell) {
  auto begin = std::chrono::steady_clock::now();
  Finder finder(model, options, room, tell);
  finder.given = options.accumulate;
  Result<MaxBatch> found = finder.run();
  if (!found)
    return found;
  found->model = model.name();
  found->parameters = model.parameters();
  found->room = room;
  found->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return found;
}

std::string maxBatchText(const MaxBatch &found, const std::string &file) {
  auto line = [](const char *label, const std::string &text) {
    return fmt::format("{:<11} {}\n", label, text);
  };
  std::string text =
      line("model", fmt::format("{}, {} parameters", found.model, countText(found.parameters))) +
      line("target", found.room.device) + line("budget", found.room.text());
  text += fmt::format("\n{:<13} {:>7}  {:>14} {:>10} {:>10}  {}\n", "", "batch", "peak, bytes",
                      "step, s", "samples/s", "recomputes");
  std::string rates;
  for (const BatchWay &way : found.ways) {
    const gc::StepAnswer &largest = way.largest;
    auto detail = [&](const std::string &what) {
      text += what.empty() ? "" : fmt::format("{:<13} {}\n", "", what);
    };
    if (!way.isCounted) {
      text += fmt::format("{:<13} {}\n", way.name, way.note);
      continue;
    }
    if (!largest.batch) {
      text += fmt::format("{:<13} {:>7}  not one sample{} fits\n", way.name, 0,
                          way.microBatches > 1 ? " a micro-batch" : "");
      detail(nextText(way));
      continue;
    }
    rates = largest.ratesFrom;
    text += fmt::format("{:<13} {:>7}  {:>14} {:>10.4g} {:>10.4g}  {}\n", way.name, largest.batch,
                        largest.peakBytes, largest.stepSeconds, largest.samplesPerSecond(),
                        recomputedText(largest));
    if (way.microBatches > 1)
      detail(fmt::format("{} micro-batches of {}; any other number of them has this peak, too",
                         way.microBatches, largest.batch / way.microBatches));
    detail(way.note);
    detail(nextText(way));
  }
  text += fmt::format("\nfound in {:.2f} s by {} compilations, times predicted by rates: {}\n",
                      found.seconds, found.compilations, rates.empty() ? "none" : rates);
  text += fmt::format("a plan of it: gc-opt {} --gc-batch=size=BATCH --mlir-print-debuginfo | "
                      "gc-compile - --budget={} -o PLAN, with --accumulate=K where micro-batches "
                      "accumulate and your other flags\n",
                      file == "-" ? "MODEL" : file, found.room.bytes);
  return text;
}

std::string maxBatchJson(const MaxBatch &found) {
  json out;
  out["question"] = "max-batch";
  out["model"] = found.model;
  out["parameters"] = found.parameters;
  out["device"] = found.room.device;
  out["budget"] = {{"bytes", found.room.bytes},
                   {"card_bytes", found.room.cardBytes},
                   {"reserve_bytes", found.room.reserveBytes}};
  std::string rates;
  for (const BatchWay &way : found.ways) {
    json row = {{"way", way.name}, {"counted", way.isCounted}, {"note", way.note}};
    row["largest"] = answerJson(way.largest);
    if (way.largest.batch)
      rates = way.largest.ratesFrom;
    row["next"] = nullptr;
    if (way.next.batch)
      row["next"] = {
          {"batch", way.next.batch},
          {"smallest_bytes", way.next.exitCode ? way.next.smallestBytes : way.next.peakBytes},
          {"lower_bound_bytes", way.next.lowestBytes},
          {"reason", nextText(way)}};
    out["ways"].push_back(row);
  }
  out["compilations"] = found.compilations;
  out["seconds"] = found.seconds;
  out["prediction"] = {{"rates_from", rates}};
  return out.dump(1) + "\n";
}
