// Which version of PTX, of CUDA and of NVIDIA's driver go together. Versions of CUDA are written as
// the driver tells them: 12020 is 12.2.
#ifndef GC_RUNTIME_PLAN_CUDAVERSIONS_H
#define GC_RUNTIME_PLAN_CUDAVERSIONS_H

#include <string>
#include <string_view>

namespace gc::plan {

/// The first CUDA that reads this version of PTX (80 is 8.0); 0 where we do not know it.
int cudaForPtx(int ptxVersion);
/// The newest version of PTX that a driver of this CUDA reads: 90 for 13000.
int newestPtx(int cudaVersion);
/// The first branch of drivers that brings this CUDA (535 for 12020); 0 where we do not know it.
int driverBranch(int cudaVersion);
/// The oldest driver that loads machine code of an assembler of this CUDA: any of the same major
/// version does.
int cudaForCubin(int assemblerVersion);
/// The version in the text's line ".version 8.0", as 80; 0 where there is none.
int ptxVersionOf(std::string_view ptx);

/// "12.2"
std::string versionText(int cudaVersion);
/// "CUDA 12.2 (driver 535)"
std::string describeCuda(int cudaVersion);

} // namespace gc::plan

#endif // GC_RUNTIME_PLAN_CUDAVERSIONS_H
