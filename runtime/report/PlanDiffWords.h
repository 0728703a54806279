// How a comparison of plans reads: what the text for a terminal and the page share.
#ifndef GC_RUNTIME_REPORT_PLANDIFFWORDS_H
#define GC_RUNTIME_REPORT_PLANDIFFWORDS_H

#include "runtime/report/PlanDiff.h"

namespace gc::runtime {

/// "the same model (mnist, 133,650 parameters), device (cpu, znver4) and batch (16)": what counts
/// most of what does not differ. Empty where all of it differs.
std::string whatIsTheSame(const PlanDiff &diff);
/// One line for each setting that differs: "budget: 600000000 bytes (572.2 MiB) in A, none in B".
std::vector<std::string> whatDiffers(const PlanDiff &diff);
/// "B needs 190.7 MiB less memory (-33.3 %)", "B's step is predicted to take 23.1 ms longer (+4.1
/// %)".
std::vector<std::string> inShort(const PlanDiff &diff);

/// `572.2 MiB`, `12.31 ms`, `1,204`; "?" for what a plan does not tell.
std::string figureText(ComparedFigure::Unit unit, const std::optional<double> &value);
/// Whether both plans have none of it, so that nothing needs to be told.
bool isNothing(const ComparedFigure &figure);
/// B less A: `-190.7 MiB (-33.3 %)`; empty where they are equal or not known.
std::string changeText(const ComparedFigure &figure);

/// A list of values under its heading.
struct ValueList {
  std::string title; // "kept in A, recomputed in B: 40 values"
  std::string costs; // "300.0 MiB not kept, 25.31 ms paid in a step"; may be empty
  struct Row {
    std::string name; // "conv:conv2d (16 parts in B, kept 6 of 16)"
    uint64_t bytesA = 0, bytesB = 0;
    double seconds = 0;             // that are paid for it in a step
    int64_t timesA = 0, timesB = 0; // that its op runs again in a micro-batch
    bool atPeak = false;
    size_t count = 1; // of values of which all of that is true
  };
  std::vector<Row> rows;
};
/// Values that are recomputed in one plan or in both, not in the same way. Empty lists are left
/// out.
std::vector<ValueList> valueLists(const PlanDiff &diff);

/// Values without a counterpart of which the same is said.
struct UnmatchedRow {
  std::string name;
  uint64_t bytes = 0; // of each
  std::string paid;   // for each: "5.267 ms", "kept"
  size_t count = 1;
};
/// In the order of the first of each row.
std::vector<UnmatchedRow> unmatchedRows(const std::vector<SavedValue> &values,
                                        const DescribedPlan &plan);

/// "conv:conv2d × 16"; one is not counted.
std::string timesText(const std::string &name, size_t count);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_PLANDIFFWORDS_H
