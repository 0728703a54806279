#include "tools/calibration/TimesFile.h"

#include "tools/calibration/KeptFile.h"

#include <fmt/format.h>

#include <algorithm>

using namespace gc::runtime;

TimesFile::TimesFile(const std::string &folder, MachineKey key)
    : key(std::move(key)), path_(folder + "/" + this->key.fileStem() + ".times.json") {}

std::vector<TimesFile::Op> TimesFile::readOps(std::string &fault) const {
  KeptFile file = readKeptFile(path_, kTimesVersion, key);
  fault = file.fault;
  if (file.content.is_null())
    return {};
  auto damaged = [&]() -> std::vector<Op> {
    fault = fmt::format("'{}' is damaged", path_);
    return {};
  };
  if (!file.content.contains("ops") || !file.content["ops"].is_array())
    return damaged();
  std::vector<Op> ops;
  for (const auto &entry : file.content["ops"]) {
    if (!entry.is_object() || !entry.contains("work") || !entry["work"].is_string() ||
        !entry.contains("seconds") || !entry["seconds"].is_array() || entry["seconds"].empty())
      return damaged();
    Op op{entry["work"].get<std::string>(), {}};
    for (const auto &seconds : entry["seconds"]) {
      if (!seconds.is_number() || !(seconds.get<double>() > 0))
        return damaged();
      op.seconds.push_back(seconds.get<double>());
    }
    ops.push_back(std::move(op));
  }
  return ops;
}

std::map<std::string, double> TimesFile::read(std::string &fault) const {
  std::map<std::string, double> medians;
  for (Op &op : readOps(fault)) {
    std::sort(op.seconds.begin(), op.seconds.end());
    medians[op.work] = op.seconds[(op.seconds.size() - 1) / 2]; // of two, the faster
  }
  return medians;
}

Status TimesFile::add(const std::vector<OpTime> &times) const {
  std::string fault;
  std::vector<Op> ops = readOps(fault);
  std::map<std::string, Op> ran;
  for (const OpTime &time : times)
    ran[time.work] = {time.work, {time.seconds}};
  // What ran now moves to the end.
  std::erase_if(ops, [&](Op &op) {
    auto found = ran.find(op.work);
    if (found == ran.end())
      return false;
    op.seconds.push_back(found->second.seconds.back());
    if (op.seconds.size() > kRunsOfAnOp)
      op.seconds.erase(op.seconds.begin());
    found->second.seconds = std::move(op.seconds);
    return true;
  });
  for (auto &[work, op] : ran)
    ops.push_back(std::move(op));
  if (ops.size() > kMostOps)
    ops.erase(ops.begin(), ops.end() - static_cast<ptrdiff_t>(kMostOps));
  KeptFile::Json content = {{"ops", KeptFile::Json::array()}};
  for (const Op &op : ops)
    content["ops"].push_back({{"work", op.work}, {"seconds", op.seconds}});
  return writeKeptFile(path_, kTimesVersion, key, content);
}
