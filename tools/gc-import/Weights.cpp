#include "tools/gc-import/Weights.h"

#include "runtime/weights/Initializer.h"
#include "runtime/weights/Safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

namespace gc::importer {

using namespace runtime;

// A table's entry takes some hundred bytes.
static constexpr uint64_t maxTableBytes = uint64_t{1} << 28;

static Status addTable(Archive &archive, const std::string &table, const std::string &folder,
                       std::map<std::string, Payload> &payloads) {
  Result<std::string> text = archive.readText(table, maxTableBytes);
  if (!text)
    return text.error();
  auto parsed = parsePayloads(*text, folder);
  if (!parsed)
    return parsed.error();
  for (auto &[name, payload] : *parsed)
    payload.isWeight = folder == "data/weights/";
  payloads.merge(*parsed);
  return {};
}

Result<Weights> Weights::open(Archive &archive, const std::string &model) {
  Weights weights(archive);
  for (const char *kind : {"weights", "constants"}) {
    std::string folder = fmt::format("data/{}/", kind);
    if (Status added = addTable(archive, fmt::format("{}{}_{}_config.json", folder, model, kind),
                                folder, weights.payloads);
        !added)
      return added.error();
  }
  return weights;
}

Result<const Payload *> Weights::find(const std::string &name) const {
  auto found = payloads.find(name);
  if (found == payloads.end())
    return badInput(
        fmt::format("'{}' lacks the weight '{}': was the archive changed?", archive.path(), name));
  if (found->second.pickled)
    return badInput(fmt::format("'{}' holds '{}' as a pickle, which is never read: make it a plain "
                                "tensor in memory of its own (tensor.detach().clone()) and export "
                                "the model again",
                                archive.path(), name));
  return &found->second;
}

static double halfValue(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024 + fraction, exponent - 25);
}

