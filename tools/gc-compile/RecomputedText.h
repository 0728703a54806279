// What a step recomputes, and what else it does to need less, as the last column of a table.
#ifndef GC_TOOLS_GC_COMPILE_RECOMPUTEDTEXT_H
#define GC_TOOLS_GC_COMPILE_RECOMPUTEDTEXT_H

#include "compiler/AskModel.h"

#include <fmt/format.h>

/// "50 of 211 values, +6.70 %; one input buffer", or "nothing".
inline std::string recomputedText(const gc::StepAnswer &answer) {
  std::string text =
      answer.recomputed == 0
          ? "nothing"
          : fmt::format("{} of {} values, +{:.2f} %", answer.recomputed,
                        answer.recomputed + answer.retained, 100 * answer.recomputeFraction);
  if (answer.parts > 1)
    text += fmt::format("; chains of ops in {} parts of the batch", answer.parts);
  if (answer.inputSlots == 1)
    text += "; one input buffer";
  return text;
}

#endif // GC_TOOLS_GC_COMPILE_RECOMPUTEDTEXT_H
