#include "runtime/data/OpenData.h"

#include "runtime/data/BatchFile.h"
#include "runtime/data/ByteImages.h"
#include "runtime/data/Fingerprint.h"
#include "runtime/data/Holdout.h"
#include "runtime/data/ImageDataset.h"
#include "runtime/data/ImageFolder.h"
#include "runtime/data/ListText.h"
#include "runtime/data/NpyFiles.h"
#include "runtime/data/Synthetic.h"
#include "runtime/data/TarShards.h"
#include "runtime/data/TokenFile.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace gc::runtime {

namespace fs = std::filesystem;

static int64_t productOf(const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  for (int64_t dimension : shape)
    elements *= dimension;
  return elements;
}

int64_t ModelInput::sampleElements() const { return productOf(sampleShape); }
int64_t ModelInput::labelElements() const { return productOf(labelShape); }

Result<uint64_t> Dataset::fingerprint() const {
  Fingerprint print;
  print.add(static_cast<uint64_t>(size()));
  for (int64_t i = 0; i < size(); ++i)
    print.add(static_cast<uint64_t>(label(i)));
  return print.value();
}

namespace {

/// The splits of a data set of images, before they are fitted to the model.
struct ImageSplits {
  std::string name, note; // for the header; a note begins with a comma or the like
  std::unique_ptr<ImageSource> train, test, validation;
  std::vector<std::string> classes;
};

/// What all kinds of data are opened with.
struct Opening {
  const ModelInput &input;
  const DataOptions &options;
  const Augmentation &augmentation; // of `options`
  uint64_t seed;
  std::vector<std::string> classes; // whose names are given; empty: the data's own
};

} // namespace

/// Flags that say what is done to images of bytes. Any values can be mixed.
static Status refuseImageFlags(const std::string &spec, const Opening &opening) {
  auto refused = [&](const char *flag, const char *others) {
    return badInput(fmt::format("{} has no effect on '{}': it holds values that are taken as they "
                                "are, not images of bytes{}",
                                flag, spec, others));
  };
  if (!opening.options.normalize.empty())
    return refused("--normalize", "");
  if (opening.augmentation.changesSamples())
    return refused("--augment", "; only mixup and cutmix are for any values");
  return {};
}

/// "1 file", "2 files"
static std::string countOf(uint64_t files) {
  return fmt::format("{} file{}", files, files == 1 ? "" : "s");
}

static Result<DataSource> fitImages(Result<ImageSplits> splits, const Opening &opening) {
  if (!splits)
    return splits.error();
  ImageTransforms transforms;
  const DataOptions &options = opening.options;
  std::string named = !options.normalize.empty()            ? options.normalize
                      : !options.normalizeOfWeights.empty() ? options.normalizeOfWeights
                                                            : kUsualNormalization;
  Result<Normalization> normalization = parseNormalization(named);
  if (!normalization)
    return normalization.error();
  transforms.normalization = std::move(*normalization);
  transforms.augmentation = opening.augmentation;
  transforms.seed = opening.seed;
  DataSource source;
  source.normalization = std::move(named);
  source.classes = std::move(splits->classes);
  std::string counts;
  struct Split {
    const char *name;
    std::unique_ptr<ImageSource> &images;
    std::unique_ptr<Dataset> &target;
  };
  for (auto &[name, images, target] : {Split{"train", splits->train, source.train},
                                       Split{"validation", splits->validation, source.validation},
                                       Split{"test", splits->test, source.test}}) {
    if (!images)
      continue;
    bool isTrain = &target == &source.train;
    int64_t count = images->size();
    // What is said of images is said of those that the model takes: makeImageDataset() checks that.
    const ImageSource &looked = *images;
    ImageTransforms chosen = transforms;
    if (!isTrain)
      chosen.augmentation = {};
    Result<std::unique_ptr<Dataset>> fitted =
        makeImageDataset(std::move(images), opening.input, chosen);
    if (!fitted)
      return fitted.error();
    target = std::move(*fitted);
    if (isTrain)
      source.preparation = preparationText(looked, opening.input, transforms);
    counts += fmt::format("{}{} {}", isTrain ? "" : ", ", count, name);
  }
  source.description = fmt::format("{}: {} samples{}", splits->name, counts, splits->note);
  return source;
}

static Result<ImageSplits> readSplits(const std::string &name, Result<ByteImages> train,
                                      Result<ByteImages> test) {
  if (!train)
    return train.error();
  if (!test)
    return test.error();
  ImageSplits splits;
  splits.name = name;
  splits.train = makeImageSource(std::move(*train));
  splits.test = makeImageSource(std::move(*test));
  return splits;
}

static Result<ImageSplits> openMnist(const std::string &name, const std::string &directory) {
  Result<ByteImages> train = readIdxSplit(directory, "train");
  if (!train)
    return train.error();
  return readSplits(name, std::move(train), readIdxSplit(directory, "t10k"));
}

