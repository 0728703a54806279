#include "tools/gc-compile/CudaReport.h"

#include "runtime/plan/CudaVersions.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using nlohmann::json;

static json cudaOf(const std::string &compilerReport) {
  json report = json::parse(compilerReport, nullptr, /*allow_exceptions=*/false);
  return report.is_object() && report.contains("cuda") ? report["cuda"] : json();
}

static std::string line(const char *label, const std::string &text) {
  return fmt::format("{:<11} {}\n", label, text);
}

static std::string spillText(const json &cuda) {
  int64_t spilled = 0, kernels = 0;
  for (const json &kernel : cuda["kernels"]) {
    if (kernel["spill_bytes"].is_null())
      return "";
    if (kernel["spill_bytes"].get<int64_t>() > 0)
      ++kernels, spilled += kernel["spill_bytes"].get<int64_t>();
  }
  return spilled ? fmt::format(", {} of them spill {} bytes", kernels, spilled) : ", no spills";
}

/// Which driver loads the plan, and which cuDNN and GPUs its library graphs are for.
static std::string needsText(const json &cuda) {
  using namespace gc::plan;
  int cubin = cuda["cubin_cuda"], ptx = cudaForPtx(cuda["ptx_version"]);
  std::string text = cubin ? fmt::format("{} or newer for its machine code, {} for its PTX",
                                         describeCuda(cudaForCubin(cubin)), describeCuda(ptx))
                           : fmt::format("{} or newer for its PTX", describeCuda(ptx));
  if (cuda["library_graphs"].get<size_t>() > 0)
    text +=
        fmt::format("; cuDNN {} and up to {} multiprocessors for its graphs, and generated "
                    "twins run where one does not restore",
                    cuda["library_version"].get<std::string>(), cuda["multiprocessors"].get<int>());
  return text;
}

std::string cudaSummary(const std::string &compilerReport) {
  json cuda = cudaOf(compilerReport);
  if (cuda.is_null())
    return "";
  std::string text;
  auto assembler = cuda["assembler"].get<std::string>();
  bool isAssembled = !assembler.starts_with("none");
  text += line("kernels", fmt::format("{} generated, {}{}{}", cuda["kernels"].size(),
                                      isAssembled ? "assembled by " : "PTX alone; assembler: ",
                                      assembler, spillText(cuda)));
  text += line("needs", needsText(cuda));
  std::string library = cuda["library"];
  if (library.empty())
    text += line("library", "none: " + cuda["no_library_because"].get<std::string>());
  else
    text += line("library",
                 fmt::format("{} graphs of {}", cuda["library_graphs"].get<size_t>(), library));
  for (const json &refusal : cuda["generated_instead"])
    text +=
        line("", fmt::format("generated instead: {} ({}): {}", refusal["op"].get<std::string>(),
                             refusal["ops"].get<int64_t>(), refusal["reason"].get<std::string>()));
  for (const json &choice : cuda["choices"])
    text += line("", fmt::format("{} {} ({}): {}; {:.3f} ms by cuDNN, {:.3f} ms generated",
                                 choice["way"] == "library" ? "by cuDNN" : "generated",
                                 choice["op"].get<std::string>(), choice["ops"].get<int64_t>(),
                                 choice["reason"].get<std::string>(),
                                 1e3 * choice["library_seconds"].get<double>(),
                                 1e3 * choice["generated_seconds"].get<double>()));
  json report = json::parse(compilerReport);
  std::string costs = report.value("costs", "");
  text += line("a step",
               fmt::format("{:.3f} ms {}", 1e3 * report.value("step_seconds_predicted", 0.0),
                           costs.empty()
                               ? fmt::format("by the roofline of {}'s data sheet; not measured",
                                             cuda["device"].get<std::string>())
                               : fmt::format("by the costs in '{}'", costs)));
  auto has = cuda["device_memory_bytes"].get<uint64_t>();
  auto needs = report.value("arena_bytes", uint64_t(0));
  if (needs > has)
    text += line("does not fit", fmt::format("{} has {}", cuda["device"].get<std::string>(),
                                             gc::runtime::sizeText(has)));
  return text;
}

std::string kernelTable(const std::string &compilerReport) {
  json cuda = cudaOf(compilerReport);
  if (cuda.is_null())
    return "";
  std::string text = fmt::format("{:<44} {:>8} {:>7} {:>9} {:>6} {:>6} {:>9} {:>10}  {}\n",
                                 "kernel", "launches", "threads", "registers", "spills", "shared",
                                 "occupancy", "predicted", "limited by");
  auto number = [](const json &value) { return value.is_null() ? std::string("?") : value.dump(); };
  for (const json &kernel : cuda["kernels"])
    text += fmt::format("{:<44} {:>8} {:>7} {:>9} {:>6} {:>6} {:>9} {:>10}  {}\n",
                        kernel["name"].get<std::string>(), kernel["launches"].get<int64_t>(),
                        kernel["threads"].get<int64_t>(), number(kernel["registers"]),
                        number(kernel["spill_bytes"]), kernel["shared_bytes"].get<int64_t>(),
                        kernel["occupancy"].is_null()
                            ? "?"
                            : fmt::format("{:.0f} %", 100 * kernel["occupancy"].get<double>()),
                        fmt::format("{:.1f} us", 1e6 * kernel["seconds_predicted"].get<double>()),
                        kernel["limited_by"].get<std::string>());
  return text;
}
