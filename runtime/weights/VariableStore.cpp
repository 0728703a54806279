#include "runtime/weights/VariableStore.h"

#include "runtime/HelperThread.h"
#include "runtime/plan/ElementType.h"
#include "runtime/process/Nearest.h"
#include "runtime/weights/WeightFiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <type_traits>

namespace gc::runtime {

/// Elements converted at a time.
static constexpr int64_t pieceElements = 1 << 16;

Result<VariableStore> VariableStore::create(const plan::Plan &plan, BufferAccess &access) {
  VariableStore store(access);
  std::set<std::string> names;
  size_t buffers = plan.buffers() ? plan.buffers()->size() : 0;
  for (size_t i = 0; plan.variables() && i < plan.variables()->size(); ++i) {
    const plan::Variable &source = *plan.variables()->Get(i);
    std::string name = source.name()->str();
    auto bad = [&](const std::string &what) {
      return badInput(fmt::format("the plan's variable '{}' {}; compile it again", name, what));
    };
    if (!names.insert(name).second)
      return bad("appears twice");
    if (source.buffer() >= buffers)
      return bad(fmt::format("names buffer {} of {}", source.buffer(), buffers));
    const plan::Buffer &buffer = *plan.buffers()->Get(source.buffer());
    const ElementType *type = elementTypeOf(buffer.dtype());
    if (!type)
      return bad("has an unknown dtype");
    std::string dtype(type->safetensors);
    if (dtype == "F16" || dtype == "BF16")
      return bad("is " + dtype + ", which cannot be initialized yet");

    // The file's shape, or the inside one where the plan gives none.
    std::vector<int64_t> shape;
    bool hasFileShape = source.file_shape() && source.file_shape()->size() > 0;
    const auto *shapeField = hasFileShape ? source.file_shape() : buffer.shape();
    if (shapeField)
      shape.assign(shapeField->begin(), shapeField->end());
    int64_t elements = 1;
    for (int64_t dimension : shape)
      if (dimension < 1 || __builtin_mul_overflow(elements, dimension, &elements))
        return bad(fmt::format("has the impossible shape {}", shapeText(shape)));
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(elements), type->bytes, &bytes) ||
        bytes > buffer.bytes())
      return bad(fmt::format("of shape {} does not fit its buffer of {} bytes", shapeText(shape),
                             buffer.bytes()));
    int32_t gradient = source.gradient_buffer();
    if (gradient >= 0 && (static_cast<size_t>(gradient) >= buffers ||
                          plan.buffers()->Get(gradient)->dtype() != buffer.dtype() ||
                          plan.buffers()->Get(gradient)->bytes() < bytes))
      return bad(fmt::format("names buffer {} as its gradient, which does not fit", gradient));

    std::vector<int64_t> split;
    std::vector<int> permutation;
    if (source.file_split())
      split.assign(source.file_split()->begin(), source.file_split()->end());
    if (source.file_permutation())
      permutation.assign(source.file_permutation()->begin(), source.file_permutation()->end());
    Result<FileLayout> layout = FileLayout::create(name, elements, std::move(split), permutation);
    if (!layout)
      return layout.error();

    InitialValues init;
    std::vector<double> values;
    const plan::Initializer *given = source.init();
    if (given && given->kind() == plan::InitKind_Values) {
      if (given->values())
        values.assign(given->values()->begin(), given->values()->end());
      if (values.size() != static_cast<size_t>(elements) ||
          source.role() != plan::VariableRole_Constant)
        return bad("has given values, but is no constant of so many elements");
      // Whole numbers that fit, where they are stored as such: anything else would be cut silently.
      double bound = std::ldexp(1.0, static_cast<int>(8 * type->bytes) - 1);
      for (double value : values)
        if (!std::isfinite(value) ||
            (dtype != "F32" && (std::trunc(value) != value || value < -bound || value >= bound)))
          return bad(fmt::format("cannot hold the value {} as {}", value, dtype));
    } else if (given)
      init = {static_cast<InitialDistribution>(given->kind()), given->a(), given->b(), given->c(),
              given->d()};
    if (Status checked = checkInitialValues(init, name); !checked)
      return checked.error();
    if (source.role() > plan::VariableRole_MAX)
      return bad("has an unknown role");
    Role role = static_cast<Role>(source.role());
    if (role == Role::Generator && (dtype != "I64" || elements != 2))
      return bad("is a generator and must be two I64 values, seed and step");
    if (role != Role::Generator && init.distribution != InitialDistribution::Constant &&
        dtype != "F32")
      return bad("is drawn at random and must be F32");
    std::optional<uint32_t> average;
    if (source.average() >= 0) {
      const auto number = static_cast<uint32_t>(source.average());
      if (number >= plan.variables()->size() ||
          plan.variables()->Get(number)->buffer() >= buffers ||
          plan.buffers()->Get(plan.variables()->Get(number)->buffer())->bytes() != buffer.bytes())
        return bad(fmt::format("names variable {} as its average, which does not fit", number));
      average = plan.variables()->Get(number)->buffer();
    }
    store.variables.push_back({std::move(name), std::move(dtype), role, source.buffer(), gradient,
                               average, init, std::move(shape), elements, std::move(*layout),
                               std::move(values)});
  }
  return store;
}

