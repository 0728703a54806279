#include "runtime/data/BatchFile.h"

#include "runtime/data/FloatSamples.h"
#include "runtime/data/WholeSamples.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

namespace gc::runtime {

namespace {

using SharedFile = std::shared_ptr<const SafetensorsFile>;

/// One label a sample, where that is what the model takes.
Result<std::vector<int64_t>> readLabels(const SharedFile &file, const SafetensorsEntry &label,
                                        int64_t samples, const ModelInput &input) {
  if (!input.labelShape.empty())
    return std::vector<int64_t>();
  if (label.dtype != "I64" || label.shape != std::vector<int64_t>{samples})
    return badInput(fmt::format("'{}': label is {} {}, expected I64 [{}], one for each image",
                                file->path(), label.dtype, shapeText(label.shape), samples));
  std::vector<int64_t> labels(static_cast<size_t>(samples));
  if (Status got = file->read(label, 0, labels.data(), labels.size() * 8); !got)
    return got.error();
  return labels;
}

Result<std::unique_ptr<Dataset>> openFloats(const SharedFile &file, const SafetensorsEntry &image,
                                            std::vector<int64_t> labels, const ModelInput &input) {
  if (image.dtype != "F32")
    return badInput(fmt::format("'{}': image is {} {}, the model takes F32", file->path(),
                                image.dtype, shapeText(image.shape)));
  Result<OpenFile> bytes = OpenFile::open(file->path());
  if (!bytes)
    return bytes.error();
  if (!input.labelShape.empty()) // others hold them
    labels.assign(image.shape.empty() ? 0 : static_cast<size_t>(image.shape[0]), 0);
  return makeFloatSamples({std::move(*bytes), file->path(), image.begin, image.end}, image.shape,
                          std::move(labels), input);
}

Result<std::unique_ptr<Dataset>> openTokens(const SharedFile &file, const SafetensorsEntry &image,
                                            std::vector<int64_t> labels, const ModelInput &input) {
  Result<WholeNumbers> tokens = WholeNumbers::open(file, image, "image", input.sampleShape);
  if (!tokens)
    return tokens.error();
  for (size_t i = 0; input.classes > 0 && i < labels.size(); ++i)
    if (labels[i] < 0 || labels[i] >= input.classes)
      return badInput(fmt::format("'{}': sample {} has label {}, the model has classes 0 to {}",
                                  file->path(), i, labels[i], input.classes - 1));
  return makeTokenSamples(std::move(*tokens), std::move(labels), input.sampleElements());
}

} // namespace

Result<DataSource> openBatchFile(const std::string &path, const ModelInput &input) {
  Result<SafetensorsFile> opened = SafetensorsFile::open(path);
  if (!opened)
    return opened.error();
  auto file = std::make_shared<const SafetensorsFile>(std::move(*opened));
  const SafetensorsEntry *image = file->find("image"), *label = file->find("label");
  if (!image || !label)
    return badInput(fmt::format("'{}' has no tensor '{}'; a batch file holds 'image' (F32, or I64: "
                                "tokens) and 'label' (I64)",
                                path, image ? "label" : "image"));
  int64_t samples = image->shape.empty() ? 0 : image->shape[0];
  Result<std::vector<int64_t>> labels = readLabels(file, *label, samples, input);
  if (!labels)
    return labels.error();
  Result<std::unique_ptr<Dataset>> made = input.isTokens
                                              ? openTokens(file, *image, std::move(*labels), input)
                                              : openFloats(file, *image, std::move(*labels), input);
  if (!made)
    return made.error();
  DataSource source;
  source.description = fmt::format("{}: {} samples", path, samples);
  source.train = std::move(*made);
  if (input.labelShape.empty())
    return source;
  Result<WholeNumbers> several = WholeNumbers::open(file, *label, "label", input.labelShape);
  if (!several)
    return several.error();
  if (several->samples() != samples)
    return badInput(
        fmt::format("'{}' has {} samples, but labels of {}", path, samples, several->samples()));
  source.train = withLabels(std::move(source.train), std::move(*several), input);
  return source;
}

} // namespace gc::runtime
