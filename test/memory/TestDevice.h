//===- TestDevice.h - The device that a test program runs on --------------===//
#ifndef GC_TEST_MEMORY_TESTDEVICE_H
#define GC_TEST_MEMORY_TESTDEVICE_H

namespace gc::test {

/// "cpu" or "cuda". TestDevice.cpp is compiled for each program, the cases only once.
extern const char *const deviceUnderTest;

} // namespace gc::test

#endif // GC_TEST_MEMORY_TESTDEVICE_H
