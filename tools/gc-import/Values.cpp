#include "tools/gc-import/Values.h"

namespace gc::importer {

void Values::define(const std::string &name, Tensor tensor) {
  places.insert_or_assign(name, Place{storages.size(), {}, tensor, 0});
  storages.push_back({std::move(tensor), 0});
}

void Values::view(const std::string &name, const std::string &of, const ViewSteps &steps) {
  Tensor seen = read(of);
  Place place = places.at(of);
  for (const ViewStep &step : steps) {
    if (!seen.missing)
      seen = apply(emitter, step, seen);
    place.steps.push_back(step);
  }
  place.seen = std::move(seen);
  places.insert_or_assign(name, std::move(place));
}

const Tensor &Values::read(const std::string &name) {
  Place &place = places.at(name);
  const Storage &storage = storages[place.storage];
  if (place.version == storage.version)
    return place.seen;
  place.seen = storage.tensor;
  for (const ViewStep &step : place.steps)
    if (!place.seen.missing)
      place.seen = apply(emitter, step, place.seen);
  place.version = storage.version;
  return place.seen;
}

bool Values::write(const std::string &name, Tensor tensor) {
  Place &place = places.at(name);
  Storage &storage = storages[place.storage];
  // What each view looks at, from the storage on.
  std::vector<Tensor> wholes = {storage.tensor};
  if (storage.tensor.missing || tensor.missing) {
    storage.tensor.missing = true;
  } else {
    for (const ViewStep &step : place.steps)
      wholes.push_back(apply(emitter, step, wholes.back()));
    for (size_t i = place.steps.size(); i-- > 0;) {
      std::optional<Tensor> whole = writeThrough(emitter, place.steps[i], wholes[i], tensor);
      if (!whole)
        return false;
      tensor = std::move(*whole);
    }
    storage.tensor = std::move(tensor);
  }
  ++storage.version;
  return true;
}

} // namespace gc::importer
