// What the emulated driver has to say: lines "emulated driver: …" on stderr, or in the file that
// GC_EMULATOR_LOG names.
#ifndef GC_TEST_EMULATOR_DRIVER_LOG_H
#define GC_TEST_EMULATOR_DRIVER_LOG_H

#include <string>

namespace gc::emulator {

void report(const std::string &message);

// 0xd00000000000, the way addresses are written everywhere.
std::string hexadecimal(unsigned long long address);

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_LOG_H