/// Calls `body` with a word as long as an element: what only moves elements needs no more of their
/// type.
static void withWord(uint64_t elementBytes, auto body) {
  switch (elementBytes) {
  case 8:
    return body(uint64_t{});
  case 4:
    return body(uint32_t{});
  case 2:
    return body(uint16_t{});
  case 1:
    return body(uint8_t{});
  }
  std::abort(); // the table of element types has no others
}

/// The values that are given, or one for all elements.
template <class T>
static void fillConstant(std::byte *data, int64_t elements, double value,
                         const std::vector<double> &values) {
  T *target = reinterpret_cast<T *>(data);
  if (values.empty())
    std::fill_n(target, elements, static_cast<T>(value));
  else
    std::transform(values.begin(), values.end(), target, [](double given) {
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<int64_t>(given));
      else
        return static_cast<T>(given);
    });
}

Status VariableStore::initializeVariable(const Variable &variable, uint64_t seed) {
  Result<std::byte *> mapped = access->map(variable.buffer);
  if (!mapped)
    return mapped.error();
  std::byte *data = *mapped;
  if (variable.role == Role::Generator) {
    reinterpret_cast<int64_t *>(data)[0] = static_cast<int64_t>(seed);
    reinterpret_cast<int64_t *>(data)[1] = 0;
  } else if (variable.dtype == "I64") {
    fillConstant<int64_t>(data, variable.elements, variable.init.a, variable.values);
  } else if (variable.dtype == "I32") {
    fillConstant<int32_t>(data, variable.elements, variable.init.a, variable.values);
  } else if (variable.dtype == "U8") {
    fillConstant<uint8_t>(data, variable.elements, variable.init.a, variable.values);
  } else if (variable.dtype != "F32") {
    (void)access->unmap(variable.buffer, /*written=*/false);
    return badInput(fmt::format("variable '{}' of dtype {} cannot be given initial values",
                                variable.name, variable.dtype));
  } else if (variable.init.distribution == InitialDistribution::Constant) {
    fillConstant<float>(data, variable.elements, variable.init.a, variable.values);
  } else {
    auto drawRange = [&](int64_t begin, int64_t end) {
      std::vector<float> piece(std::min(pieceElements, end - begin));
      for (int64_t first = begin; first < end; first += pieceElements) {
        size_t count = std::min(pieceElements, end - first);
        drawInitialValues(variable.init, seed, variable.name, first, count, piece.data());
        variable.layout.toInside(first, count, piece.data(), reinterpret_cast<float *>(data));
      }
    };
    // Draws are independent, so large tensors are split over the cores.
    int64_t most = std::max(1u, std::min(std::thread::hardware_concurrency(), 16u));
    int64_t parts = std::clamp<int64_t>(variable.elements / (4 * pieceElements), 1, most);
    std::vector<std::thread> threads;
    for (int64_t part = 1; part < parts; ++part) {
      auto draw = [&, begin = variable.elements / parts * part,
                   end = part + 1 == parts
                             ? variable.elements
                             : variable.elements / parts * (part + 1)] { drawRange(begin, end); };
      if (auto thread = tryThread(draw))
        threads.push_back(std::move(*thread));
      else
        draw();
    }
    drawRange(0, parts == 1 ? variable.elements : variable.elements / parts);
    for (std::thread &thread : threads)
      thread.join();
  }
  return access->unmap(variable.buffer, /*written=*/true);
}

