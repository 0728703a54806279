#include "tools/selftest/Advice.h"

#include <iterator>
#include <utility>

namespace {

struct Row {
  const char *name, *text, *next;
};

// In the order of the enum.
constexpr Row rows[kProblems] = {
    {"wrong-result", "numbers beyond their bound",
     "do not train with what failed: where only names with cudnn failed, use --cuda-library=none; "
     "send us the file, which has every error and bound"},
    {"kernel-fault", "the GPU stopped a kernel",
     "run the self-test once more: the same case again is a fault of ours (send us the file), "
     "another one each time points at the hardware (see `dmesg | grep Xid`)"},
    {"watchdog", "the driver ended a kernel that took too long",
     "a GPU that drives a display has a limit of seconds for a kernel: train on one without a "
     "display, end the graphical session, or use more micro-batches (--accumulate) so that "
     "kernels are shorter"},
    {"memory", "too little memory is free on the GPU",
     "see with nvidia-smi who holds it and end that, then run the self-test again; its plans need "
     "up to 0.8 GiB, beside what the driver and cuDNN take"},
    {"old-driver", "the driver is too old for our code",
     "install the driver that the message names (nvidia-smi shows the present one); "
     "`gc-compile --targets` lists what each card needs"},
    {"library", "cuDNN does not run its plans here",
     "train with --cuda-library=none, which needs no cuDNN, or install the version of cuDNN that "
     "the message names"},
    {"not-ready", "the machine does not let us use the GPU",
     "do what the message says (another process, a service or the driver's installation is in the "
     "way), then run the self-test again"},
    {"refused", "the driver refused a call of ours",
     "that is a fault of ours: send us the file, and use --device=cpu until then"},
    {"device", "the GPU or its driver gave up",
     "see `dmesg | grep -i -e nvrm -e xid`, reset the GPU (nvidia-smi --gpu-reset) or restart the "
     "machine, then run the self-test again"},
    {"crash", "a process crashed",
     "run it alone once more, with the same --device and --selftest-sections=SECTION "
     "--selftest-only=CASE --report=again.json, and send us both files"},
    {"hang", "a process did not end",
     "see that nothing else uses the GPU (nvidia-smi) and run again; a slow machine may need a "
     "longer --selftest-limit"},
    {"host", "this machine could not do its part",
     "see the message; the self-test needs about 4 GiB of free memory besides the GPU's"},
    {"unknown", "something that this version has no words for",
     "send us the file: it has the whole message"},
};

constexpr std::pair<const char *, Problem> needles[] = {
    {"CUDA_ERROR_OUT_OF_MEMORY", Problem::Memory},
    {"bytes are free", Problem::Memory},
    {"CUDA_ERROR_LAUNCH_TIMEOUT", Problem::Watchdog},
    {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", Problem::OldDriver},
    {"CUDA_ERROR_NO_BINARY_FOR_GPU", Problem::OldDriver},
    {"CUDA_ERROR_INVALID_IMAGE", Problem::OldDriver},
    {"install a newer NVIDIA driver", Problem::OldDriver},
    {"CUDNN_STATUS", Problem::Library},
    {"cuDNN", Problem::Library},
    {"CUDA_ERROR_ILLEGAL_ADDRESS", Problem::KernelFault},
    {"CUDA_ERROR_ILLEGAL_INSTRUCTION", Problem::KernelFault},
    {"CUDA_ERROR_MISALIGNED_ADDRESS", Problem::KernelFault},
    {"CUDA_ERROR_INVALID_ADDRESS_SPACE", Problem::KernelFault},
    {"CUDA_ERROR_INVALID_PC", Problem::KernelFault},
    {"CUDA_ERROR_HARDWARE_STACK_ERROR", Problem::KernelFault},
    {"CUDA_ERROR_ASSERT", Problem::KernelFault},
    {"CUDA_ERROR_LAUNCH_FAILED", Problem::KernelFault},
    {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", Problem::KernelFault},
    {"CUDA_ERROR_NO_DEVICE", Problem::Unknown}, // says what to do by itself
    {"CUDA_ERROR_DEVICE_UNAVAILABLE", Problem::NotReady},
    {"CUDA_ERROR_SYSTEM_", Problem::NotReady},
    {"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", Problem::NotReady},
    {"cuInit failed", Problem::NotReady},
    {"CUDA_ERROR_INVALID_", Problem::Refused}, // values, handles, contexts, PTX
    {"CUDA_ERROR_ILLEGAL_STATE", Problem::Refused},
    {"CUDA_ERROR_NOT_", Problem::Refused}, // found, supported, permitted
    {"CUDA_ERROR_STREAM_CAPTURE_", Problem::Refused},
    {"CUDA_ERROR", Problem::Device},
};

} // namespace

Problem problemOf(const std::string &message) {
  for (auto [needle, problem] : needles)
    if (message.find(needle) != std::string::npos)
      return problem;
  return Problem::Unknown;
}

const char *problemName(Problem problem) { return rows[static_cast<size_t>(problem)].name; }
const char *problemText(Problem problem) { return rows[static_cast<size_t>(problem)].text; }
const char *nextStep(Problem problem) { return rows[static_cast<size_t>(problem)].next; }

std::string nextStep(Problem problem, const std::string &section, const std::string &name) {
  static const std::string flags = "--selftest-sections=SECTION --selftest-only=CASE";
  std::string text = nextStep(problem);
  size_t at = text.find(flags);
  if (at == std::string::npos)
    return text;
  // The first section always runs, and whole.
  std::string own = "--selftest-sections=" + section;
  if (section != "device")
    own += " --selftest-only=" + name;
  return text.replace(at, flags.size(), own);
}
