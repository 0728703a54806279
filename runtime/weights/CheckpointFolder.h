// The folder of --checkpoint: a file for each checkpoint that is kept, and one that describes them.
//
//   checkpoints.json             which there are, with step, epoch and metrics; the best; the last
//   step-00000240.safetensors    a checkpoint, see Checkpoint.h
//   config.toml                  what the run was started with (--config)
//
// Every file appears whole or not at all, a checkpoint before checkpoints.json names it, and is
// removed after that names it no more: at any moment all that it names is there. A file of such a
// name that it does not name is what a killed run left, and is removed when the next one is kept.
#ifndef GC_RUNTIME_WEIGHTS_CHECKPOINTFOLDER_H
#define GC_RUNTIME_WEIGHTS_CHECKPOINTFOLDER_H

#include "runtime/weights/Checkpoint.h"

#include <vector>

namespace gc::runtime {

constexpr const char *kCheckpointList = "checkpoints.json";

/// `step-00000240.safetensors`
std::string checkpointFileName(uint64_t step);
bool isCheckpointFileName(const std::string &name);

/// What is known of a checkpoint that is kept.
struct KeptCheckpoint {
  std::string file;
  TrainingPosition position;
  uint64_t bytes = 0;
  std::string time;           // when it was written, in UTC
  std::optional<double> loss; // of the last step
  std::optional<double> validationLoss, validationAccuracy, validationTopFive;
  std::optional<double> watched; // the one of these that --monitor names
};

/// Which checkpoints are kept; the last one always is, or no run could go on.
struct KeepRule {
  bool all = false;
  uint64_t last = 1, best = 0;
};
/// `best`, `best:N`, `last`, `last:N`, `N`, `all`, separated by commas.
Result<KeepRule> parseKeepRule(const std::string &text);

/// The checkpoints of a folder, oldest first.
struct CheckpointList {
  std::string watched; // "loss:min": what the best is the best of; empty: nothing
  std::vector<KeptCheckpoint> checkpoints;

  /// By the value watched; of equal ones the first. Null where there is none.
  const KeptCheckpoint *best() const;
  bool hasBetter(double a, double b) const { return watched.ends_with(":max") ? a > b : a < b; }
};
/// Fails (bad input) where there is no checkpoint, or where the list is damaged.
Result<CheckpointList> readCheckpointList(const std::string &directory);
bool hasCheckpoint(const std::string &directory);

/// `DIR`, `DIR:last`, `DIR:best` or `DIR:STEP`, as --resume takes it.
struct CheckpointPlace {
  std::string directory, which;
};
CheckpointPlace parseCheckpointPlace(const std::string &text);
/// The file. Fails (bad input) where there is no such checkpoint, with those that there are.
Result<std::string> findCheckpoint(const std::string &place);

class CheckpointFolder {
public:
  CheckpointFolder() = default; // of nothing, until it is opened
  /// `from`: the step at which the run stands: checkpoints of later steps belong to a past that it
  /// does not have; 0 where it begins. Touches nothing before the first checkpoint is kept. Fails
  /// (bad input) where the list that is there is damaged.
  static Result<CheckpointFolder> open(const std::string &directory, const KeepRule &rule,
                                       const std::string &watched, uint64_t from);

  /// Writes a checkpoint, lists it, and removes those that need not be kept any more. `facts.file`,
  /// `bytes` and `time` are filled in.
  Status keep(VariableStore &store, const Checkpoint &checkpoint, KeptCheckpoint facts);
  const std::string &directory() const { return path; }
  const CheckpointList &list() const { return kept; }

private:
  Status writeList(const Checkpoint &checkpoint) const;
  void removeUnlisted() const;

  std::string path;
  KeepRule rule;
  CheckpointList kept;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_CHECKPOINTFOLDER_H