static fs::path fashionMnistDirectory() {
  const char *root = std::getenv("GC_DATASETS");
  return fs::path(root && *root ? root : "/usr/share/datasets") / "fashion-mnist";
}

static Result<ImageSplits> openFashionMnist() {
  fs::path directory = fashionMnistDirectory();
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored))
    return badInput(fmt::format(
        "the data set fashion-mnist is not in '{}'; install Debian's package "
        "dataset-fashion-mnist, set GC_DATASETS to the directory that holds fashion-mnist/, or "
        "name the directory of the IDX files with --data=mnist:DIR",
        directory.string()));
  return openMnist("fashion-mnist", directory.string());
}

static Result<ImageSplits> openCifar(const std::string &spec, CifarKind kind,
                                     const std::string &directory) {
  Result<ByteImages> train = readCifar(kind, directory, /*train=*/true);
  if (!train)
    return train.error();
  return readSplits(spec, std::move(train), readCifar(kind, directory, /*train=*/false));
}

static Result<ImageSplits> openFolders(const std::string &spec, const std::string &directory,
                                       const Opening &opening) {
  ImageFolders folders = findImageFolders(directory);
  Result<ImageFolder> train = openImageFolder(folders.train, opening.classes);
  if (!train)
    return train.error();
  if (int64_t classes = opening.input.classes;
      classes > 0 && static_cast<int64_t>(train->classes.size()) != classes)
    return badInput(fmt::format("'{}' has {} classes ({}{}), the model has {}; generate it with "
                                "gc-gen --classes={}",
                                folders.train, train->classes.size(), train->classes.front(),
                                train->classes.size() > 1 ? ", " + train->classes[1] + " …" : "",
                                classes, train->classes.size()));
  ImageSplits splits;
  splits.name = spec;
  uint64_t others = train->others;
  // DIR/val is what is tested on, unless it is wanted for validation.
  if (opening.options.validation != "own" && !folders.validation.empty())
    folders.test = std::exchange(folders.validation, "");
  for (auto [place, images] : {std::pair(&folders.validation, &splits.validation),
                               std::pair(&folders.test, &splits.test)}) {
    if (place->empty())
      continue;
    Result<ImageFolder> split = openImageFolder(*place, train->classes);
    if (!split)
      return split.error();
    *images = std::move(split->images);
    others += split->others;
  }
  splits.note = fmt::format(" of {} classes", train->classes.size());
  if (others > 0)
    splits.note +=
        fmt::format("; {} left out, with other names than .jpg, .jpeg and .png", countOf(others));
  splits.classes = std::move(train->classes);
  splits.train = std::move(train->images);
  return splits;
}

static Result<ImageSplits> openShards(const std::string &spec, const std::string &names) {
  Result<TarShards> shards = openTarShards(names);
  if (!shards)
    return shards.error();
  ImageSplits splits;
  splits.name = spec;
  splits.note = fmt::format(" in {} shard{}", shards->files, shards->files == 1 ? "" : "s");
  if (shards->others > 0)
    splits.note += fmt::format("; {} in them left out", countOf(shards->others));
  splits.train = std::move(shards->images);
  return splits;
}

/// `IMAGES.npy,LABELS.npy`: bytes are images, other values are taken as they are.
static Result<DataSource> openArrays(const std::string &spec, const std::string &names,
                                     const Opening &opening) {
  std::vector<std::string> files = splitText(names, ',');
  if (files.size() != 2 || files[0].empty() || files[1].empty())
    return badInput(fmt::format("--data={}: expected npy:IMAGES.npy,LABELS.npy", spec));
  Result<NpyPair> pair = openNpyPair(files[0], files[1]);
  if (!pair)
    return pair.error();
  if (pair->images.type == NpyType::U8) {
    Result<std::unique_ptr<ImageSource>> images = makeNpyImages(std::move(*pair));
    if (!images)
      return images.error();
    ImageSplits splits;
    splits.name = spec;
    splits.train = std::move(*images);
    return fitImages(std::move(splits), opening);
  }
  if (Status fine = refuseImageFlags(spec, opening); !fine)
    return fine.error();
  Result<std::unique_ptr<Dataset>> values = makeNpyValues(std::move(*pair), opening.input);
  if (!values)
    return values.error();
  DataSource source;
  source.description = fmt::format("{}: {} train samples", spec, (*values)->size());
  source.train = std::move(*values);
  return source;
}

