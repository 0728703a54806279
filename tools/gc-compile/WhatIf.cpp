#include "tools/gc-compile/WhatIf.h"

#include "compiler/OptionChecks.h"
#include "compiler/cuda/DeviceModel.h"
#include "runtime/process/Nearest.h"
#include "runtime/report/Sizes.h"
#include "tools/gc-compile/RecomputedText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>

using namespace gc::runtime;
using json = nlohmann::ordered_json;

namespace {

const std::vector<std::string> keyNames = {"batch",      "budget", "optimizer", "target",
                                           "accumulate", "remat",  "precision"};

std::optional<int64_t> wholeNumber(const std::string &text) {
  int64_t number = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size() || number < 1)
    return std::nullopt;
  return number;
}

Error wrongValue(const std::string &key, const std::string &value, const std::string &expected) {
  return badInput(fmt::format("--what-if: {}={}: expected {}", key, value, expected));
}

Status applyBudget(const std::string &value, WhatIfRow &row) {
  row.options.budgetBytes = 0;
  if (value == "none")
    return {};
  Result<uint64_t> bytes = parseSize(value);
  if (!bytes)
    return wrongValue("budget", value, "none or a size such as 1.5GB: " + bytes.error().message);
  if (*bytes == 0)
    return wrongValue("budget", value, "a budget above 0 bytes");
  row.options.budgetBytes = *bytes;
  return {};
}

Status applyTarget(const std::string &value, WhatIfRow &row) {
  if (row.options.device != "cuda")
    return badInput("--what-if: target goes with --device=cuda: the cpu device has no targets");
  if (!gc::cuda::findDeviceModel(value))
    return wrongValue("target", value, "one that gc-compile --targets lists");
  row.options.target = value;
  row.options.targetProperties.clear();
  return {};
}

Status apply(const std::string &key, const std::string &value, WhatIfRow &row) {
  gc::CompileOptions &options = row.options;
  std::optional<int64_t> number = wholeNumber(value);
  if (key == "batch") {
    if (!number || *number > INT32_MAX)
      return wrongValue(key, value, "a number of samples from 1 on");
    row.batch = *number;
  } else if (key == "budget") {
    return applyBudget(value, row);
  } else if (key == "optimizer") {
    std::vector<std::string> names = gc::optimizerNames();
    if (std::find(names.begin(), names.end(), value) == names.end())
      return wrongValue(key, value, gc::optimizerList());
    options.optimizer.name = value;
  } else if (key == "target") {
    return applyTarget(value, row);
  } else if (key == "accumulate") {
    if (!number && value != "auto")
      return wrongValue(key, value, "a number of micro-batches from 1 on, or auto");
    options.accumulateAuto = value == "auto";
    options.accumulate = number.value_or(1);
  } else if (key == "remat") {
    options.remat = value;
  } else if (key == "precision") {
    if (value != "f32" && value != "bf16")
      return wrongValue(key, value, "f32 or bf16");
    options.precision.type = value;
  }
  return {};
}

std::string withSpaces(const std::vector<WhatIfKey> &keys, const WhatIfRow &row) {
  std::string text;
  for (size_t i = 0; i < keys.size(); ++i)
    text += (i ? " " : "") + keys[i].name + "=" + row.values[i];
  return text;
}

std::string firstLine(const std::string &text) { return text.substr(0, text.find('\n')); }

bool isMissed(const gc::StepAnswer &answer) { return answer.exitCode == gc::exits::NoBudget; }

std::string csvField(const std::string &text) {
  if (text.find_first_of(",\"\n") == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? "\"\"" : std::string(1, c == '\n' ? ' ' : c);
  return quoted + "\"";
}

} // namespace

Result<std::vector<WhatIfKey>> readWhatIf(const std::string &text) {
  std::vector<WhatIfKey> keys;
  std::vector<std::string> lists;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    if (equals == std::string::npos) { // a card's name goes on: target=RTX 3060
      if (keys.empty())
        return badInput(fmt::format("--what-if: '{}': expected KEY=VALUE,VALUE...{}", word,
                                    didYouMean(nearestName(word, keyNames))));
      lists.back() += " " + word;
      continue;
    }
    std::string name = word.substr(0, equals);
    if (std::find(keyNames.begin(), keyNames.end(), name) == keyNames.end())
      return badInput(fmt::format("--what-if: there is no key '{}' (keys: {}){}", name,
                                  fmt::join(keyNames, ", "),
                                  didYouMean(nearestName(name, keyNames))));
    if (std::any_of(keys.begin(), keys.end(), [&](auto &key) { return key.name == name; }))
      return badInput(
          fmt::format("--what-if: {} comes twice; give all values at once: {}=A,B", name, name));
    keys.push_back({name, {}});
    lists.push_back(word.substr(equals + 1));
  }
  if (keys.empty())
    return badInput("--what-if is empty; expected such as \"batch=8,16 budget=4GB\"");
  for (size_t i = 0; i < keys.size(); ++i) {
    std::istringstream values(lists[i] + ",");
    for (std::string value; std::getline(values, value, ',');) {
      size_t begin = value.find_first_not_of(' '), end = value.find_last_not_of(' ');
      if (begin == std::string::npos)
        return badInput(
            fmt::format("--what-if: {}={}: a value is missing", keys[i].name, lists[i]));
      keys[i].values.push_back(value.substr(begin, end - begin + 1));
    }
  }
  return keys;
}

