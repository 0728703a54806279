// How often this program has asked the heap for memory with operator new.
#ifndef GC_TEST_RUNTIME_IO_HEAPREQUESTS_H
#define GC_TEST_RUNTIME_IO_HEAPREQUESTS_H

long heapRequests();

#endif // GC_TEST_RUNTIME_IO_HEAPREQUESTS_H
