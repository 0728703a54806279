// What a plan holds, in words and as JSON, read from the plan alone.
#ifndef GC_RUNTIME_TRAINER_PLANTEXT_H
#define GC_RUNTIME_TRAINER_PLANTEXT_H

#include "runtime/plan/Plan_generated.h"
#include "runtime/report/TrainingReport.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gc::runtime {

size_t commandsOf(const plan::CommandList *list);
/// Empty where there is none.
std::string textOf(const flatbuffers::String *text);
size_t kernelsOf(const plan::Plan &plan);
/// What of the arena is above the lower bound, as a fraction.
double gapOf(const MemoryReport &memory);
/// `cpu, znver4`
std::string targetText(const plan::Plan &plan);

/// `label      text`, as header and summary are printed.
std::string labelled(const char *label, const std::string &text);

/// Model, target and peak with its kinds: how every account of a plan begins.
std::string peakText(const plan::Plan &plan);
/// The rest: optimizer, recomputation, inputs, variables, commands by kind, kernels, graphs.
std::string contentText(const plan::Plan &plan);

/// A row each.
std::string variableTable(const plan::Plan &plan);
std::string commandTable(const plan::Plan &plan);
std::string bufferTable(const plan::Plan &plan);

/// All of it.
nlohmann::ordered_json planJson(const plan::Plan &plan);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_PLANTEXT_H
