#include "runtime/data/BatchFile.h"

#include "runtime/data/FloatSamples.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

namespace gc::runtime {

Result<DataSource> openBatchFile(const std::string &path, const ModelInput &input) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.error();
  const SafetensorsEntry *image = file->find("image"), *label = file->find("label");
  if (!image || !label)
    return badInput(fmt::format("'{}' has no tensor '{}'; a batch file holds 'image' (F32) and "
                                "'label' (I64)",
                                path, image ? "label" : "image"));
  if (image->dtype != "F32")
    return badInput(fmt::format("'{}': image is {} {}, the model takes F32", path, image->dtype,
                                shapeText(image->shape)));
  int64_t samples = image->shape.empty() ? 0 : image->shape[0];
  if (label->dtype != "I64" || label->shape != std::vector<int64_t>{samples})
    return badInput(fmt::format("'{}': label is {} {}, expected I64 [{}], one for each image", path,
                                label->dtype, shapeText(label->shape), samples));
  std::vector<int64_t> labels(static_cast<size_t>(samples));
  if (Status got = file->read(*label, 0, labels.data(), labels.size() * 8); !got)
    return got.error();
  Result<OpenFile> bytes = OpenFile::open(path);
  if (!bytes)
    return bytes.error();
  Result<std::unique_ptr<Dataset>> made = makeFloatSamples(
      {std::move(*bytes), path, image->begin, image->end}, image->shape, std::move(labels), input);
  if (!made)
    return made.error();
  DataSource source;
  source.description = fmt::format("{}: {} samples", path, samples);
  source.train = std::move(*made);
  return source;
}

} // namespace gc::runtime
