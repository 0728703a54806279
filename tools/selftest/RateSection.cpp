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

/// What was measured apart from networks; nothing where that failed.
struct Alone {
  std::optional<double> startSeconds, inputBytesPerSecond;
};

/// The rates that explain the profiles best, by the faster way of each op; and what products of
/// each class reach both ways.
void fit(const SelfTestSetup &setup, const std::vector<std::string> &variants, const Alone &alone,
         CaseReporter &report) {
  std::vector<gc::ProfiledNetwork> networks;
  for (const SelfTestNetwork &network : setup.rateNetworks)
    for (const std::string &variant : variants)
      if (std::string path = setup.files.path(profileName(network, variant)); !path.empty())
        networks.push_back({network.text, {path}, variant == "cudnn" ? "cudnn" : "none"});
  if (networks.empty())
    return report.skipped("roofline", "nothing was measured");
  gc::Calibration calibration = gc::calibrate(networks, setup.cudaOptions(), alone.startSeconds);
  if (!calibration.error.empty())
    return report.failed("roofline", calibration.error);
  calibration.inputBytesPerSecond = alone.inputBytesPerSecond.value_or(0);
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

/// The least seconds of `body`, which returns a Status, of several times.
Result<double> leastSecondsOf(const auto &body) {
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    auto began = std::chrono::steady_clock::now();
    if (Status done = body(); !done)
      return done.error();
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    least = std::min(least, taken.count());
  }
  return least;
}

/// Between the host's memory and the arena: from pinned memory, as inputs go, and from and to any
/// other, as weights and checkpoints do. Answers with the former.
void copies(const SelfTestSetup &setup, CaseReporter &report) {
  Result<PlanFile> plan = sharedPlan(setup, setup.networks.front(), "generated");
  if (!plan)
    return report.failed("copies", plan.error().message);
  auto device = hal::createDevice(setup.device);
  if (!device)
    return report.failed("copies", device.error().message);
  auto arena = (*device)->createArena(**plan);
  if (!arena)
    return report.failed("copies", arena.error().message);
  std::vector<std::byte> bytes((*arena)->size());
  auto staging = (*device)->createStaging(bytes.size());
  auto event = (*device)->createEvent();
  if (!staging || !event)
    return report.failed("copies", (!staging ? staging.error() : event.error()).message);
  Result<double> input = leastSecondsOf([&]() -> Status {
    Status begun = (*device)->upload(**arena, 0, (*staging)->bytes(), nullptr, **event);
    return begun ? (*event)->wait() : begun;
  });
  Result<double> in = leastSecondsOf([&] { return (*arena)->write(0, bytes); });
  Result<double> out = leastSecondsOf([&] { return (*arena)->read(0, bytes); });
  for (const Result<double> *one : {&input, &in, &out})
    if (!*one)
      return report.failed("copies", one->error().message);
  double size = static_cast<double>(bytes.size());
  report.answer(size / *input);
  report.passed("copies",
                fmt::format("{:.3g} GB/s from pinned memory, {:.3g} GB/s from any other, {:.3g} "
                            "GB/s back, {} bytes",
                            size / *input / 1e9, size / *in / 1e9, size / *out / 1e9, bytes.size()),
                {{"input_bytes_per_second", size / *input},
                 {"to_device_bytes_per_second", size / *in},
                 {"from_device_bytes_per_second", size / *out}});
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
  auto numberOf = [](const Json &answer) {
    return answer.is_number() ? std::optional(answer.get<double>()) : std::nullopt;
  };
  Alone alone;
  alone.startSeconds =
      numberOf(cases.run("launches", [&](CaseReporter &report) { launches(setup, report); }));
  alone.inputBytesPerSecond =
      numberOf(cases.run("copies", [&](CaseReporter &report) { copies(setup, report); }));
  return cases.run("roofline", [&](CaseReporter &report) { fit(setup, variants, alone, report); });
}
