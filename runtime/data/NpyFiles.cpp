#include "runtime/data/NpyFiles.h"

#include "runtime/data/Fingerprint.h"
#include "runtime/data/FloatSamples.h"
#include "runtime/data/ListText.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace gc::runtime {

static uint64_t bytesOf(NpyType type) {
  return type == NpyType::U8 ? 1 : type == NpyType::I64 ? 8 : 4;
}

/// What follows `'key':` in a header, such as `{'descr': '<f4', 'fortran_order': False, …}`.
static std::string_view valueOf(std::string_view header, std::string_view key) {
  size_t place = header.find(fmt::format("'{}':", key));
  if (place == std::string_view::npos)
    return {};
  std::string_view rest = header.substr(place + key.size() + 3);
  return rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
}

/// `(2, 3)`, `(2,)` or `()`; nothing where it is none of these.
static std::optional<std::vector<int64_t>> parseShape(std::string_view text) {
  size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos)
    return std::nullopt;
  std::vector<int64_t> shape;
  std::vector<std::string> parts = splitText(text.substr(1, end - 1), ',');
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (part.empty() && i + 1 == parts.size())
      break; // behind the last comma
    int64_t value = 0;
    auto [stop, problem] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (problem != std::errc() || stop != part.data() + part.size() || value < 0)
      return std::nullopt;
    shape.push_back(value);
  }
  return shape;
}

Result<NpyArray> openNpy(const std::string &path) {
  Result<OpenFile> file = OpenFile::open(path);
  if (!file)
    return file.error();
  auto bad = [&](const std::string &what) { return badInput(fmt::format("'{}' {}", path, what)); };
  uint8_t start[12] = {};
  Result<size_t> got = file->read(0, start, sizeof start);
  if (!got)
    return bad(got.error().message);
  if (*got < sizeof start || std::memcmp(start, "\x93NUMPY", 6) != 0)
    return bad("is not an array of NumPy (.npy)");
  const bool isFirst = start[6] == 1;
  uint64_t headerBegin = isFirst ? 10 : 12;
  uint64_t headerBytes = start[8] | start[9] << 8;
  if (!isFirst)
    headerBytes |= uint64_t{start[10]} << 16 | uint64_t{start[11]} << 24;
  constexpr uint64_t mostHeaderBytes = 1 << 16;
  if (start[6] > 3 || headerBytes > mostHeaderBytes || headerBegin + headerBytes > file->bytes())
    return bad(fmt::format("is truncated or of an unknown version of .npy ({})", start[6]));
  std::string header(headerBytes, '\0');
  got = file->read(headerBegin, header.data(), header.size());
  if (!got)
    return bad(got.error().message);

  std::string_view descr = valueOf(header, "descr"), order = valueOf(header, "fortran_order");
  static constexpr std::pair<const char *, NpyType> types[] = {{"'|u1'", NpyType::U8},
                                                               {"'<f4'", NpyType::F32},
                                                               {"'<i4'", NpyType::I32},
                                                               {"'<i8'", NpyType::I64}};
  auto type = std::find_if(std::begin(types), std::end(types),
                           [&](const auto &known) { return descr.starts_with(known.first); });
  if (type == std::end(types))
    return bad(fmt::format("has values of type {}; expected '|u1', '<f4', '<i4' or '<i8' (uint8, "
                           "float32, int32, int64)",
                           descr.substr(0, std::min(descr.find_first_of(",}"), descr.size()))));
  if (!order.starts_with("False"))
    return bad("is in Fortran order; save numpy.ascontiguousarray(array)");
  std::optional<std::vector<int64_t>> shape = parseShape(valueOf(header, "shape"));
  if (!shape)
    return bad("has no shape in its header");
  uint64_t bytes = bytesOf(type->second);
  for (int64_t side : *shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(side), &bytes))
      return bad("has an impossible shape");
  uint64_t begin = headerBegin + headerBytes;
  if (file->bytes() - begin != bytes)
    return bad(fmt::format("has {} bytes of values, its shape {} needs {}", file->bytes() - begin,
                           shapeText(*shape), bytes));
  return NpyArray{path, std::move(*file), type->second, std::move(*shape), begin};
}

template <class T> static Result<std::vector<int64_t>> readIntegers(const NpyArray &array) {
  std::vector<T> values(static_cast<size_t>(array.shape[0]));
  Result<size_t> got = array.file.read(array.begin, values.data(), values.size() * sizeof(T));
  if (!got || *got != values.size() * sizeof(T))
    return badInput(fmt::format("'{}' cannot be read", array.name));
  return std::vector<int64_t>(values.begin(), values.end());
}

