#include "runtime/trainer/LearningRate.h"

#include "runtime/process/Nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <numbers>
#include <vector>

namespace gc::runtime {
namespace {

using Curve = std::function<double(double step)>;

/// What a schedule is made of.
struct Request {
  const LearningRateOptions &options;
  double lr, minimum;
  uint64_t steps;                      // after the warm-up
  std::vector<std::string> parameters; // what follows the name, separated by colons

  Error wrong(const std::string &what) const {
    return badInput(fmt::format("--schedule={}: {}", options.schedule, what));
  }
};
/// A schedule: its curve, and what describes it.
struct Shape {
  Curve curve;
  std::string text;
};

std::vector<std::string> splitAt(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

template <class Number> bool parse(const std::string &text, Number &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

/// A number of steps from 1 on that comes before the run's end, or the whole number `limit`.
Status readSteps(const Request &request, const char *what, const std::string &text, uint64_t most,
                 uint64_t &steps) {
  if (!parse(text, steps) || steps < 1)
    return request.wrong(
        fmt::format("expected {} as a number of steps from 1 on, got '{}'", what, text));
  if (steps > most)
    return request.wrong(fmt::format("{} {} has no effect in a run of {} steps{}", what, steps,
                                     request.steps,
                                     request.options.warmup ? " after its warm-up" : ""));
  return {};
}

/// The parameter at `index`, if it is there, must be in (0, limit).
Status readNumber(const Request &request, const char *what, size_t index, double limit,
                  double &number) {
  if (request.parameters.size() <= index)
    return {};
  const std::string &text = request.parameters[index];
  if (parse(text, number) && number > 0 && number < limit)
    return {};
  return request.wrong(fmt::format("expected {} as a number above 0{}, got '{}'", what,
                                   std::isfinite(limit) ? fmt::format(" and below {}", limit) : "",
                                   text));
}

double cosineBetween(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

Result<Shape> constant(const Request &request) {
  return Shape{[lr = request.lr](double) { return lr; }, "constant"};
}

// lr * factor^(milestones up to here), as StepLR and MultiStepLR.
Result<Shape> inSteps(const Request &request, std::function<uint64_t(double)> count, double factor,
                      std::string text) {
  return Shape{
      [lr = request.lr, minimum = request.minimum, count, factor](double step) {
        return std::max(minimum, lr * std::pow(factor, static_cast<double>(count(step))));
      },
      fmt::format("{}, times {}{}", text, factor,
                  request.minimum > 0 ? fmt::format(", at least {}", request.minimum) : "")};
}

Result<Shape> step(const Request &request) {
  uint64_t every = 0;
  double factor = 0.1;
  if (Status fine = readSteps(request, "EVERY", request.parameters[0], request.steps - 1, every);
      !fine)
    return fine.error();
  if (Status fine = readNumber(request, "FACTOR", 1, HUGE_VAL, factor); !fine)
    return fine.error();
  return inSteps(
      request, [every](double step) { return static_cast<uint64_t>(step) / every; }, factor,
      fmt::format("every {} steps", every));
}

Result<Shape> multiStep(const Request &request) {
  std::vector<uint64_t> milestones;
  double factor = 0.1;
  for (const std::string &text : splitAt(request.parameters[0], ',')) {
    uint64_t milestone = 0;
    if (Status fine = readSteps(request, "step", text, request.steps - 1, milestone); !fine)
      return fine.error();
    if (!milestones.empty() && milestone <= milestones.back())
      return request.wrong(
          fmt::format("step {} must come after step {}", milestone, milestones.back()));
    milestones.push_back(milestone);
  }
  if (Status fine = readNumber(request, "FACTOR", 1, HUGE_VAL, factor); !fine)
    return fine.error();
  std::string text = fmt::format("at steps {}", fmt::join(milestones, ", "));
  auto count = [milestones](double step) {
    return static_cast<uint64_t>(std::count_if(milestones.begin(), milestones.end(),
                                               [&](uint64_t m) { return step >= double(m); }));
  };
  return inSteps(request, count, factor, text);
}

// LinearLR(start_factor=1, end_factor=minimum / lr, total_iters=steps)
Result<Shape> linear(const Request &request) {
  auto curve = [lr = request.lr, to = request.minimum, steps = static_cast<double>(request.steps)](
                   double step) { return lr + (to - lr) * step / steps; };
  return Shape{curve, fmt::format("linear over {} steps to {}", request.steps, request.minimum)};
}

// CosineAnnealingLR(T_max=steps), CosineAnnealingWarmRestarts(T_0=first, T_mult=times)
Result<Shape> cosine(const Request &request) {
  uint64_t first = request.steps, times = 1;
  double lr = request.lr, minimum = request.minimum;
  if (request.parameters.empty())
    return Shape{
        [=](double step) { return cosineBetween(lr, minimum, step / static_cast<double>(first)); },
        fmt::format("cosine over {} steps to {}", first, minimum)};
  if (Status fine = readSteps(request, "FIRST", request.parameters[0], request.steps, first); !fine)
    return fine.error();
  if (request.parameters.size() > 1 && (!parse(request.parameters[1], times) || times < 1))
    return request.wrong(
        fmt::format("expected TIMES as a whole number from 1 on, got '{}'", request.parameters[1]));
  auto curve = [=](double step) {
    auto length = static_cast<double>(first), at = step;
    while (at >= length) {
      at -= length;
      length *= static_cast<double>(times);
      if (times == 1)
        at = std::fmod(at, length);
    }
    return cosineBetween(lr, minimum, at / length);
  };
  return Shape{curve, fmt::format("cosine over {} steps to {}, again{}", first, minimum,
                                  times == 1 ? "" : fmt::format(" and {} times as long", times))};
}

// OneCycleLR(max_lr=lr, total_steps=steps, cycle_momentum=False)
Result<Shape> oneCycle(const Request &request) {
  double rising = 0.3, start = 25, end = 1e4;
  for (auto [what, index, limit, number] : {std::tuple("RISING", 0, 1.0, &rising),
                                            {"START", 1, HUGE_VAL, &start},
                                            {"END", 2, HUGE_VAL, &end}})
    if (Status fine = readNumber(request, what, static_cast<size_t>(index), limit, *number); !fine)
      return fine.error();
  double top = rising * static_cast<double>(request.steps) - 1;
  auto last = static_cast<double>(request.steps - 1);
  if (top <= 0 || top >= last)
    return request.wrong(
        fmt::format("a run of {} steps is too short to rise in {} of it", request.steps, rising));
  auto curve = [lr = request.lr, from = request.lr / start, to = request.lr / start / end, top,
                last](double step) {
    return step <= top ? cosineBetween(from, lr, step / top)
                       : cosineBetween(lr, to, (step - top) / (last - top));
  };
  return Shape{
      curve, fmt::format("one cycle over {} steps, rising in {} of them from 1/{}, to 1/{} of that",
                         request.steps, rising, start, end)};
}

struct Kind {
  const char *name;
  size_t least, most; // parameters
  bool hasMinimum;
  const char *usage;
  Result<Shape> (*make)(const Request &);
};
const Kind kinds[] = {
    {"constant", 0, 0, false, "constant", constant},
    {"step", 1, 2, true, "step:EVERY[:FACTOR]", step},
    {"multi-step", 1, 2, true, "multi-step:A,B,...[:FACTOR]", multiStep},
    {"linear", 0, 0, true, "linear", linear},
    {"cosine", 0, 2, true, "cosine[:FIRST[:TIMES]]", cosine},
    {"one-cycle", 0, 3, false, "one-cycle[:RISING[:START[:END]]]", oneCycle},
};

Result<const Kind *> findKind(const std::string &schedule, const std::string &name) {
  std::vector<std::string> names, usages;
  for (const Kind &kind : kinds) {
    if (name == kind.name)
      return &kind;
    names.push_back(kind.name);
    usages.push_back(kind.usage);
  }
  std::string nearest = nearestName(name, names);
  return badInput(fmt::format("--schedule={}: expected {}{}", schedule, fmt::join(usages, ", "),
                              nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

} // namespace

Result<LearningRate> LearningRate::create(const LearningRateOptions &options, double planned,
                                          uint64_t steps) {
  LearningRate made;
  made.lr = options.lr.value_or(planned);
  made.warmup = options.warmup;
  std::vector<std::string> parts = splitAt(options.schedule, ':');
  Result<const Kind *> kind = findKind(options.schedule, parts[0]);
  if (!kind)
    return kind.error();
  Request request{
      options, made.lr, options.minimum.value_or(0), 0, {parts.begin() + 1, parts.end()}};
  size_t given = request.parameters.size();
  if (given < (*kind)->least || given > (*kind)->most)
    return request.wrong(fmt::format("expected {}", (*kind)->usage));
  if (options.minimum && !(*kind)->hasMinimum)
    return badInput(fmt::format("--min-lr has no effect with --schedule={}", options.schedule));
  if (options.minimum && !(*options.minimum >= 0 && *options.minimum < made.lr))
    return badInput(
        fmt::format("--min-lr={}: expected a number from 0 on, below the learning rate {}",
                    *options.minimum, made.lr));
  // A run of no steps has no learning rates.
  if (steps > 0 && options.warmup >= steps)
    return badInput(fmt::format("--warmup={}: a run of {} steps would end within its warm-up",
                                options.warmup, steps));
  request.steps = std::max<uint64_t>(steps, options.warmup + 1) - options.warmup;
  if (steps == 0) {
    made.schedule = [lr = made.lr](double) { return lr; };
    made.description = options.schedule;
    return made;
  }
  Result<Shape> shape = (*kind)->make(request);
  if (!shape)
    return shape.error();
  made.schedule = std::move(shape->curve);
  made.description = std::move(shape->text);
  if (made.warmup)
    made.description += fmt::format(" after {} of warm-up", made.warmup);
  return made;
}

// LinearLR(start_factor=1 / (warmup + 1), total_iters=warmup), then the schedule from its
// beginning, as SequentialLR has it.
double LearningRate::at(uint64_t step) const {
  return step < warmup ? lr * static_cast<double>(step + 1) / static_cast<double>(warmup + 1)
                       : schedule(static_cast<double>(step - warmup));
}

} // namespace gc::runtime
