//===- IntervalFile.cpp - intervals as comma-separated values ------------===//

#include "tools/gc-pack/IntervalFile.h"

#include "runtime/process/AtomicFile.h"

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unordered_map>

namespace gc::pack {
namespace {

using runtime::Result;
using runtime::Status;

std::vector<std::string> splitLine(const std::string &line) {
  std::vector<std::string> cells;
  for (size_t begin = 0; begin <= line.size();) {
    size_t end = std::min(line.find(',', begin), line.size());
    size_t first = line.find_first_not_of(" \t\r", begin);
    size_t last = end == 0 ? std::string::npos : line.find_last_not_of(" \t\r", end - 1);
    bool blank = first >= end || last == std::string::npos || last < first;
    cells.push_back(blank ? "" : line.substr(first, last - first + 1));
    begin = end + 1;
  }
  return cells;
}

/// One line of the file, for numbers and for messages about them.
struct Row {
  std::string place; ///< file and line
  std::vector<std::string> cells;

  template <typename Number> Result<Number> number(size_t column, const char *name) const {
    const std::string &text = cells[column];
    Number value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
      return runtime::badInput(place + ": " + name + " '" + text + "' does not fit 64 bits");
    if (error != std::errc() || end != text.data() + text.size())
      return runtime::badInput(place + ": " + name + " '" + text + "' is not a whole number");
    return value;
  }
};

constexpr std::array<const char *, 4> kColumns = {"id", "lower", "upper", "size"};

Result<std::array<size_t, 4>> findColumns(const std::string &path, const std::string &header) {
  std::vector<std::string> names = splitLine(header);
  std::array<size_t, 4> columns;
  for (size_t wanted = 0; wanted < kColumns.size(); ++wanted) {
    bool found = false;
    for (size_t column = 0; column < names.size(); ++column) {
      if (names[column] != kColumns[wanted])
        continue;
      if (found)
        return runtime::badInput(path + ":1: column '" + kColumns[wanted] + "' appears twice");
      columns[wanted] = column;
      found = true;
    }
    if (!found)
      return runtime::badInput(path + ":1: column '" + kColumns[wanted] +
                               "' is missing; the first line must name the columns "
                               "id, lower, upper and size");
  }
  return columns;
}

Result<Interval> readInterval(const Row &row, const std::array<size_t, 4> &columns) {
  Result<int64_t> lower = row.number<int64_t>(columns[1], "lower");
  if (!lower)
    return lower.error();
  Result<int64_t> upper = row.number<int64_t>(columns[2], "upper");
  if (!upper)
    return upper.error();
  if (row.cells[columns[3]].starts_with('-'))
    return runtime::badInput(row.place + ": size " + row.cells[columns[3]] + " is negative");
  Result<uint64_t> size = row.number<uint64_t>(columns[3], "size");
  if (!size)
    return size.error();
  if (*lower >= *upper)
    return runtime::badInput(row.place + ": lower " + std::to_string(*lower) +
                             " must be less than upper " + std::to_string(*upper));
  return Interval{*lower, *upper, *size, /*alignment=*/1};
}

} // namespace

Result<IntervalFile> readIntervals(const std::string &path) {
  std::ifstream stream(path);
  std::string line;
  // A folder opens, but gives no line.
  if (!stream)
    return runtime::badInput("cannot read '" + path + "': " + std::strerror(errno));
  if (!std::getline(stream, line))
    return runtime::badInput("cannot read '" + path +
                             "': it is empty or no file; the first line must name the columns "
                             "id, lower, upper and size");
  Result<std::array<size_t, 4>> columns = findColumns(path, line);
  if (!columns)
    return columns.error();
  size_t width = splitLine(line).size();

  IntervalFile file;
  std::unordered_map<std::string, size_t> lineOf;
  for (size_t number = 2; std::getline(stream, line); ++number) {
    Row row{path + ":" + std::to_string(number), splitLine(line)};
    if (row.cells.size() == 1 && row.cells[0].empty())
      continue;
    if (row.cells.size() != width)
      return runtime::badInput(row.place + ": " + std::to_string(row.cells.size()) +
                               " values where the first line names " + std::to_string(width) +
                               " columns");
    const std::string &id = row.cells[(*columns)[0]];
    if (id.empty())
      return runtime::badInput(row.place + ": the id is empty");
    if (auto [at, isNew] = lineOf.try_emplace(id, number); !isNew)
      return runtime::badInput(row.place + ": id '" + id + "' was used in line " +
                               std::to_string(at->second) + " already");
    Result<Interval> interval = readInterval(row, *columns);
    if (!interval)
      return interval.error();
    file.ids.push_back(id);
    file.intervals.push_back(*interval);
  }
  return file;
}

Status writePacking(const std::string &path, const IntervalFile &file,
                    const PackingResult &packing) {
  std::ostringstream stream;
  stream << "id,lower,upper,size,offset\n";
  for (size_t i = 0; i < file.ids.size(); ++i)
    stream << file.ids[i] << ',' << file.intervals[i].lower << ',' << file.intervals[i].upper << ','
           << file.intervals[i].size << ',' << packing.offsets[i] << '\n';
  return runtime::writeFileAtomically(path, stream.str());
}

} // namespace gc::pack
