// What a finished plan says about itself, for people and as JSON.
#ifndef GC_TOOLS_GC_COMPILE_COMPILEREPORT_H
#define GC_TOOLS_GC_COMPILE_COMPILEREPORT_H

#include "runtime/plan/PlanFile.h"
#include "runtime/report/TrainingReport.h"

#include <string>

struct CompileReport {
  double seconds = 0;         // from text to plan
  std::string compilerReport; // JSON, as the compiler gave it
  gc::runtime::OriginReport origin = {};
};

/// Whose rates have predicted the times in it.
std::string ratesFrom(const std::string &compilerReport);

std::string summaryText(const gc::runtime::PlanFile &plan, const CompileReport &report);
/// The keys that gc-run's report has too have the same names and meaning.
std::string reportJson(const gc::runtime::PlanFile &plan, const CompileReport &report);

/// A page to look at: the numbers, the memory of the step before and after recomputation, every
/// buffer over the step. Fails (bad input) where the compiler's report cannot be read.
gc::runtime::Result<std::string> htmlPage(const gc::runtime::PlanFile &plan,
                                          const CompileReport &report);

#endif // GC_TOOLS_GC_COMPILE_COMPILEREPORT_H