Status VariableStore::initialize(uint64_t seed) {
  for (const Variable &variable : variables)
    if (Status done = initializeVariable(variable, seed); !done)
      return done;
  return beginAverages();
}

Status VariableStore::beginAverages() {
  for (const Variable &variable : variables) {
    if (!variable.averageBuffer)
      continue;
    Result<std::byte *> value = access->map(variable.buffer);
    if (!value)
      return value.error();
    Result<std::byte *> average = access->map(*variable.averageBuffer);
    if (!average) {
      (void)access->unmap(variable.buffer, /*written=*/false);
      return average.error();
    }
    std::memcpy(*average, *value,
                static_cast<size_t>(variable.elements) * safetensorsElementBytes(variable.dtype));
    Status written = access->unmap(*variable.averageBuffer, /*written=*/true);
    Status read = access->unmap(variable.buffer, /*written=*/false);
    if (!written || !read)
      return !written ? written : read;
  }
  return {};
}

VariableStore::Selection VariableStore::select(bool state) const {
  Selection selection;
  for (const Variable &variable : variables) {
    bool weight = variable.role == Role::Parameter || variable.role == Role::RunningStatistic;
    // Accumulators are empty between steps; their initial value is right again, as is a constant's.
    // The schedule is set by whoever trains.
    bool isInitial = variable.role == Role::Accumulator || variable.role == Role::Constant ||
                     variable.role == Role::Schedule;
    if (weight || (state && !isInitial))
      selection.push_back(&variable);
  }
  return selection;
}

/// `a, b, c and 12 more`: errors stay readable however much differs.
static std::string listNames(const std::vector<std::string> &names) {
  size_t shown = std::min<size_t>(names.size(), 8);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > shown)
    text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// `(it has 'fc.weigth')`: what may be the one that is missing, under another name.
static std::string nearOf(const std::string &missing, const std::vector<std::string> &extra) {
  std::string nearest = nearestName(missing, extra);
  return nearest.empty() ? "" : fmt::format(" (but has '{}')", nearest);
}

static bool acceptsDtype(const std::string &wanted, const std::string &given) {
  return wanted == given || (wanted == "F32" && elementTypeInFile(given)->toFloats);
}

/// torchvision's batch norms count their batches; nothing here depends on it.
static bool isCounter(const std::string &name) {
  return name == "num_batches_tracked" || name.ends_with(".num_batches_tracked");
}

Result<PartialLoad> VariableStore::loadSelection(const std::string &path, const Selection &wanted,
                                                 bool state, Fit fit) {
  Result<WeightFiles> files = WeightFiles::open(path);
  if (!files)
    return files.error();
  PartialLoad result;
  std::vector<std::string> extra, different, ofOtherShape;
  std::vector<const Variable *> found;
  std::set<std::string> known;
  for (const Variable *variable : wanted) {
    known.insert(variable->name);
    auto tensor = files->tensors().find(variable->name);
    if (tensor == files->tensors().end()) {
      result.initialized.push_back(variable->name);
      continue;
    }
    const SafetensorsEntry &entry = *tensor->second.entry;
    bool isOtherType = !acceptsDtype(variable->dtype, entry.dtype);
    if (!isOtherType && entry.shape == variable->fileShape) {
      found.push_back(variable);
      continue;
    }
    ofOtherShape.push_back(variable->name);
    different.push_back(isOtherType
                            ? fmt::format("{} has dtype {}, expected {}", variable->name,
                                          entry.dtype, variable->dtype)
                            : fmt::format("{} has shape {}, expected {}", variable->name,
                                          shapeText(entry.shape), shapeText(variable->fileShape)));
  }
  for (const auto &[name, tensor] : files->tensors())
    if (!known.count(name) && !isCounter(name))
      extra.push_back(name);
  std::vector<std::string> complaints;
  if (!result.initialized.empty())
    complaints.push_back(fmt::format("it lacks {}{}", listNames(result.initialized),
                                     nearOf(result.initialized.front(), extra)));
  if (!extra.empty() && fit != Fit::Extras)
    complaints.push_back(fmt::format("the model does not have {}", listNames(extra)));
  if (!different.empty())
    complaints.push_back(listNames(different));
  if (fit == Fit::Partial ? found.empty() : !complaints.empty())
    return badInput(fmt::format("'{}' does not fit the {}: {}{}", path,
                                state ? "model and optimizer" : "model",
                                fmt::join(complaints, "; "),
                                fit == Fit::Partial ? "; nothing of it could be loaded"
                                : fit == Fit::Exact && !state && !found.empty()
                                    ? "; --load-partial takes what fits and leaves the rest"
                                    : ""));
  for (const Variable *variable : found) {
    const WeightFiles::Tensor &tensor = files->tensors().at(variable->name);
    if (Status done = loadVariable(*tensor.file, *tensor.entry, *variable); !done)
      return done.error();
  }
  result.loaded = found.size();
  result.initialized.insert(result.initialized.end(), ofOtherShape.begin(), ofOtherShape.end());
  result.leftOut = std::move(extra);
  result.leftOut.insert(result.leftOut.end(), different.begin(), different.end());
  return result;
}

