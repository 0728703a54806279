#include "runtime/trainer/Progress.h"

#include "runtime/process/Interrupt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace gc::runtime {

Progress::Progress(std::FILE *out, bool terminal, std::chrono::milliseconds wanted)
    : out(out), terminal(terminal),
      interval(wanted.count() > 0 ? std::chrono::duration<double>(wanted).count()
                                  : (terminal ? 0.1 : 10.0)),
      began(std::chrono::steady_clock::now()) {}

void Progress::update(const ProgressState &state) {
  double now = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  double seconds = now - lastStepTime;
  lastStepTime = now;
  // The first step warms caches up and would spoil the mean.
  secondsPerStep = updates < 2 ? seconds : 0.9 * secondsPerStep + 0.1 * seconds;
  ++updates;
  bool first = lastPrint < 0, last = state.step == state.totalSteps;
  if (!first && !last && now - lastPrint < interval)
    return;
  lastPrint = now;
  print(state);
}

void Progress::print(const ProgressState &s) {
  char line[256];
  char *next = line, *end = line + sizeof(line) - 1;
  auto add = [&](auto format, const auto &...values) {
    next = fmt::format_to_n(next, end - next, format, values...).out;
    next = std::min(next, end);
  };
  add(FMT_STRING("step {}/{}"), s.step, s.totalSteps);
  if (s.totalEpochs > 0)
    add(FMT_STRING("  epoch {}/{}"), s.epoch, s.totalEpochs);
  add(FMT_STRING("  loss {:.4f}"), s.loss);
  if (s.accuracy >= 0)
    add(FMT_STRING("  accuracy {:.1f} %"), 100 * s.accuracy);
  if (secondsPerStep > 0)
    add(FMT_STRING("  {:.4g} samples/s"), static_cast<double>(s.samples) / secondsPerStep);
  add(FMT_STRING("  {:.1f} MiB"), static_cast<double>(s.memoryBytes) / 0x1p20);
  if (s.step < s.totalSteps) {
    uint64_t left =
        static_cast<uint64_t>(secondsPerStep * static_cast<double>(s.totalSteps - s.step));
    if (left >= 3600)
      add(FMT_STRING("  {}:{:02}:{:02} left"), left / 3600, left / 60 % 60, left % 60);
    else
      add(FMT_STRING("  {}:{:02} left"), left / 60, left % 60);
  }
  size_t length = static_cast<size_t>(next - line);
  if (!terminal) {
    std::fprintf(out, "%.*s\n", static_cast<int>(length), line);
  } else {
    // Blanks wipe what a longer line before left behind.
    size_t blanks = lineLength > length ? lineLength - length : 0;
    std::fprintf(out, "\r%.*s%*s", static_cast<int>(length), line, static_cast<int>(blanks), "");
    lineLength = length;
  }
  // Whoever watched has gone: what was trained is saved, as if Ctrl-C had come.
  if (std::fflush(out) != 0 && errno == EPIPE)
    requestInterrupt(SIGPIPE);
}

void Progress::finishLine() {
  if (terminal && lineLength > 0) {
    std::fputc('\n', out);
    lineLength = 0;
    std::fflush(out);
  }
}

} // namespace gc::runtime
