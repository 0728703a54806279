// What the GPU does in a second: each kind of op with generated kernels and with cuDNN, launches
// and copies. In the report they stand as --costs reads them, so that predictions on this GPU are
// its own.
#include "compiler/Calibrate.h"
#include "runtime/hal/Registry.h"
#include "runtime/process/TemporaryNames.h"
#include "tools/selftest/LaunchChain.h"
#include "tools/selftest/SelfTestSetup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

using namespace gc::runtime;

namespace {

using Json = CaseReporter::Json;

std::string profileName(const SelfTestNetwork &network, const std::string &variant) {
  return network.name + "." + variant + ".profile";
}

struct Rate {
  double flops = 0, bytes = 0, seconds = 0;
  size_t ops = 0;
};

/// Sums of a profile by kind of op; those that compute nothing worth a rate are left out.
std::map<std::string, Rate> ratesOf(const Json &profile) {
  std::map<std::string, Rate> rates;
  for (const Json &op : profile["ops"]) {
    Rate &rate = rates[gc::opKind(op.value("name", ""))];
    rate.flops += op.value("flops", 0.0);
    rate.bytes += op.value("bytes_moved", 0.0);
    rate.seconds += op.value("median_seconds", 0.0);
    rate.ops += op.value("flops", 0.0) > 0;
  }
  std::erase_if(rates, [](const auto &one) { return one.second.seconds <= 0; });
  return rates;
}

/// A few steps of a network with a profile, kept for the others.
void profile(const SelfTestSetup &setup, const SelfTestNetwork &network, const std::string &variant,
             CaseReporter &report) {
  std::string name = network.name + "." + variant;
  report.doing("compiling");
  Result<PlanFile> plan = sharedPlan(setup, network, variant);
  if (!plan)
    return report.failed(name, plan.error().message);
  std::error_code none;
  std::string path =
      (std::filesystem::temp_directory_path(none) / fmt::format("gc-selftest-{}.json", ::getpid()))
          .string();
  TemporaryName removedOnSignal(path);
  TrainOptions options = setup.trainOptions(setup.device, setup.quick ? 1 : 10);
  options.profile = path;
  report.doing("measuring");
  Status done = trainPlan(*plan, options);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::filesystem::remove(path, none);
  if (!done)
    return report.failed(name, done.error().message);
  Json profile = Json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (!profile.is_object() || !setup.files.write(profileName(network, variant), text.str()))
    return report.failed(name, "its profile could not be kept");
  Json kinds = Json::object();
  double seconds = 0;
  for (const auto &[kind, rate] : ratesOf(profile)) {
    seconds += rate.seconds;
    kinds[kind] = {{"ops", rate.ops},
                   {"flops_per_second", rate.flops / rate.seconds},
                   {"bytes_per_second", rate.bytes / rate.seconds}};
  }
  report.passed(name, fmt::format("{:.3g} s in {} kinds of ops", seconds, kinds.size()),
                {{"kinds", kinds}});
}

/// The rates that explain the profiles best, by the faster way of each op; and what products of
/// each class reach both ways.
void fit(const SelfTestSetup &setup, const std::vector<std::string> &variants,
         std::optional<double> startSeconds, CaseReporter &report) {
  std::vector<gc::ProfiledNetwork> networks;
  for (const SelfTestNetwork &network : setup.rateNetworks)
    for (const std::string &variant : variants)
      if (std::string path = setup.files.path(profileName(network, variant)); !path.empty())
        networks.push_back({network.text, {path}, variant == "cudnn" ? "cudnn" : "none"});
  if (networks.empty())
    return report.skipped("roofline", "nothing was measured");
  gc::Calibration calibration = gc::calibrate(networks, setup.cudaOptions(), startSeconds);
  if (!calibration.error.empty())
    return report.failed("roofline", calibration.error);
  for (const gc::Calibration::ProductClass &one : calibration.classes)
    report.note(one.name, fmt::format("{:.3g} GFLOP/s {} ({} ops)", 1e-9 * one.flopsPerSecond,
                                      one.byLibrary ? "by cuDNN" : "generated", one.ops));
  Json costs = Json::parse(calibration.json(setup.model.name, /*threads=*/1), nullptr,
                           /*allow_exceptions=*/false);
  costs["ways"] = variants;
  report.answer(costs);
  report.passed("roofline",
                fmt::format("of {} profiles ({}), {} classes of products; gc-compile --costs reads "
                            "it from the report",
                            networks.size(), fmt::join(variants, " and "),
                            calibration.classes.size()),
                {{"roofline", costs["roofline"]}});
}

double secondsOf(const auto &body) {
  auto began = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// Between the host's memory and the arena, as weights and checkpoints go.
void copies(const SelfTestSetup &setup, CaseReporter &report) {
  Result<PlanFile> plan = sharedPlan(setup, setup.networks.front(), "generated");
  if (!plan)
    return report.failed("copies", plan.error().message);
  auto device = hal::createDevice(setup.device);
  auto arena = device ? (*device)->createArena(**plan) : device.error();
  if (!arena)
    return report.failed("copies", arena.error().message);
  std::vector<std::byte> bytes((*arena)->size());
  double in = 1e9, out = 1e9;
  for (int i = 0; i < 5; ++i) {
    Status wrote, read;
    in = std::min(in, secondsOf([&] { wrote = (*arena)->write(0, bytes); }));
    out = std::min(out, secondsOf([&] { read = (*arena)->read(0, bytes); }));
    if (!wrote || !read)
      return report.failed("copies", (!wrote ? wrote : read).error().message);
  }
  double size = static_cast<double>(bytes.size());
  report.passed(
      "copies",
      fmt::format("{:.3g} GB/s to the GPU, {:.3g} GB/s back, {} bytes", size / in / 1e9,
                  size / out / 1e9, bytes.size()),
      {{"to_device_bytes_per_second", size / in}, {"from_device_bytes_per_second", size / out}});
}

void launches(const SelfTestSetup &setup, CaseReporter &report) {
  unsigned count = setup.quick ? 50 : 2000;
  Result<double> seconds = launchSeconds(setup.device, count);
  if (!seconds)
    return report.failed("launches", seconds.error().message);
  report.answer(*seconds);
  report.passed("launches",
                fmt::format("{:.2f} us from one to the next, the mean of {} that do next to "
                            "nothing",
                            1e6 * *seconds, count),
                {{"launch_seconds", *seconds}, {"launches", count}});
}

} // namespace

Json measureRates(const SelfTestSetup &setup, CaseRunner &cases) {
  cases.findings.section("rates", "what the GPU does in a second");
  std::vector<std::string> variants = {"generated"};
  if (setup.whyNoLibrary.empty())
    variants.push_back("cudnn");
  for (const SelfTestNetwork &network : setup.rateNetworks) {
    for (const std::string &variant : variants)
      cases.run(network.name + "." + variant,
                [&](CaseReporter &report) { profile(setup, network, variant, report); });
    if (!setup.whyNoLibrary.empty())
      cases.findings.skipped(network.name + ".cudnn", setup.whyNoLibrary);
  }
  Json launch = cases.run("launches", [&](CaseReporter &report) { launches(setup, report); });
  std::optional<double> startSeconds;
  if (launch.is_number())
    startSeconds = launch.get<double>();
  cases.run("copies", [&](CaseReporter &report) { copies(setup, report); });
  return cases.run("roofline",
                   [&](CaseReporter &report) { fit(setup, variants, startSeconds, report); });
}