Result<NpyPair> openNpyPair(const std::string &images, const std::string &labels) {
  Result<NpyArray> values = openNpy(images);
  if (!values)
    return values.error();
  if (values->type != NpyType::U8 && values->type != NpyType::F32)
    return badInput(fmt::format("'{}' holds integers; images are uint8 (which are normalized) or "
                                "float32 (which are taken as they are)",
                                images));
  if (values->shape.empty() || values->shape[0] < 1)
    return badInput(
        fmt::format("'{}' has no samples: its shape is {}", images, shapeText(values->shape)));
  Result<NpyArray> list = openNpy(labels);
  if (!list)
    return list.error();
  if (list->type == NpyType::F32 || list->shape != std::vector<int64_t>{values->shape[0]})
    return badInput(fmt::format("'{}' is {} {}, expected integers {}, one for each image of '{}'",
                                labels, list->type == NpyType::F32 ? "float32" : "integers",
                                shapeText(list->shape), shapeText({values->shape[0]}), images));
  Result<std::vector<int64_t>> numbers = list->type == NpyType::U8 ? readIntegers<uint8_t>(*list)
                                         : list->type == NpyType::I32
                                             ? readIntegers<int32_t>(*list)
                                             : readIntegers<int64_t>(*list);
  if (!numbers)
    return numbers.error();
  return NpyPair{std::move(*values), std::move(*numbers)};
}

namespace {

class NpyImages final : public ImageSource {
public:
  NpyImages(NpyPair pair, const ImageShape &shape, bool planar)
      : array(std::move(pair.images)), labels(std::move(pair.labels)), imageShape(shape),
        planar(planar),
        imageBytes(static_cast<size_t>(shape.height * shape.width * shape.channels)) {}

  int64_t size() const override { return static_cast<int64_t>(labels.size()); }
  int64_t label(int64_t index) const override { return labels[static_cast<size_t>(index)]; }
  const std::string &name() const override { return array.name; }
  std::optional<ImageShape> shape() const override { return imageShape; }
  size_t scratchBytes() const override { return planar ? 2 * imageBytes : imageBytes; }

  Status visit(int64_t index, uint8_t *scratch, ImageVisitor &visitor) const override {
    uint64_t begin = array.begin + static_cast<uint64_t>(index) * imageBytes;
    Result<size_t> got = array.file.read(begin, scratch, imageBytes);
    if (!got || *got != imageBytes)
      return runFailed(fmt::format("'{}' has changed while it was read", array.name));
    if (planar) {
      uint8_t *target = scratch + imageBytes;
      int64_t plane = imageShape.height * imageShape.width;
      for (int64_t pixel = 0; pixel < plane; ++pixel)
        for (int64_t channel = 0; channel < imageShape.channels; ++channel)
          *target++ = scratch[channel * plane + pixel];
      scratch += imageBytes;
    }
    MemoryRows rows(scratch, imageShape);
    return visitor.visit(rows);
  }

  Result<uint64_t> fingerprint() const override {
    constexpr int64_t mostLookedInto = 1024;
    Fingerprint print;
    print.add(labels.data(), labels.size() * sizeof labels[0]);
    print.add(array.shape.data(), array.shape.size() * sizeof array.shape[0]);
    int64_t stride = (size() + mostLookedInto - 1) / mostLookedInto;
    std::vector<uint8_t> bytes(imageBytes);
    for (int64_t i = 0; i < size(); i += stride) {
      uint64_t begin = array.begin + static_cast<uint64_t>(i) * imageBytes;
      Result<size_t> got = array.file.read(begin, bytes.data(), imageBytes);
      if (!got)
        return got.error();
      print.add(bytes.data(), *got);
    }
    return print.value();
  }

private:
  NpyArray array;
  std::vector<int64_t> labels;
  ImageShape imageShape;
  bool planar; // channels first
  size_t imageBytes;
};

} // namespace

Result<std::unique_ptr<ImageSource>> makeNpyImages(NpyPair pair) {
  const std::vector<int64_t> &shape = pair.images.shape;
  auto isChannels = [](int64_t side) { return side == 1 || side == 3; };
  bool empty = std::count(shape.begin(), shape.end(), 0) > 0;
  ImageShape image;
  bool planar = false;
  if (shape.size() == 3)
    image = {shape[1], shape[2], 1};
  else if (shape.size() == 4 && isChannels(shape[3]))
    image = {shape[1], shape[2], shape[3]};
  else if (shape.size() == 4 && isChannels(shape[1])) {
    image = {shape[2], shape[3], shape[1]};
    planar = true;
  } else
    empty = true;
  if (empty)
    return badInput(fmt::format("'{}' is {}; images of bytes are N x H x W, N x H x W x C or N x C "
                                "x H x W with 1 or 3 channels",
                                pair.images.name, shapeText(shape)));
  return std::unique_ptr<ImageSource>(
      std::make_unique<NpyImages>(std::move(pair), image, planar && image.channels > 1));
}

Result<std::unique_ptr<Dataset>> makeNpyValues(NpyPair pair, const ModelInput &input) {
  NpyArray &array = pair.images;
  std::vector<int64_t> shape = array.shape;
  FloatFile file{std::move(array.file), array.name, array.begin, 0};
  file.end = file.file.bytes();
  return makeFloatSamples(std::move(file), shape, std::move(pair.labels), input);
}

} // namespace gc::runtime
