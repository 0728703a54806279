#include "runtime/data/OpenData.h"

#include "runtime/data/BatchFile.h"
#include "runtime/data/ByteImages.h"
#include "runtime/data/Fingerprint.h"
#include "runtime/data/ImageDataset.h"
#include "runtime/data/Synthetic.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace gc::runtime {

namespace fs = std::filesystem;

int64_t ModelInput::sampleElements() const {
  int64_t elements = 1;
  for (int64_t dimension : sampleShape)
    elements *= dimension;
  return elements;
}

Result<uint64_t> Dataset::fingerprint() const {
  Fingerprint print;
  print.add(static_cast<uint64_t>(size()));
  for (int64_t i = 0; i < size(); ++i)
    print.add(static_cast<uint64_t>(label(i)));
  return print.value();
}

static Result<DataSource> openImages(const std::string &name, Result<ByteImages> train,
                                     Result<ByteImages> test, const ModelInput &input) {
  if (!train)
    return train.error();
  if (!test)
    return test.error();
  Result<std::unique_ptr<Dataset>> trainSet = makeImageDataset(std::move(*train), input);
  if (!trainSet)
    return trainSet.error();
  Result<std::unique_ptr<Dataset>> testSet = makeImageDataset(std::move(*test), input);
  if (!testSet)
    return testSet.error();
  DataSource source;
  source.description =
      fmt::format("{}: {} train, {} test samples", name, (*trainSet)->size(), (*testSet)->size());
  source.train = std::move(*trainSet);
  source.test = std::move(*testSet);
  return source;
}

static Result<DataSource> openMnist(const std::string &name, const std::string &directory,
                                    const ModelInput &input) {
  Result<ByteImages> train = readIdxSplit(directory, "train");
  if (!train)
    return train.error();
  return openImages(name, std::move(train), readIdxSplit(directory, "t10k"), input);
}

static fs::path fashionMnistDirectory() {
  const char *root = std::getenv("GC_DATASETS");
  return fs::path(root && *root ? root : "/usr/share/datasets") / "fashion-mnist";
}

static Result<DataSource> openFashionMnist(const ModelInput &input) {
  fs::path directory = fashionMnistDirectory();
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored))
    return badInput(fmt::format(
        "the data set fashion-mnist is not in '{}'; install Debian's package "
        "dataset-fashion-mnist, set GC_DATASETS to the directory that holds fashion-mnist/, or "
        "name the directory of the IDX files with --data=mnist:DIR",
        directory.string()));
  return openMnist("fashion-mnist", directory.string(), input);
}

Result<DataSource> openData(const std::string &spec, const ModelInput &input, uint64_t seed) {
  auto argument = [&](std::string_view prefix) { return spec.substr(prefix.size()); };
  if (spec == "synthetic")
    return openSynthetic(input, seed);
  if (spec == "fashion-mnist")
    return openFashionMnist(input);
  if (spec.starts_with("mnist:"))
    return openMnist(spec, argument("mnist:"), input);
  if (spec.starts_with("cifar10:")) {
    Result<ByteImages> train = readCifar10(argument("cifar10:"), /*train=*/true);
    if (!train)
      return train.error();
    return openImages(spec, std::move(train), readCifar10(argument("cifar10:"), /*train=*/false),
                      input);
  }
  if (spec.starts_with("images:"))
    return badInput("--data=images:DIR is not supported yet; convert the images into a batch file "
                    "(FILE.safetensors with 'image' and 'label')");
  if (spec.ends_with(".safetensors"))
    return openBatchFile(spec, input);
  return badInput(
      fmt::format("unknown data set '{}'; expected synthetic, fashion-mnist, mnist:DIR, "
                  "cifar10:DIR or FILE.safetensors",
                  spec));
}

std::vector<std::string> dataFiles(const std::string &spec) {
  if (spec == "fashion-mnist")
    return idxFiles(fashionMnistDirectory().string());
  if (spec.starts_with("mnist:"))
    return idxFiles(spec.substr(std::string_view("mnist:").size()));
  if (spec.starts_with("cifar10:"))
    return cifar10Files(spec.substr(std::string_view("cifar10:").size()));
  if (spec.ends_with(".safetensors"))
    return {spec};
  return {};
}

} // namespace gc::runtime
