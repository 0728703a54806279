// A small training run on the cuda device, alone in its process so that the emulated driver's
// settings are its own: uploads, launches, fill, copy, readback, in the session's way.
//
//   gc-cuda-workload [profile] [device=NAME] [sm=ARCHITECTURE] [items=N] [fault] [shared=BYTES]
//                    [block=THREADS] [graph] [graph-workspace=BYTES] [properties]
//
// Prints what it computed; or the error, with its exit code.
#include "runtime/hal/conformance/Lowering.h"
#include "runtime/plan/CudnnProfile.h"
#include "runtime/session/Session.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace gc::runtime;
using conformance::SmallPlan;
using gc::plan::View;

namespace {

std::map<std::string, std::string> arguments;
uint32_t number(const char *key, uint32_t otherwise) {
  auto found = arguments.find(key);
  return found == arguments.end()
             ? otherwise
             : static_cast<uint32_t>(std::strtoul(found->second.c_str(), nullptr, 10));
}

struct Plan {
  SmallPlan small;
  uint32_t items, x0, x1, y, w, loss;

  Plan() : items(number("items", 1000)) {
    small.device = "cuda";
    small.architecture = arguments.count("sm") ? arguments["sm"] : "sm_50";
    x0 = small.buffer("x.0", gc::plan::BufferKind_Input, {items});
    x1 = small.buffer("x.1", gc::plan::BufferKind_Input, {items});
    y = small.activation("y", {items});
    w = small.buffer("w", gc::plan::BufferKind_Parameter, {items});
    loss = small.buffer("loss", gc::plan::BufferKind_Metric, {1});
    small.input("x", {x0, x1});
    small.variable("w", w, {items});
    // "fault": the kernel gets the last buffers and believes that they go on behind the arena's
    // end.
    uint32_t in = arguments.count("fault") ? w : x0, out = arguments.count("fault") ? loss : y;
    uint32_t believed = arguments.count("fault") ? items * 64 : items;
    uint32_t block = number("block", 128);
    small.image(conformance::affinePtx(believed), {"conformance_affine"});
    small.name("y:fill");
    small.fill(y, 0);
    small.name("layer1.conv:conv2d");
    small.launch(0, {in, out}, {(believed + block - 1) / block, 1, 1}, {block, 1, 1},
                 number("shared", 0));
    if (arguments.count("graph")) {
      uint64_t bytes = number("graph-workspace", 256);
      uint32_t graph = small.graph("product_relu", "{\"engine\": 7}", bytes);
      small.name("fc:matmul");
      small.graphCall(graph, {11, 12}, {View(y, 0), View(w, 1)}, {{13, 0.5f}},
                      small.workspace(bytes + gc::plan::kWorkspaceSlack));
    } else {
      small.name("w:copy");
      small.copy({y, 0}, {w, 0}, 4 * items);
    }
    small.name("loss:copy");
    small.copy({y, items - 1}, {loss, 0}, 4);
    small.loss = static_cast<int32_t>(loss);
  }
};

Status work() {
  Plan plan;
  auto file = PlanFile::fromMemory(plan.small.finish());
  if (!file)
    return file.error();
  auto created =
      Session::create(*file, {.device = arguments.count("device") ? arguments["device"] : "",
                              .profile = arguments.count("profile") > 0});
  if (!created)
    return created.error();
  Session &session = **created;
  if (arguments.count("properties")) {
    auto text = session.device().propertiesJson();
    if (!text)
      return text.error();
    std::printf("%s\n", text->c_str());
  }
  std::vector<float> values(plan.items, 0.25f), back(plan.items);
  if (Status done = session.writeVariable("w", std::as_bytes(std::span(values))); !done)
    return done;
  auto fill = [&](uint32_t slot, float value) {
    std::vector<float> x(plan.items, value);
    std::memcpy(session.input("x", slot).data(), x.data(), 4 * x.size());
  };
  if (Status done = session.runOnce(); !done)
    return done;
  fill(0, 1.0f);
  if (Status done = session.upload(0); !done)
    return done;
  for (uint32_t step = 0; step < 3; ++step) {
    uint32_t slot = step % 2;
    if (Status done = session.startMicroBatch(slot); !done)
      return done;
    // While it is computed: the next one.
    fill(1 - slot, 2.0f + static_cast<float>(step));
    if (Status done = session.upload(1 - slot); !done)
      return done;
    if (Status done = session.finishMicroBatch(); !done)
      return done;
    if (Status done = session.finishStep(); !done)
      return done;
    std::printf("loss %g\n", session.metrics().loss);
  }
  if (Status done = session.readVariable("w", std::as_writable_bytes(std::span(back))); !done)
    return done;
  double sum = 0;
  for (float value : back)
    sum += value;
  MemoryMeasurement memory = session.memory();
  std::printf("w %.9g\nslots staged %d, arena %llu\n", sum, session.stagesInput(),
              static_cast<unsigned long long>(memory.peakBytes));
  for (const CommandTime &entry : session.profile())
    std::printf("%s: %s, %llu times\n", std::string(entry.name).c_str(),
                std::string(entry.implementation).c_str(),
                static_cast<unsigned long long>(entry.executions));
  for (const std::string &notice : session.notices())
    std::printf("note: %s\n", notice.c_str());
  return {};
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    size_t equals = text.find('=');
    arguments[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  Status done = work();
  if (done)
    return 0;
  std::printf("error: %s\n", done.error().message.c_str());
  return done.error().exitCode();
}
