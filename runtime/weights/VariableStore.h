// A plan's named tensors: initialized, loaded and saved by name, in the names and layouts of weight
// files. Works on small pieces, so that it adds next to nothing to the process's memory.
#ifndef GC_RUNTIME_WEIGHTS_VARIABLESTORE_H
#define GC_RUNTIME_WEIGHTS_VARIABLESTORE_H

#include "runtime/Error.h"
#include "runtime/weights/BufferAccess.h"
#include "runtime/weights/Initializer.h"
#include "runtime/weights/Layout.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

class SafetensorsFile;
struct SafetensorsEntry;

class VariableStore {
public:
  /// Neither the plan nor the access is owned; both must outlive the store. Fails (bad input) where
  /// the plan contradicts itself.
  static Result<VariableStore> create(const plan::Plan &plan, BufferAccess &access);

  /// Gives every variable its initial value: parameters and statistics by their initializers, the
  /// generator {seed, 0}.
  Status initialize(uint64_t seed);

  /// Loads parameters and running statistics. The file must hold exactly these (F32, or F64, which
  /// is rounded), save for torchvision's `num_batches_tracked`, which is ignored; otherwise nothing
  /// is loaded and the error lists what differs.
  Status load(const std::string &path);
  /// Writes parameters and running statistics; atomic.
  Status save(const std::string &path);
  /// Writes the gradients that the plan was asked to keep; atomic. Fails where it keeps none.
  Status saveGradients(const std::string &path);

  /// Everything that the next step depends on: also optimizer state and the generator.
  Status loadState(const std::string &path);
  Status saveState(const std::string &path, const std::map<std::string, std::string> &notes);

  /// A parameter or running statistic, or the gradient that the plan keeps of it, as its file has it.
  /// Fails (bad input) where there is none.
  Result<std::vector<float>> read(const std::string &name, bool gradient) const;

  size_t size() const { return variables.size(); }

private:
  enum class Role { Parameter, RunningStatistic, OptimizerState, Accumulator, Generator, Constant };
  struct Variable {
    std::string name, dtype;
    Role role;
    uint32_t buffer;
    int32_t gradientBuffer;
    InitialValues init;
    std::vector<int64_t> fileShape;
    int64_t elements;
    FileLayout layout;
    std::vector<double> values; // of a constant that has one for each element; else empty
  };
  using Selection = std::vector<const Variable *>;

  Selection select(bool state) const;
  Status loadSelection(const std::string &path, const Selection &wanted, bool state);
  Status loadVariable(const SafetensorsFile &file, const SafetensorsEntry &entry,
                      const Variable &variable);
  Status saveSelection(const std::string &path, const Selection &selection, bool gradients,
                       const std::map<std::string, std::string> &notes);
  Status initializeVariable(const Variable &variable, uint64_t seed);

  VariableStore(BufferAccess &access) : access(&access) {}
  BufferAccess *access;
  std::vector<Variable> variables;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_VARIABLESTORE_H
