// The largest batch that fits: what --max-batch finds, prints and writes.
#ifndef GC_TOOLS_GC_COMPILE_MAXBATCH_H
#define GC_TOOLS_GC_COMPILE_MAXBATCH_H

#include "compiler/AskModel.h"
#include "tools/gc-compile/MemoryRoom.h"

#include <functional>
#include <string>
#include <vector>

/// One way to save memory, and the largest batch that fits with it.
struct BatchWay {
  std::string name;         // "alone", "recomputing" or "accumulating"
  bool isCounted = true;    // false: it is no way for this model, and `note` says why
  std::string note;         // for people; may be empty
  int64_t microBatches = 1; // in which the batch is computed
  gc::StepAnswer largest;   // batch 0: not even one sample fits
  gc::StepAnswer next;      // the next batch, which does not fit
};

struct MaxBatch {
  std::string model;
  int64_t parameters = 0;
  MemoryRoom room;
  std::vector<BatchWay> ways;
  int64_t compilations = 0; // without code being generated
  double seconds = 0;
};

/// Fails as the compiler does where the model cannot be compiled at all. `tell` gets what is looked
/// at next, for a progress line.
gc::runtime::Result<MaxBatch> findMaxBatch(gc::AskedModel &model, const gc::CompileOptions &options,
                                           const MemoryRoom &room,
                                           const std::function<void(const std::string &)> &tell);

/// `file` is how the user called the model.
std::string maxBatchText(const MaxBatch &found, const std::string &file);
std::string maxBatchJson(const MaxBatch &found);

#endif // GC_TOOLS_GC_COMPILE_MAXBATCH_H
