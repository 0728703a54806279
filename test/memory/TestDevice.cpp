#include "test/memory/TestDevice.h"

const char *const gc::test::deviceUnderTest = GC_TEST_DEVICE;
