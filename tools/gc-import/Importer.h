// An exported program as a model of the gc dialect.
#ifndef GC_TOOLS_GC_IMPORT_IMPORTER_H
#define GC_TOOLS_GC_IMPORT_IMPORTER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/gc-import/Program.h"
#include "tools/gc-import/Tensor.h"
#include <functional>
#include <map>

namespace gc::importer {

enum class Loss { CrossEntropy, MeanSquares, BinaryCrossEntropy, Own };

struct ImportOptions {
  std::string name; // of the module
  std::optional<Loss> loss;
  std::map<std::string, std::string> tied; // parameters that are another one, by PyTorch's names
};

/// An op, or a use of it, that could not be imported.
struct Unsupported {
  std::string target, reason;
  std::vector<std::string> modules; // of each use
};

/// A weight that the model has, as its variable in the IR wants it.
struct ImportedVariable {
  std::string name;
  bool isParameter = true;
};

struct Imported {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<ImportedVariable> variables; // declared, in the order of the program's inputs
};

/// Reads a constant of the archive by its name.
using ReadConstant = std::function<runtime::Result<ConstantPtr>(const std::string &name)>;

/// Fails (bad input) with one listing of everything that is not supported.
runtime::Result<Imported> importProgram(mlir::MLIRContext &context, const Program &program,
                                        const ImportOptions &options, const ReadConstant &constant);

/// The listing; empty where everything is supported.
std::string unsupportedText(const std::vector<Unsupported> &ops);

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_IMPORTER_H