template <typename T> static T loaded(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

static double element(DType dtype, const char *bytes) {
  switch (dtype) {
  case DType::U8:
    return loaded<uint8_t>(bytes);
  case DType::I8:
    return loaded<int8_t>(bytes);
  case DType::I16:
    return loaded<int16_t>(bytes);
  case DType::I32:
    return loaded<int32_t>(bytes);
  case DType::I64:
    return static_cast<double>(loaded<int64_t>(bytes));
  case DType::F16:
    return halfValue(loaded<uint16_t>(bytes));
  case DType::F32:
    return loaded<float>(bytes);
  case DType::F64:
    return loaded<double>(bytes);
  case DType::Bool:
    return loaded<uint8_t>(bytes) != 0;
  case DType::BF16:
    return std::bit_cast<float>(static_cast<uint32_t>(loaded<uint16_t>(bytes)) << 16);
  }
  return 0;
}

Status Weights::read(const std::string &name, const Payload &payload,
                     const std::function<Status(const std::vector<double> &)> &take) const {
  const TensorMeta &meta = payload.meta;
  auto bad = [&](const std::string &what) {
    return badInput(fmt::format("'{}': the weight '{}' {}", archive.path(), name, what));
  };
  size_t width = bytesOf(meta.dtype);
  if (width == 0)
    return bad(fmt::format("is of type {}, which gc does not read", static_cast<int>(meta.dtype)));
  if (!archive.has(payload.entry))
    return bad(fmt::format("is in '{}', which is missing", payload.entry));
  uint64_t bytes = archive.sizeOf(payload.entry);
  int64_t count = meta.elements();
  if (count < 0 || static_cast<uint64_t>(count) > bytes / width)
    return bad(fmt::format("has a shape of {} elements and {} bytes", count, bytes));

  std::vector<double> numbers;
  if (meta.isContiguous() && meta.offset == 0 && static_cast<uint64_t>(count) * width == bytes) {
    std::string rest; // of an element that a piece has cut
    return archive.readBytes(payload.entry, bytes, [&](std::string_view piece) -> Status {
      rest.append(piece);
      numbers.clear();
      size_t whole = rest.size() / width;
      for (size_t i = 0; i < whole; ++i)
        numbers.push_back(element(meta.dtype, rest.data() + i * width));
      rest.erase(0, whole * width);
      return take(numbers);
    });
  }
  // A view of a larger tensor, or one that lies in another order.
  int64_t last = meta.offset;
  for (size_t i = 0; i < meta.sizes.size(); ++i) {
    int64_t reach = 0;
    if (meta.strides[i] < 0 || meta.sizes[i] < 1 ||
        __builtin_mul_overflow(meta.sizes[i] - 1, meta.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return bad("lies where no tensor can");
  }
  if (meta.offset < 0 || static_cast<uint64_t>(last) >= bytes / width)
    return bad(fmt::format("reaches beyond its {} bytes", bytes));
  std::string all;
  if (Status done = archive.readBytes(payload.entry, bytes,
                                      [&](std::string_view piece) -> Status {
                                        all.append(piece);
                                        return {};
                                      });
      !done)
    return done;
  Shape index(meta.sizes.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = meta.offset;
    for (size_t d = 0; d < index.size(); ++d)
      place += index[d] * meta.strides[d];
    numbers.push_back(element(meta.dtype, all.data() + static_cast<size_t>(place) * width));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < meta.sizes[d])
        break;
      index[d] = 0;
    }
  }
  return take(numbers);
}

Result<ConstantPtr> Weights::constant(const std::string &name) const {
  auto payload = find(name);
  if (!payload)
    return payload.error();
  const TensorMeta &meta = (*payload)->meta;
  if (int64_t count = meta.elements(); count < 0 || count > maxConstantElements)
    return badInput(
        fmt::format("the constant '{}' has more than {} elements", name, maxConstantElements));
  auto result = std::make_shared<Constant>(Constant{meta.dtype, meta.sizes, {}});
  Status done = read(name, **payload, [&](const std::vector<double> &numbers) -> Status {
    result->values.insert(result->values.end(), numbers.begin(), numbers.end());
    return {};
  });
  if (!done)
    return done.error();
  return ConstantPtr(result);
}

/// Draws a parameter that starts anew, by its name.
static Status draw(SafetensorsWriter &writer, const std::string &name, const NewStart &start) {
  InitialValues values{InitialDistribution::Uniform, -start.bound, start.bound};
  std::vector<float> numbers(static_cast<size_t>(product(start.shape)));
  drawInitialValues(values, /*seed=*/0, name, 0, numbers.size(), numbers.data());
  return writer.append(numbers.data(), numbers.size() * sizeof(float));
}

Status Weights::save(const std::string &path, const std::vector<std::string> &names,
                     const std::map<std::string, NewStart> &starts) const {
  std::vector<SafetensorsDeclaration> tensors;
  for (const std::string &name : names) {
    if (auto start = starts.find(name); start != starts.end()) {
      tensors.push_back({name, "F32", start->second.shape});
      continue;
    }
    auto payload = find(name);
    if (!payload)
      return payload.error();
    tensors.push_back({name, "F32", (*payload)->meta.sizes});
  }
  auto writer = SafetensorsWriter::create(path, std::move(tensors), {{"format", "pt"}});
  if (!writer)
    return writer.error();
  for (const SafetensorsDeclaration &tensor : writer->order()) {
    if (auto start = starts.find(tensor.name); start != starts.end()) {
      if (Status drawn = draw(*writer, tensor.name, start->second); !drawn)
        return drawn;
      continue;
    }
    const Payload &payload = payloads.at(tensor.name);
    Status done = read(tensor.name, payload, [&](const std::vector<double> &numbers) -> Status {
      std::vector<float> floats(numbers.begin(), numbers.end());
      return writer->append(floats.data(), floats.size() * sizeof(float));
    });
    if (!done)
      return done;
  }
  return writer->finish();
}

std::map<std::string, std::string> Weights::tied() const {
  std::map<std::string, std::string> result;
  std::multimap<std::string, std::string> byEntry;
  for (const auto &[name, payload] : payloads) {
    if (!payload.isWeight)
      continue;
    auto [begin, end] = byEntry.equal_range(payload.entry);
    auto same = std::find_if(begin, end, [&](const auto &other) {
      const TensorMeta &a = payloads.at(other.second).meta, &b = payload.meta;
      return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides &&
             a.offset == b.offset;
    });
    if (same != end)
      result[name] = same->second;
    else
      byEntry.emplace(payload.entry, name);
  }
  return result;
}

namespace {
/// A tensor of the state, and where it comes from.
struct StateTensor {
  const Payload *payload = nullptr;
  const SafetensorsEntry *trained = nullptr;
};
} // namespace

static const char *stateType(DType dtype) {
  if (isFloat(dtype))
    return "F32";
  return dtype == DType::Bool ? "BOOL" : "I64";
}

Status Weights::saveState(const std::string &path, const SafetensorsFile &trained) const {
  const std::map<std::string, std::string> same = tied();
  std::map<std::string, StateTensor> state;
  std::set<std::string> used;
  std::vector<SafetensorsDeclaration> tensors;
  for (const auto &[name, payload] : payloads) {
    if (!payload.isWeight)
      continue;
    if (auto whole = find(name); !whole)
      return whole.error();
    auto first = same.find(name);
    StateTensor &tensor = state[name];
    tensor.payload = &payload;
    // Any of several names may be the one that was trained.
    const std::string &root = first == same.end() ? name : first->second;
    for (const auto &[other, file] : trained.tensors()) {
      auto otherFirst = same.find(other);
      if ((otherFirst == same.end() ? other : otherFirst->second) != root)
        continue;
      tensor.trained = &file;
      used.insert(other);
      if (file.shape != payload.meta.sizes)
        return badInput(fmt::format("'{}' has a '{}' of {}, and in the archive it is {}: change "
                                    "the model in PyTorch and export it again",
                                    trained.path(), other, shapeText(file.shape),
                                    shapeText(payload.meta.sizes)));
    }
    tensors.push_back(
        {name, tensor.trained ? "F32" : stateType(payload.meta.dtype), payload.meta.sizes});
  }
  for (const auto &[name, file] : trained.tensors())
    if (!used.count(name))
      return badInput(fmt::format("'{}' has a '{}', and the archive has no such weight: is it of "
                                  "another model?",
                                  trained.path(), name));
  auto writer = SafetensorsWriter::create(path, std::move(tensors), {{"format", "pt"}});
  if (!writer)
    return writer.error();
  for (const SafetensorsDeclaration &declared : writer->order()) {
    const StateTensor &tensor = state.at(declared.name);
    if (tensor.trained) {
      std::vector<float> floats(tensor.trained->elements());
      if (Status got = trained.readFloats(*tensor.trained, 0, floats.data(), floats.size()); !got)
        return got;
      if (Status done = writer->append(floats.data(), floats.size() * sizeof(float)); !done)
        return done;
      continue;
    }
    auto appendAs = [&]<typename T>(T) {
      return read(declared.name, *tensor.payload,
                  [&](const std::vector<double> &numbers) -> Status {
                    std::vector<T> typed(numbers.begin(), numbers.end());
                    return writer->append(typed.data(), typed.size() * sizeof(T));
                  });
    };
    Status done = declared.dtype == "F32"    ? appendAs(float())
                  : declared.dtype == "BOOL" ? appendAs(uint8_t())
                                             : appendAs(int64_t());
    if (!done)
      return done;
  }
  return writer->finish();
}

} // namespace gc::importer