Status VariableStore::loadVariable(const SafetensorsFile &file, const SafetensorsEntry &entry,
                                   const Variable &variable) {
  Result<std::byte *> mapped = access->map(variable.buffer);
  if (!mapped)
    return mapped.error();
  size_t elementBytes = safetensorsElementBytes(variable.dtype);
  std::vector<std::byte> piece(std::min(pieceElements, variable.elements) * elementBytes);
  for (int64_t first = 0; first < variable.elements; first += pieceElements) {
    size_t count = std::min(pieceElements, variable.elements - first);
    Status read =
        variable.dtype == "F32"
            ? file.readFloats(entry, first, reinterpret_cast<float *>(piece.data()), count)
            : file.read(entry, first * elementBytes, piece.data(), count * elementBytes);
    if (!read) {
      (void)access->unmap(variable.buffer, /*written=*/false);
      return read;
    }
    auto convert = [&](auto zero) {
      using T = decltype(zero);
      variable.layout.toInside(first, count, reinterpret_cast<const T *>(piece.data()),
                               reinterpret_cast<T *>(*mapped));
    };
    withWord(elementBytes, convert);
  }
  return access->unmap(variable.buffer, /*written=*/true);
}

Status VariableStore::saveSelection(const std::string &path, const Selection &selection,
                                    const Saving &saving) {
  const ElementType &floats = *elementTypeInFile(saving.floats);
  std::vector<SafetensorsDeclaration> declarations;
  std::map<std::string, const Variable *> byName;
  for (const Variable *variable : selection) {
    const std::string &dtype = variable->dtype == "F32" ? saving.floats : variable->dtype;
    declarations.push_back({variable->name, dtype, variable->fileShape});
    byName[variable->name] = variable;
  }
  std::map<std::string, std::string> metadata = saving.notes;
  metadata["format"] = "pt"; // what Python's loaders expect to find
  Result<SafetensorsWriter> writer =
      SafetensorsWriter::create(path, std::move(declarations), metadata);
  if (!writer)
    return writer.error();
  std::vector<std::byte> piece, narrow;
  for (const SafetensorsDeclaration &declared : writer->order()) {
    const Variable &variable = *byName.at(declared.name);
    uint32_t buffer =
        saving.content == Content::Gradient  ? static_cast<uint32_t>(variable.gradientBuffer)
        : saving.content == Content::Average ? variable.averageBuffer.value_or(variable.buffer)
                                             : variable.buffer;
    Result<std::byte *> mapped = access->map(buffer);
    if (!mapped)
      return mapped.error();
    size_t elementBytes = safetensorsElementBytes(variable.dtype);
    bool isNarrowed = declared.dtype != variable.dtype;
    piece.resize(std::min(pieceElements, variable.elements) * elementBytes);
    narrow.resize(isNarrowed ? piece.size() / elementBytes * floats.bytes : 0);
    Status written;
    for (int64_t first = 0; first < variable.elements && written; first += pieceElements) {
      size_t count = std::min(pieceElements, variable.elements - first);
      auto convert = [&](auto zero) {
        using T = decltype(zero);
        variable.layout.toFile(first, count, reinterpret_cast<const T *>(*mapped),
                               reinterpret_cast<T *>(piece.data()));
      };
      withWord(elementBytes, convert);
      if (!isNarrowed) {
        written = writer->append(piece.data(), count * elementBytes);
        continue;
      }
      const float *values = reinterpret_cast<const float *>(piece.data());
      if (size_t lost = floats.fromFloats(values, narrow.data(), count); lost < count)
        written = runFailed(fmt::format("'{}' is not written: {} of {} is too large for {}", path,
                                        values[lost], variable.name, saving.floats));
      else
        written = writer->append(narrow.data(), count * floats.bytes);
    }
    Status unmapped = access->unmap(buffer, /*written=*/false);
    if (!written)
      return written;
    if (!unmapped)
      return unmapped;
  }
  return writer->finish();
}

