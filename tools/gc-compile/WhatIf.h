// --what-if: the step for all combinations of some settings, as a table.
#ifndef GC_TOOLS_GC_COMPILE_WHATIF_H
#define GC_TOOLS_GC_COMPILE_WHATIF_H

#include "compiler/AskModel.h"
#include "runtime/Error.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

struct WhatIfKey {
  std::string name;
  std::vector<std::string> values; // as the user wrote them
};

/// "batch=8,16 budget=4GB,none": keys in the order asked. Fails (bad input) on a key that there is
/// not, naming the nearest, on one that comes twice and on one without a value.
gc::runtime::Result<std::vector<WhatIfKey>> readWhatIf(const std::string &text);

struct WhatIfRow {
  std::vector<std::string> values; // one for each key
  int64_t batch = 0;               // 0: the model's own
  gc::CompileOptions options;
};

/// All combinations; the last key varies fastest. What a row does not say is as in `options`. Fails
/// (bad input) on a value that is none, and on a combination that gc-compile would refuse whatever
/// the model.
gc::runtime::Result<std::vector<WhatIfRow>> whatIfRows(const std::vector<WhatIfKey> &keys,
                                                       const gc::CompileOptions &options);

/// The table, line by line: rows are told as they come.
class WhatIfTable {
public:
  explicit WhatIfTable(const std::vector<WhatIfKey> &keys);
  std::string head() const;
  std::string line(const WhatIfRow &row, const gc::StepAnswer &answer) const;

private:
  std::vector<WhatIfKey> keys;
  std::vector<size_t> widths;
};

struct AnsweredRow {
  WhatIfRow row;
  gc::StepAnswer answer;
};
std::string whatIfCsv(const std::vector<WhatIfKey> &keys, const std::vector<AnsweredRow> &rows);
std::string whatIfJson(const std::string &model, const std::vector<WhatIfKey> &keys,
                       const std::vector<AnsweredRow> &rows);

#endif // GC_TOOLS_GC_COMPILE_WHATIF_H
