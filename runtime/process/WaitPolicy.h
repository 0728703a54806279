// How OpenMP's threads wait for work. They may spin, which is fast as long as each has a core for
// itself; where another program wants one of the cores, a spinning thread holds the core that the
// thread it waits for needs, and a step takes many times as long.
#ifndef GC_RUNTIME_PROCESS_WAITPOLICY_H
#define GC_RUNTIME_PROCESS_WAITPOLICY_H

namespace gc::runtime {

/// Lets them spin for microseconds only, unless the user has said otherwise (OMP_WAIT_POLICY or
/// GOMP_SPINCOUNT). libgomp reads these variables when it is loaded, before main(), so this starts
/// the program anew with the variable set; the first thing after prepareProcess(), before anything
/// is read or written. Returns where there is nothing to do, or the program cannot be started anew.
void waitWithLittleSpinning(char **argv);

} // namespace gc::runtime

#endif // GC_RUNTIME_PROCESS_WAITPOLICY_H
