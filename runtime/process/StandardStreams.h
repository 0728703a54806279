// Standard input, output and error as a tool finds and leaves them.
#ifndef GC_RUNTIME_PROCESS_STANDARDSTREAMS_H
#define GC_RUNTIME_PROCESS_STANDARDSTREAMS_H

namespace gc::runtime {

/// The first thing that a tool's main() does. Streams that are closed are opened on /dev/null, or
/// the next file would get their number and with it what is printed; writing to them still fails. A
/// file that may not grow (`ulimit -f`) and a reader that has gone are errors of write() and not
/// deaths by SIGXFSZ and SIGPIPE; Ctrl-C, SIGTERM and SIGHUP end the process as Interrupt.h says.
void prepareProcess();

/// What a tool prints is all that it was asked for, or tells about files that it wrote.
enum class PrintedText { IsTheResult, TellsAboutFiles };

/// The last thing: `exitCode`, or another one where that is 0 but standard output could not be
/// written. Quietly 141 (128 + SIGPIPE) where its reader has gone, as `| head -1` does; 1 and a
/// reason for a full disk, and for a closed stream where the text is the result.
int finishStandardOutput(const char *tool, int exitCode, PrintedText text);

} // namespace gc::runtime

#endif // GC_RUNTIME_PROCESS_STANDARDSTREAMS_H
