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
#include <optional>
#include <string>
#include <vector>

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

class SafetensorsFile;
struct SafetensorsEntry;

/// What --load-partial found.
struct PartialLoad {
  size_t loaded = 0;
  std::vector<std::string> initialized; // of the model, and not in the file; their initial values
  std::vector<std::string> leftOut;     // of the file; with the reason where it is the shape
};

class VariableStore {
public:
  /// Neither the plan nor the access is owned; both must outlive the store. Fails (bad input) where
  /// the plan contradicts itself.
  static Result<VariableStore> create(const plan::Plan &plan, BufferAccess &access);

  /// Gives every variable its initial value: parameters and statistics by their initializers, the
  /// generator {seed, 0}; moving averages begin as the parameters.
  Status initialize(uint64_t seed);

  /// Loads parameters and running statistics from a file, or several by an index (WeightFiles.h).
  /// There must be exactly these (F32; F64 is rounded, F16 and BF16 are widened), save for
  /// torchvision's `num_batches_tracked`, which is ignored; otherwise nothing is loaded and the
  /// error lists what differs. Moving averages begin as the parameters.
  Status load(const std::string &path);
  /// The same for those that fit by name, shape and type. Fails (bad input) where none does.
  Result<PartialLoad> loadPartial(const std::string &path);
  /// The same out of a checkpoint, with its moving averages; other state is left out.
  Status loadWeightsOfState(const std::string &path);
  /// Writes parameters, or their moving averages where the plan has them, and running statistics;
  /// atomic. Those that are F32 as `dtype` (F32, F16 or BF16, rounded to the nearest); fails (run
  /// failed) where a value is too large for it. `notes` go into the metadata.
  Status save(const std::string &path, const std::string &dtype = "F32",
              const std::map<std::string, std::string> &notes = {});
  /// Writes the gradients that the plan was asked to keep; atomic. Fails where it keeps none.
  Status saveGradients(const std::string &path);

  /// Everything that the next step depends on: also optimizer state and the generator.
  Status loadState(const std::string &path);
  Status saveState(const std::string &path, const std::map<std::string, std::string> &notes);

  /// The buffers of all that.
  std::vector<uint32_t> stateBuffers() const;
  /// A parameter or running statistic, or the gradient that the plan keeps of it, as its file has
  /// it. Fails (bad input) where there is none.
  Result<std::vector<float>> read(const std::string &name, bool gradient) const;

  size_t size() const { return variables.size(); }

private:
  enum class Role {
    Parameter,
    RunningStatistic,
    OptimizerState,
    Accumulator,
    Generator,
    Schedule,
    Constant
  };
  struct Variable {
    std::string name, dtype;
    Role role;
    uint32_t buffer;
    int32_t gradientBuffer;
    std::optional<uint32_t> averageBuffer;
    InitialValues init;
    std::vector<int64_t> fileShape;
    int64_t elements;
    FileLayout layout;
    std::vector<double> values; // of a constant that has one for each element; else empty
  };
  using Selection = std::vector<const Variable *>;

  enum class Fit { Exact, Partial, Extras };       // Extras: the file may hold more
  enum class Content { Value, Average, Gradient }; // what is written of a variable
  struct Saving {
    Content content = Content::Value;
    std::string floats = "F32"; // what F32 becomes in the file
    std::map<std::string, std::string> notes = {};
  };

  Selection select(bool state) const;
  Result<PartialLoad> loadSelection(const std::string &path, const Selection &wanted, bool state,
                                    Fit fit);
  Status loadVariable(const SafetensorsFile &file, const SafetensorsEntry &entry,
                      const Variable &variable);
  Status saveSelection(const std::string &path, const Selection &selection, const Saving &saving);
  Status beginAverages();
  Status initializeVariable(const Variable &variable, uint64_t seed);

  VariableStore(BufferAccess &access) : access(&access) {}
  BufferAccess *access;
  std::vector<Variable> variables;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_VARIABLESTORE_H
