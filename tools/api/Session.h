// A model that is trained from a loop of your own: compile() makes a plan of it, and a Session
// holds its weights and runs its steps, on samples that you hand over.
//
//   auto plan = gc::compile(text);
//   auto session = gc::Session::create(std::move(*plan));
//   for (...) loss = session->step(images, labels);
//   session->save("trained.safetensors");
//
// Everything fails with a message (runtime/plan/Result.h), and nothing throws.
#ifndef GC_API_SESSION_H
#define GC_API_SESSION_H

#include "compiler/Compile.h"
#include "runtime/Error.h"
#include "runtime/plan/PlanFile.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gc {

/// The model's text (ModelBuilder::finish, gc-import, gc-gen) as a plan.
runtime::Result<runtime::PlanFile> compile(const std::string &model,
                                           const CompileOptions &options = {});

struct SessionSettings {
  std::string device = {};  // empty: the plan's
  int threads = 0;          // 0: as the plan says
  uint64_t seed = 0;        // of initial weights and dropout
  std::string weights = {}; // a safetensors file to start from; empty: initial values
};

/// Of the samples of one call.
struct StepResult {
  double loss = 0;    // their mean
  double correct = 0; // how many were classified right
};

class Session {
public:
  static runtime::Result<Session> create(runtime::PlanFile plan,
                                         const SessionSettings &settings = {});
  ~Session();
  Session(Session &&) noexcept;

  int64_t batch() const;
  int64_t sampleElements() const;

  /// One step of training on a whole batch: samples one after the other, channels last, and a class
  /// for each. Fails (bad input) where there are more or fewer, or a label is no class.
  runtime::Result<StepResult> step(std::span<const float> samples, std::span<const int32_t> labels);
  /// The same in inference mode, of a plan that was compiled with `evaluate`; changes nothing.
  runtime::Result<StepResult> evaluate(std::span<const float> samples,
                                       std::span<const int32_t> labels);

  /// Weights and running statistics, by PyTorch's names and in its layouts.
  runtime::Status save(const std::string &path);
  runtime::Status load(const std::string &path);

private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace gc

#endif // GC_API_SESSION_H
