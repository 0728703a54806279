#include "tools/gc-import/OpList.h"

#include "tools/gc-import/LiveNodes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace gc::importer {

std::string opListText(mlir::MLIRContext &context, const Program &program,
                       const ImportOptions &options, const ReadConstant &constant) {
  std::vector<bool> live = liveNodes(program);
  std::map<std::string, std::pair<size_t, size_t>> counts; // all, and those that are needed
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    auto &[all, needed] = counts[program.nodes[i].target];
    ++all;
    needed += live[i];
  }
  std::vector<std::pair<std::string, std::pair<size_t, size_t>>> rows(counts.begin(), counts.end());
  llvm::stable_sort(rows, [](const auto &a, const auto &b) { return a.second > b.second; });
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::formatv("{0} ops, {1} kinds; PyTorch {2}\n", program.nodes.size(), rows.size(),
                       program.torchVersion);
  out << "  count  needed  op\n";
  for (const auto &[target, count] : rows)
    out << llvm::formatv("{0,7} {1,7}  {2}\n", count.first, count.second, target);
  runtime::Result<Imported> imported = importProgram(context, program, options, constant);
  out << (imported ? "all of it is supported" : imported.error().message) << "\n";
  return text;
}

} // namespace gc::importer
