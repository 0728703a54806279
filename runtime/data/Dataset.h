// Samples to train on. A data set knows the shape that the model wants and delivers samples in it:
// f32, channels last, or whole numbers (tokens). What can be wrong with files is found when they
// are opened, but for compressed images, which are looked into only when they are read.
#ifndef GC_RUNTIME_DATA_DATASET_H
#define GC_RUNTIME_DATA_DATASET_H

#include "runtime/Error.h"
#include "runtime/data/Mixing.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gc::runtime {

/// What the model takes: one sample's shape (H, W, C for images; anything else as it is) and the
/// number of classes (labels are below it; 0: not checked).
struct ModelInput {
  std::vector<int64_t> sampleShape;
  int64_t classes = 0;
  bool isTokens = false;                // whole numbers, i32
  std::vector<int64_t> labelShape = {}; // of a sample's labels; empty: it has one

  int64_t sampleElements() const;
  int64_t labelElements() const;
};

/// One split. Immutable after opening; all methods may be called from several threads.
class Dataset {
public:
  virtual ~Dataset() = default;

  virtual int64_t size() const = 0;
  /// Of a data set of one label a sample; -1 of others.
  virtual int64_t label(int64_t index) const = 0;
  /// All labels of a sample, as many as the model takes. Those below 0 are left out of the loss.
  virtual Status readLabels(int64_t index, int64_t *labels) const {
    *labels = label(index);
    return {};
  }

  /// A sample is made of rows() equal parts, which can be read one apart from the other.
  virtual int64_t rows() const = 0;
  /// f32 values of scratch that read() needs.
  virtual size_t scratchElements() const { return 0; }
  /// Where the model takes tokens, a sample's values are i32, which take as many bytes.
  /// Writes rows [begin, end) of a sample; `sample` is where its row 0 goes. `scratch` has
  /// scratchElements() values, in unknown state, and belongs to the caller's thread. Allocates
  /// nothing unless it fails; libraries that decode compressed images do.
  virtual Status read(int64_t index, int64_t begin, int64_t end, float *sample,
                      float *scratch) const = 0;
  /// The same as training sees it in an epoch, where that differs: with augmentations.
  virtual Status readAugmented(int64_t index, uint64_t /*epoch*/, int64_t begin, int64_t end,
                               float *sample, float *scratch) const {
    return read(index, begin, end, sample, scratch);
  }
  /// Whether read() may find (bad input) that a sample is broken while others are not. Samples of
  /// such a data set have one row.
  virtual bool mayHaveBadSamples() const { return false; }

  /// The same for the same content, wherever it lies, and with near certainty another one for
  /// another: by it a resumed run knows its data again. This one sees the labels; sources add what
  /// else they have.
  virtual Result<uint64_t> fingerprint() const;
};

struct DataSource {
  std::string description;   // for the header: "fashion-mnist: 60000 train, 10000 test samples"
  std::string preparation;   // what is done to a sample on its way to the model
  std::string normalization; // of images, as --normalize names it; empty: values are as they are
  std::vector<std::string> classes; // their names, in the order of labels; empty: not known
  std::unique_ptr<Dataset> train;
  std::unique_ptr<Dataset> test;       // null where there is no test split
  std::unique_ptr<Dataset> validation; // null where none was asked for
  bool endless = false;                // synthetic: an epoch has no meaning
  Mixing mixing;                       // of training samples, which the loader does
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_DATASET_H