static Status statusOf(const Result<PartialLoad> &loaded) {
  return loaded ? Status() : loaded.error();
}

Status VariableStore::load(const std::string &path) {
  Status loaded =
      statusOf(loadSelection(path, select(/*state=*/false), /*state=*/false, Fit::Exact));
  return loaded ? beginAverages() : loaded;
}

Result<PartialLoad> VariableStore::loadPartial(const std::string &path) {
  Result<PartialLoad> loaded =
      loadSelection(path, select(/*state=*/false), /*state=*/false, Fit::Partial);
  if (loaded)
    if (Status begun = beginAverages(); !begun)
      return begun.error();
  return loaded;
}

Status VariableStore::loadWeightsOfState(const std::string &path) {
  // What evaluation reads: the averages, too.
  Selection wanted = select(/*state=*/false);
  for (const Variable &variable : variables)
    if (variable.averageBuffer)
      for (const Variable &average : variables)
        if (average.buffer == *variable.averageBuffer)
          wanted.push_back(&average);
  return statusOf(loadSelection(path, wanted, /*state=*/false, Fit::Extras));
}

Status VariableStore::save(const std::string &path, const std::string &dtype,
                           const std::map<std::string, std::string> &notes) {
  return saveSelection(path, select(/*state=*/false),
                       {.content = Content::Average, .floats = dtype, .notes = notes});
}

Status VariableStore::saveGradients(const std::string &path) {
  Selection selection;
  for (const Variable &variable : variables)
    if (variable.role == Role::Parameter && variable.gradientBuffer >= 0)
      selection.push_back(&variable);
  if (selection.empty())
    return badInput("this plan keeps no gradients; compile it with gc-compile --keep-gradients");
  return saveSelection(path, selection, {.content = Content::Gradient});
}

Result<std::vector<float>> VariableStore::read(const std::string &name, bool gradient) const {
  for (const Variable &variable : variables) {
    if (variable.name != name || variable.dtype != "F32" ||
        (gradient && variable.gradientBuffer < 0))
      continue;
    uint32_t buffer = gradient ? static_cast<uint32_t>(variable.gradientBuffer) : variable.buffer;
    Result<std::byte *> mapped = access->map(buffer);
    if (!mapped)
      return mapped.error();
    std::vector<float> values(static_cast<size_t>(variable.elements));
    variable.layout.toFile(0, values.size(), reinterpret_cast<const float *>(*mapped),
                           values.data());
    if (Status unmapped = access->unmap(buffer, /*written=*/false); !unmapped)
      return unmapped.error();
    return values;
  }
  return badInput(
      fmt::format("the plan has no {} '{}'", gradient ? "gradient of" : "variable", name));
}

Status VariableStore::loadState(const std::string &path) {
  return statusOf(loadSelection(path, select(/*state=*/true), /*state=*/true, Fit::Exact));
}

Status VariableStore::saveState(const std::string &path,
                                const std::map<std::string, std::string> &notes) {
  return saveSelection(path, select(/*state=*/true), {.notes = notes});
}

std::vector<uint32_t> VariableStore::stateBuffers() const {
  std::vector<uint32_t> buffers;
  for (const Variable *variable : select(/*state=*/true))
    buffers.push_back(variable->buffer);
  return buffers;
}

} // namespace gc::runtime
