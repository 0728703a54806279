#include "runtime/plan/CudaVersions.h"

#include <charconv>

namespace gc::plan {

// From NVIDIA's release notes of PTX and of the toolkit, oldest first.
static constexpr struct {
  int cuda, ptx, branch;
} kReleases[] = {
    {11080, 78, 520}, {12000, 80, 525}, {12010, 81, 530}, {12020, 82, 535}, {12030, 83, 545},
    {12040, 84, 550}, {12050, 85, 555}, {12060, 85, 560}, {12070, 86, 565}, {12080, 87, 570},
    {12090, 88, 575}, {13000, 90, 580}, {13010, 91, 590},
};

int cudaForPtx(int ptxVersion) {
  for (const auto &release : kReleases)
    if (release.ptx >= ptxVersion)
      return release.cuda;
  return 0;
}

int newestPtx(int cudaVersion) {
  int newest = 0;
  for (const auto &release : kReleases)
    if (release.cuda <= cudaVersion)
      newest = release.ptx;
  return newest;
}

int driverBranch(int cudaVersion) {
  for (const auto &release : kReleases)
    if (release.cuda == cudaVersion / 10 * 10)
      return release.branch;
  return 0;
}

int cudaForCubin(int assemblerVersion) { return assemblerVersion / 1000 * 1000; }

int ptxVersionOf(std::string_view ptx) {
  constexpr std::string_view word = ".version ";
  size_t begin = ptx.find(word);
  if (begin == std::string_view::npos)
    return 0;
  const char *text = ptx.data() + begin + word.size(), *end = ptx.data() + ptx.size();
  int major = 0, minor = 0;
  auto [dot, wrong] = std::from_chars(text, end, major);
  if (wrong != std::errc() || dot == end || *dot != '.' ||
      std::from_chars(dot + 1, end, minor).ec != std::errc())
    return 0;
  return 10 * major + minor;
}

std::string versionText(int cudaVersion) {
  return std::to_string(cudaVersion / 1000) + "." + std::to_string(cudaVersion % 1000 / 10);
}

std::string describeCuda(int cudaVersion) {
  int branch = driverBranch(cudaVersion);
  return "CUDA " + versionText(cudaVersion) +
         (branch ? " (driver " + std::to_string(branch) + ")" : "");
}

} // namespace gc::plan
