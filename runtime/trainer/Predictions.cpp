#include "runtime/trainer/Predictions.h"

#include "runtime/data/Dataset.h"
#include "runtime/report/ClassCounts.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

#include <limits>

namespace gc::runtime {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

class SafetensorsPredictions final : public Predictions {
public:
  explicit SafetensorsPredictions(SafetensorsWriter writer) : writer(std::move(writer)) {}

  Status writeLabels(const Dataset &split) {
    for (int64_t i = 0; i < split.size(); ++i) {
      int64_t label = split.label(i);
      if (Status done = writer.append(&label, sizeof label); !done)
        return done;
    }
    return {};
  }
  Status add(std::span<const float> logits, int64_t label) override {
    if (label >= 0)
      return writer.append(logits.data(), logits.size_bytes());
    std::vector<float> none(logits.size(), kNone);
    return writer.append(none.data(), logits.size_bytes());
  }
  Status finish() override { return writer.finish(); }

private:
  SafetensorsWriter writer;
};

class CsvPredictions final : public Predictions {
public:
  CsvPredictions(AtomicFile file, const Dataset &split) : file(std::move(file)), split(split) {}

  Status writeHeader(int64_t classes) {
    std::string line = "sample,label,answer";
    for (int64_t i = 0; i < classes; ++i)
      line += fmt::format(",logit_{}", i);
    return file.write(line + "\n");
  }
  Status add(std::span<const float> logits, int64_t label) override {
    int64_t sample = next++;
    std::string line = fmt::format("{},{},", sample, split.label(sample));
    if (label >= 0)
      line += std::to_string(answerOf(logits));
    for (float logit : logits)
      line += fmt::format(",{}", label >= 0 ? logit : kNone);
    return file.write(line + "\n");
  }
  Status finish() override {
    if (next != split.size())
      return runFailed(
          fmt::format("internal error: {} of {} samples were predicted", next, split.size()));
    return file.commit();
  }

private:
  AtomicFile file;
  const Dataset &split;
  int64_t next = 0;
};

} // namespace

Result<std::unique_ptr<Predictions>> Predictions::create(const std::string &path,
                                                         const Dataset &split, int64_t classes) {
  if (path.ends_with(".csv")) {
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file)
      return file.error();
    auto csv = std::make_unique<CsvPredictions>(std::move(*file), split);
    if (Status done = csv->writeHeader(classes); !done)
      return done.error();
    return std::unique_ptr<Predictions>(std::move(csv));
  }
  if (!path.ends_with(".safetensors"))
    return badInput(
        fmt::format("--predict={}: expected a name that ends in .safetensors or .csv", path));
  // Larger elements come first: labels, which are known.
  Result<SafetensorsWriter> writer = SafetensorsWriter::create(
      path, {{"logits", "F32", {split.size(), classes}}, {"label", "I64", {split.size()}}});
  if (!writer)
    return writer.error();
  auto tensors = std::make_unique<SafetensorsPredictions>(std::move(*writer));
  if (Status done = tensors->writeLabels(split); !done)
    return done.error();
  return std::unique_ptr<Predictions>(std::move(tensors));
}

} // namespace gc::runtime
