// A network in C++, trained from a loop of its own on data of its own: docs/cpp.md shows this file.
#include "api/ModelBuilder.h"
#include "api/Session.h"

#include <cstdio>

int main() {
  gc::ModelBuilder model("stripes", {32, 8, 8, 1}, /*classes=*/2);
  gc::Tensor x = model.conv("conv", model.input(), {.outputs = 4, .kernel = 3, .padding = 1});
  x = model.globalAvgPool("pool", model.relu("relu", x));
  auto text = model.finish(model.linear("fc", x, 2));
  if (!text)
    return std::fprintf(stderr, "%s\n", text.error().message.c_str()), 2;

  gc::CompileOptions options;
  options.optimizer.lr = 0.5;
  auto plan = gc::compile(*text, options);
  if (!plan)
    return std::fprintf(stderr, "%s\n", plan.error().message.c_str()), 2;
  auto session = gc::Session::create(std::move(*plan), {.seed = 1});
  if (!session)
    return std::fprintf(stderr, "%s\n", session.error().message.c_str()), 2;

  double first = 0, last = 0;
  for (int step = 0; step < 200; ++step) {
    std::vector<float> images(session->batch() * session->sampleElements());
    std::vector<int32_t> labels(session->batch());
    for (size_t i = 0; i < images.size(); ++i) { // stripes that lie or stand, at another place each
      size_t sample = i / 64, row = i / 8 % 8, column = i % 8;
      labels[sample] = static_cast<int32_t>((sample + step) % 2);
      images[i] = ((labels[sample] ? row : column) + sample / 2 + step) % 2 ? 1.0f : -1.0f;
    }
    auto done = session->step(images, labels);
    if (!done)
      return std::fprintf(stderr, "%s\n", done.error().message.c_str()), 1;
    (step == 0 ? first : last) = done->loss;
  }
  std::printf("loss %.3f -> %.3f\n", first, last);
  return session->save("stripes.safetensors") && last < 0.2 ? 0 : 1;
}
