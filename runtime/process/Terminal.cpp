#include "runtime/process/Terminal.h"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gc::runtime {

static std::string_view variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

// Streams in memory have no descriptor.
bool isTerminal(std::FILE *stream) {
  int descriptor = ::fileno(stream);
  return descriptor >= 0 && ::isatty(descriptor) == 1;
}

size_t columnsOf(std::FILE *stream) {
  winsize size = {};
  int descriptor = ::fileno(stream);
  if (descriptor >= 0 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  long columns = std::strtol(variable("COLUMNS").data(), nullptr, 10);
  return columns > 0 && columns < 100000 ? static_cast<size_t>(columns) : 80;
}

bool takesEscapes(std::FILE *stream) {
  std::string_view kind = variable("TERM");
  return isTerminal(stream) && !kind.empty() && kind != "dumb";
}

bool takesColours(std::FILE *stream) {
  return takesEscapes(stream) && variable("NO_COLOR").empty();
}

} // namespace gc::runtime
