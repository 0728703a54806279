#include "runtime/process/Nearest.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace gc::runtime {

// The rows of the usual table for the last two and the present character of `a`.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before2(b.size() + 1), before(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    before[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before2[j - 2] + 1);
    }
    std::swap(before2, before);
    std::swap(before, row);
  }
  return before[b.size()];
}

static std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string nearestName(std::string_view name, const std::vector<std::string> &candidates) {
  std::string wanted = lowered(name), nearest;
  size_t smallest = SIZE_MAX;
  for (const std::string &candidate : candidates) {
    size_t longer = std::max(wanted.size(), candidate.size());
    size_t distance = editDistance(wanted, lowered(candidate));
    if (distance <= std::max<size_t>(longer / 3, 1) && distance < longer && distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string nearestFile(const std::string &path) {
  namespace fs = std::filesystem;
  constexpr size_t most = 10000; // of a large directory only some are looked at
  fs::path wanted(path);
  std::string name = wanted.filename().string();
  if (name.empty())
    return "";
  std::error_code failure;
  fs::path directory = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  for (fs::directory_iterator entry(directory, failure), end;
       !failure && entry != end && names.size() < most; entry.increment(failure))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end()); // directories have no order of their own
  std::string nearest = nearestName(name, names);
  return nearest.empty() ? "" : (wanted.parent_path() / nearest).string();
}

std::string didYouMean(const std::string &name) {
  return name.empty() ? "" : "; did you mean '" + name + "'?";
}

} // namespace gc::runtime
