// What the text of a tool is written to: a terminal with so many columns, with colours or without,
// or a file.
#ifndef GC_RUNTIME_PROCESS_TERMINAL_H
#define GC_RUNTIME_PROCESS_TERMINAL_H

#include <cstddef>
#include <cstdio>

namespace gc::runtime {

bool isTerminal(std::FILE *stream);
/// Asked anew at each call, so that a window that changes its size is followed. Where the stream
/// does not tell, the variable COLUMNS does; else 80.
size_t columnsOf(std::FILE *stream);
/// Whether escape sequences are understood: a terminal, and TERM is neither empty nor `dumb`.
bool takesEscapes(std::FILE *stream);
/// The same, unless NO_COLOR is set to anything (https://no-color.org).
bool takesColours(std::FILE *stream);

} // namespace gc::runtime

#endif // GC_RUNTIME_PROCESS_TERMINAL_H
