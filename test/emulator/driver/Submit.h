// Where every asynchronous call ends.
#ifndef GC_TEST_EMULATOR_DRIVER_SUBMIT_H
#define GC_TEST_EMULATOR_DRIVER_SUBMIT_H

#include "test/emulator/driver/Driver.h"

namespace gc::emulator {

// Into the graph if the stream captures, into the queue otherwise.
CUresult submit(Driver &driver, Stream &stream, Work work);

// Makes the stream's capture invalid; `result` passed through.
CUresult invalidate(Stream &stream, CUresult result);

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_SUBMIT_H