static Result<DataSource> openOne(const std::string &spec, const Opening &opening) {
  auto argument = [&](std::string_view prefix) { return spec.substr(prefix.size()); };
  bool isBatchFile = spec.ends_with(".safetensors");
  bool isTokenFile = spec.starts_with("tokens:");
  bool takesAnything = isBatchFile || isTokenFile || spec == "synthetic";
  if (!takesAnything && (opening.input.isTokens || !opening.input.labelShape.empty()))
    return badInput(fmt::format("--data={}: the model takes {}, and this data has neither; use "
                                "tokens:FILE, FILE.safetensors or synthetic",
                                spec,
                                opening.input.isTokens ? "tokens" : "several labels a sample"));
  if (spec == "fashion-mnist")
    return fitImages(openFashionMnist(), opening);
  if (spec.starts_with("mnist:"))
    return fitImages(openMnist(spec, argument("mnist:")), opening);
  if (spec.starts_with("cifar10:"))
    return fitImages(openCifar(spec, CifarKind::Cifar10, argument("cifar10:")), opening);
  if (spec.starts_with("cifar100:"))
    return fitImages(openCifar(spec, CifarKind::Cifar100, argument("cifar100:")), opening);
  if (spec.starts_with("images:"))
    return fitImages(openFolders(spec, argument("images:"), opening), opening);
  if (spec.starts_with("tar:"))
    return fitImages(openShards(spec, argument("tar:")), opening);
  if (spec.starts_with("npy:"))
    return openArrays(spec, argument("npy:"), opening);
  if (takesAnything)
    if (Status fine = refuseImageFlags(spec, opening); !fine)
      return fine.error();
  if (spec == "synthetic")
    return openSynthetic(opening.input, opening.seed);
  if (isTokenFile)
    return openTokenFile(spec, argument("tokens:"), opening.input);
  if (isBatchFile)
    return openBatchFile(spec, opening.input);
  return badInput(
      fmt::format("unknown data set '{}'; expected synthetic, fashion-mnist, mnist:DIR, "
                  "cifar10:DIR, cifar100:DIR, images:DIR, tar:SHARDS.tar, "
                  "npy:IMAGES.npy,LABELS.npy, tokens:FILE or FILE.safetensors",
                  spec));
}

static Status addValidation(DataSource &source, const DataOptions &options, uint64_t seed) {
  Result<HoldoutSize> size = parseHoldout(options.validation);
  if (!size)
    return size.error();
  if (!size->isOwn())
    return holdOut(source, *size, seed);
  if (!source.validation)
    return badInput(fmt::format("--validation=own: '{}' has no validation split of its own (a "
                                "folder DIR/val beside DIR/train); use --validation=FRACTION",
                                options.data));
  return {};
}

Result<DataSource> openData(const DataOptions &options, const ModelInput &input, uint64_t seed) {
  Augmentation augmentation;
  if (!options.augment.empty()) {
    Result<Augmentation> parsed = parseAugmentation(options.augment);
    if (!parsed)
      return parsed.error();
    augmentation = *parsed;
  }
  if (augmentation.mixing.any() && (input.isTokens || !input.labelShape.empty()))
    return badInput("--augment: mixup and cutmix mix numbers with one label a sample, and this "
                    "model takes tokens or several labels");
  if (augmentation.mixing.cutmix && input.sampleShape.size() != 3)
    return badInput(fmt::format("--augment=cutmix cuts images, but a sample of this model has the "
                                "shape {}; use mixup",
                                shapeText(input.sampleShape)));
  Opening opening{input, options, augmentation, seed, {}};
  Result<DataSource> source = openOne(options.data, opening);
  if (!source)
    return source;
  source->mixing = augmentation.mixing;
  if (source->preparation.empty() && augmentation.mixing.any())
    source->preparation = "in training augmented by " + augmentation.text();
  if (!options.validation.empty())
    if (Status added = addValidation(*source, options, seed); !added)
      return added.error();
  if (options.testData.empty())
    return source;
  DataOptions testOptions = options;
  testOptions.validation.clear();
  Opening other{input, testOptions, augmentation, seed, source->classes};
  Result<DataSource> tested = openOne(options.testData, other);
  if (!tested)
    return badInput("--test-data: " + tested.error().message);
  source->test = std::move(tested->test ? tested->test : tested->train);
  source->description = fmt::format("{}; tested on {} samples of {}", source->description,
                                    source->test->size(), options.testData);
  return source;
}

Result<DataSource> openData(const std::string &spec, const ModelInput &input, uint64_t seed) {
  DataOptions options;
  options.data = spec;
  return openData(options, input, seed);
}

std::vector<std::string> dataFiles(const std::string &spec) {
  if (spec == "fashion-mnist")
    return idxFiles(fashionMnistDirectory().string());
  if (spec.starts_with("mnist:"))
    return idxFiles(spec.substr(std::string_view("mnist:").size()));
  if (spec.starts_with("cifar10:"))
    return cifarFiles(CifarKind::Cifar10, spec.substr(std::string_view("cifar10:").size()));
  if (spec.starts_with("cifar100:"))
    return cifarFiles(CifarKind::Cifar100, spec.substr(std::string_view("cifar100:").size()));
  if (spec.starts_with("npy:"))
    return splitText(spec.substr(std::string_view("npy:").size()), ',');
  if (spec.starts_with("tokens:"))
    return {tokenFilePath(spec.substr(std::string_view("tokens:").size()))};
  if (spec.starts_with("tar:"))
    if (Result<std::vector<std::string>> shards = expandBraces(spec.substr(4)))
      return *shards;
  if (spec.ends_with(".safetensors"))
    return {spec};
  return {};
}

} // namespace gc::runtime