Result<std::vector<WhatIfRow>> whatIfRows(const std::vector<WhatIfKey> &keys,
                                          const gc::CompileOptions &options) {
  constexpr size_t most = 1000;
  std::vector<WhatIfRow> rows = {{{}, 0, options}};
  for (const WhatIfKey &key : keys) {
    std::vector<WhatIfRow> longer;
    for (const WhatIfRow &row : rows)
      for (const std::string &value : key.values) {
        longer.push_back(row);
        longer.back().values.push_back(value);
        if (Status applied = apply(key.name, value, longer.back()); !applied)
          return applied.error();
      }
    rows = std::move(longer);
    if (rows.size() > most)
      return badInput(fmt::format("--what-if: more than {} combinations; ask for fewer", most));
  }
  for (const WhatIfRow &row : rows)
    if (std::string wrong = gc::checkOptions(row.options); !wrong.empty())
      return badInput(fmt::format("--what-if: {}: {}", withSpaces(keys, row), wrong));
  return rows;
}

WhatIfTable::WhatIfTable(const std::vector<WhatIfKey> &keys) : keys(keys) {
  for (const WhatIfKey &key : keys) {
    widths.push_back(key.name.size());
    for (const std::string &value : key.values)
      widths.back() = std::max(widths.back(), value.size());
  }
}

std::string WhatIfTable::head() const {
  std::string text;
  for (size_t i = 0; i < keys.size(); ++i)
    text += fmt::format("{:>{}}  ", keys[i].name, widths[i]);
  return text + fmt::format("{:>14} {:>10} {:>10} {:>13}  {}\n", "peak, bytes", "step, s",
                            "samples/s", "micro-batches", "recomputes");
}

std::string WhatIfTable::line(const WhatIfRow &row, const gc::StepAnswer &answer) const {
  std::string text;
  for (size_t i = 0; i < keys.size(); ++i)
    text += fmt::format("{:>{}}  ", row.values[i], widths[i]);
  if (isMissed(answer))
    return text + fmt::format("infeasible: needs at least {}; no plan needs less than {}\n",
                              sizeText(answer.smallestBytes), sizeText(answer.lowestBytes));
  if (answer.exitCode)
    return text + "no answer: " + firstLine(answer.error) + "\n";
  return text + fmt::format("{:>14} {:>10.4g} {:>10.4g} {:>13}  {}\n", answer.peakBytes,
                            answer.stepSeconds, answer.samplesPerSecond(), answer.microBatches,
                            recomputedText(answer));
}

std::string whatIfCsv(const std::vector<WhatIfKey> &keys, const std::vector<AnsweredRow> &rows) {
  std::string text;
  for (const WhatIfKey &key : keys)
    text += key.name + ",";
  text += "feasible,samples,peak_bytes,step_seconds_predicted,samples_per_second_predicted,"
          "micro_batches,split_parts,input_slots,recomputed,retained,recompute_fraction,"
          "smallest_bytes,lower_bound_bytes,reason\n";
  for (const auto &[row, answer] : rows) {
    for (const std::string &value : row.values)
      text += csvField(value) + ",";
    if (answer.exitCode == 0)
      text += fmt::format("yes,{},{},{:.9g},{:.9g},{},{},{},{},{},{:.9g},,,\n", answer.batch,
                          answer.peakBytes, answer.stepSeconds, answer.samplesPerSecond(),
                          answer.microBatches, answer.parts, answer.inputSlots, answer.recomputed,
                          answer.retained, answer.recomputeFraction);
    else if (isMissed(answer))
      text += fmt::format("no,{},,,,,,,,,,{},{},budget missed\n", answer.batch,
                          answer.smallestBytes, answer.lowestBytes);
    else
      text += fmt::format("no,{},,,,,,,,,,,,{}\n", answer.batch, csvField(answer.error));
  }
  return text;
}

std::string whatIfJson(const std::string &model, const std::vector<WhatIfKey> &keys,
                       const std::vector<AnsweredRow> &rows) {
  json out;
  out["question"] = "what-if";
  out["model"] = model;
  out["rows"] = json::array();
  std::string rates;
  for (const auto &[row, answer] : rows) {
    json one;
    for (size_t i = 0; i < keys.size(); ++i)
      one["settings"][keys[i].name] = row.values[i];
    one["batch"] = answer.batch;
    one["feasible"] = answer.exitCode == 0;
    if (answer.exitCode == 0) {
      one.update({{"peak_bytes", answer.peakBytes},
                  {"step_seconds_predicted", answer.stepSeconds},
                  {"samples_per_second_predicted", answer.samplesPerSecond()},
                  {"micro_batches", answer.microBatches},
                  {"split_parts", answer.parts},
                  {"input_slots", answer.inputSlots},
                  {"recomputed", answer.recomputed},
                  {"retained", answer.retained},
                  {"recompute_fraction", answer.recomputeFraction},
                  {"warnings", answer.warnings}});
      rates = answer.ratesFrom;
    } else {
      one["reason"] = answer.error;
    }
    if (isMissed(answer))
      one.update(
          {{"smallest_bytes", answer.smallestBytes}, {"lower_bound_bytes", answer.lowestBytes}});
    out["rows"].push_back(one);
  }
  out["prediction"] = {{"rates_from", rates}};
  return out.dump(1) + "\n";
}
