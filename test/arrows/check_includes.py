"""check_includes.py ROOT | --self-check: the arrows between folders point one way."""
import os
import re
import sys
import tempfile

FOLDERS = ("dialects", "passes", "compiler", "runtime", "models", "tools", "test")
LIBRARIES = ("mlir", "llvm", "llvm-c", "mlir-c", "lld", "clang")

# What a folder may include of ours besides itself (files, or folders that end in a slash), and whether
# it may see MLIR and LLVM. The longest matching folder counts: a folder without a row has that of the
# folder around it. The READMEs state the same arrows in words.
TASKS = "passes/algorithms/ParallelTasks.h"
RULES = {
    "dialects": ((), True),
    "passes": (("dialects/",), True),
    "passes/analysis": (("dialects/", "passes/algorithms/"), True),
    "passes/algorithms": ((), False),
    "passes/algorithms/packing": ((TASKS,), False),
    "passes/algorithms/ordering": (("passes/algorithms/StepGraph.h",), False),
    "passes/algorithms/rematerialization": (("passes/algorithms/StepGraph.h", TASKS), False),

    # The plan is the border to the runtime. Library.h is there too because the same code must size a
    # workspace when compiling and use it when running.
    "compiler": (("dialects/", "passes/", "runtime/plan/", "runtime/hal/cpu/library/"), True),
    "compiler/language": (("dialects/",), True),
    "compiler/lowering": ((TASKS,), True),
    "compiler/target": (("dialects/", "passes/", "compiler/language/", "runtime/plan/"), True),
    "compiler/cpu": (("dialects/", "passes/", "compiler/language/", "compiler/lowering/",
                      "compiler/target/", "runtime/plan/", "runtime/hal/cpu/library/"), True),
    "compiler/cpu/loops": (("dialects/", "compiler/language/", "compiler/target/Products.h",
                            "compiler/cpu/objectcode/"), True),
    "compiler/cpu/objectcode": (("compiler/lowering/", TASKS), True),
    "compiler/cuda": (("dialects/", "passes/", "compiler/language/", "compiler/lowering/",
                       "compiler/target/", "runtime/plan/"), True),
    "compiler/cuda/grids": (("dialects/", "compiler/language/", "compiler/target/Products.h",
                             "runtime/plan/"), True),
    "compiler/cuda/ptx": (("compiler/lowering/", "compiler/cuda/DeviceModel.h",
                           "runtime/plan/CudaVersions.h"), True),
    "compiler/cuda/library": (("compiler/cuda/DeviceModel.h", "runtime/plan/"), False),
    "compiler/cuda/shim": ((), False),

    # Files directly in runtime/ are there for all of its folders but the plan's, which is the lowest.
    "runtime": (("runtime/plan/",), False),
    "runtime/plan": ((), False),
    "runtime/process": (("runtime/Error.h", "runtime/plan/ExitCode.h"), False),
    "runtime/hal": (("runtime/Error.h", "runtime/Measurements.h", "runtime/plan/"), False),
    "runtime/hal/allocation": ((), False),
    "runtime/hal/cpu/library": (("runtime/Error.h", "runtime/HelperThread.h", "runtime/plan/"), False),
    "runtime/hal/cpu/library/bench": (("runtime/hal/allocation/", "runtime/hal/cpu/library/"), False),
    "runtime/session": (("runtime/hal/", "runtime/plan/"), False),
    "runtime/monitor": (("runtime/HelperThread.h",), False),
    "runtime/nvml": (("runtime/Error.h", "runtime/monitor/"), False),
    # NVML knows what the GPU's memory holds before there is a context; the driver answers with one only.
    "runtime/cuda": (("runtime/plan/", "runtime/hal/Device.h", "runtime/hal/Arena.h",
                      "runtime/monitor/DeviceSampler.h", "runtime/nvml/"), False),
    "runtime/weights": (("runtime/Error.h", "runtime/HelperThread.h", "runtime/plan/",
                         "runtime/process/"), False),
    "runtime/data": (("runtime/Error.h", "runtime/HelperThread.h", "runtime/process/Nearest.h",
                      "runtime/weights/"), False),
    "runtime/report": (("runtime/Error.h", "runtime/Measurements.h", "runtime/plan/",
                        "runtime/monitor/", "runtime/process/"), False),
    "runtime/trainer": (("runtime/",), False),

    "models": (("dialects/",), True),
    # A tool includes no other tool.
    "tools": (("dialects/", "passes/", "compiler/", "runtime/", "models/", "tools/flags/",
               "tools/calibration/", "tools/selftest/"), True),
    "tools/flags": (("compiler/Compile.h", "compiler/cuda/DeviceModel.h", "runtime/"), False),
    # Measures this machine for the tools that compile.
    "tools/calibration": (("compiler/Calibrate.h", "compiler/Compile.h", "runtime/", "models/", "tools/flags/"), True),
    "tools/selftest": (("compiler/", "runtime/", "models/", "tools/flags/"), True),
    # For programs: its headers see nothing of MLIR, its sources what they are made of. They are included as "api/…".
    "tools/api": (("dialects/", "models/", "compiler/Compile.h", "runtime/"), True),
    "tools/gc-diff": (("runtime/", "tools/flags/CommandLine.h"), False),
    "tools/gc-compile": (("compiler/AskModel.h", "compiler/Compile.h", "compiler/OptionChecks.h",
                          "compiler/cuda/DeviceModel.h", "runtime/", "tools/calibration/", "tools/flags/"), False),
    # What is read of an archive sees nothing of MLIR; the check knows folders, so the whole tool may.
    "tools/gc-import": (("dialects/", "models/", "passes/Batch.h", "runtime/", "tools/flags/"), True),
    # Reads plans and knows no compiler.
    "tools/gc-plan": (("runtime/", "tools/flags/"), False),
    "test": (tuple(f + "/" for f in FOLDERS), True),
}
# Folders whose sub-folders do not belong together: one without a row may include itself and what the
# row of the folder around it says.
APART = ("runtime", "tools")

INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s*([<"])([^">]+)[">]')
SUFFIXES = (".h", ".hpp", ".c", ".cpp", ".inc", ".td", ".fbs", ".cu")


def ruled_folder(path):
    return max((f for f in RULES if path.startswith(f + "/")), key=len)


def rule_for(path):
    """What this file may include, its own folder among it, and whether it may see MLIR."""
    folder = ruled_folder(path)
    allowed, sees_mlir = RULES[folder]
    if folder not in APART:
        allowed += (folder + "/",)
    elif os.path.dirname(path) != folder:
        allowed += (os.path.dirname(path) + "/",)
    return allowed, sees_mlir


def check_file(root, path):
    """Complaints about one file; `path` is relative to the root."""
    allowed, sees_mlir = rule_for(path)
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match.group(2)
            where = f"{path}:{number}: "
            first = name.split("/")[0]
            if ".." in name.split("/"):
                yield where + f"'{name}': includes start at the repository's root"
            elif first in LIBRARIES:
                if not sees_mlir:
                    yield where + f"'{name}': nothing here may depend on MLIR or LLVM"
            elif first in FOLDERS and "/" in name:
                if not name.startswith(allowed):
                    yield where + f"'{name}': this folder may include only " + ", ".join(allowed)
            elif match.group(1) == '"' and os.path.exists(
                    os.path.join(root, os.path.dirname(path), name)):
                yield where + f"'{name}': write the path from the repository's root"


def check_tree(root):
    """Every complaint, and the number of files read."""
    complaints, files = [], 0
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    path = os.path.relpath(os.path.join(directory, name), root)
                    complaints += check_file(root, path)
                    files += 1
    return complaints, files


# Path, its text, whether that is allowed.
PLANTED = [
    ("runtime/Bad.cpp", '#include "compiler/Compile.h"', False),
    ("runtime/plan/Bad.cpp", '#include "dialects/Gc.h"', False),
    ("runtime/hal/Bad.h", '#include "mlir/IR/Builders.h"', False),
    ("runtime/hal/Worse.h", "#include <llvm/ADT/StringRef.h>", False),
    ("runtime/Relative.cpp", '#include "../compiler/Compile.h"', False),
    ("dialects/Bad.cpp", '#include "passes/Autodiff.h"', False),
    ("dialects/Bad.td", 'include "passes/Passes.td"', False),
    ("passes/Bad.cpp", '#include "compiler/Pipeline.h"', False),
    ("passes/algorithms/Bad.cpp", '#include "dialects/Gc.h"', False),
    ("passes/algorithms/Worse.cpp", '  #  include "mlir/IR/Operation.h"', False),
    ("compiler/Bad.cpp", '#include "runtime/session/Session.h"', False),
    ("compiler/Worse.cpp", '#include "tools/flags/CompileFlags.h"', False),
    ("models/Bad.cpp", '#include "passes/Autodiff.h"', False),
    ("tools/gc-run/Bad.cpp", '#include "test/reference/Tensor.h"', False),
    ("passes/analysis/Bad.h", '#include "passes/PlanMemory.h"', False),
    ("passes/algorithms/packing/Bad.h", '#include "passes/algorithms/StepGraph.h"', False),
    ("passes/algorithms/ordering/Bad.h", '#include "passes/algorithms/packing/Packing.h"', False),
    ("passes/algorithms/rematerialization/Bad.h", '#include "passes/algorithms/ordering/Ordering.h"',
     False),
    ("compiler/language/Bad.h", '#include "compiler/target/Target.h"', False),
    ("compiler/language/Worse.h", '#include "runtime/plan/Plan_generated.h"', False),
    ("compiler/lowering/Bad.h", '#include "dialects/Gc.h"', False),
    ("compiler/lowering/Worse.h", '#include "passes/algorithms/packing/Packing.h"', False),
    ("compiler/target/Bad.h", '#include "compiler/cpu/CpuTarget.h"', False),
    ("compiler/cpu/Bad.h", '#include "compiler/cuda/CudaTarget.h"', False),
    ("compiler/cpu/Worse.h", '#include "compiler/Compile.h"', False),
    ("compiler/cpu/loops/Bad.h", '#include "runtime/hal/cpu/library/Library.h"', False),
    ("compiler/cpu/objectcode/Bad.h", '#include "compiler/cpu/loops/LoopEmitter.h"', False),
    ("compiler/cuda/Bad.h", '#include "compiler/cpu/CpuTarget.h"', False),
    ("compiler/cuda/Worse.h", '#include "runtime/hal/cpu/library/Library.h"', False),
    ("compiler/cuda/grids/Bad.h", '#include "compiler/cuda/CudaTarget.h"', False),
    ("compiler/cuda/ptx/Bad.h", '#include "compiler/cuda/grids/GridEmitter.h"', False),
    ("compiler/cuda/library/Bad.h", '#include "mlir/IR/Builders.h"', False),
    ("compiler/cuda/library/cudnn/Bad.h", '#include "dialects/Gc.h"', False),
    ("compiler/cuda/shim/Bad.cpp", '#include "compiler/cuda/DeviceModel.h"', False),
    ("runtime/plan/Worse.h", '#include "runtime/Error.h"', False),
    ("runtime/process/Bad.h", '#include "runtime/report/Sizes.h"', False),
    ("runtime/hal/cpu/Bad.h", '#include "runtime/session/Session.h"', False),
    ("runtime/hal/allocation/Bad.h", '#include "runtime/hal/Device.h"', False),
    ("runtime/hal/cpu/library/Bad.h", '#include "runtime/hal/Device.h"', False),
    ("runtime/hal/cpu/library/bench/Bad.cpp", '#include "runtime/hal/Device.h"', False),
    ("runtime/session/Bad.h", '#include "runtime/trainer/Trainer.h"', False),
    ("runtime/monitor/Bad.h", '#include "runtime/nvml/Nvml.h"', False),
    ("runtime/nvml/Bad.h", '#include "runtime/cuda/Context.h"', False),
    ("runtime/cuda/Bad.h", '#include "runtime/hal/cpu/CpuDevice.h"', False),
    ("runtime/weights/Bad.h", '#include "runtime/hal/Device.h"', False),
    ("runtime/data/Bad.h", '#include "runtime/hal/Device.h"', False),
    ("runtime/weights/Worse.h", '#include "runtime/Measurements.h"', False),
    ("runtime/report/Bad.h", '#include "runtime/hal/Device.h"', False),
    ("runtime/trainer/Bad.h", '#include "tools/flags/ModelFile.h"', False),
    ("runtime/Worst.h", '#include "runtime/hal/Device.h"', False),
    ("runtime/invented/Bad.h", '#include "runtime/hal/Device.h"', False),
    ("tools/gc-gen/Bad.h", '#include "tools/gc-run/Arguments.h"', False),
    ("tools/flags/Bad.h", '#include "compiler/Pipeline.h"', False),
    ("tools/selftest/Bad.h", '#include "tools/gc-run/Arguments.h"', False),
    ("tools/gc-compile/Bad.h", '#include "mlir/IR/Builders.h"', False),
    ("tools/api/A.cpp", '#include "passes/Batch.h"', False),
    ("tools/gc-import/I.cpp", '#include "compiler/Compile.h"', False),
    ("tools/gc-diff/Bad.h", '#include "compiler/Compile.h"', False),
    ("tools/gc-plan/Bad.h", '#include "compiler/Compile.h"', False),
    ("tools/calibration/Bad.h", '#include "compiler/Pipeline.h"', False),
    ("runtime/Good.cpp", '#include "runtime/plan/Result.h"\n#include <vector>', True),
    ("compiler/Good.cpp", '#include "runtime/hal/cpu/library/Library.h"', True),
    ("passes/Good.cpp", '#include "mlir/IR/Builders.h"\n#include "dialects/Gc.h"', True),
    ("passes/algorithms/Good.cpp", '#include "passes/algorithms/packing/Packing.h"', True),
    ("compiler/Fine.cpp", '#include "compiler/cpu/CpuTarget.h"\n#include "compiler/cuda/CudaTarget.h"',
     True),
    ("compiler/lowering/Good.cpp", f'#include "{TASKS}"\n#include "llvm/IR/Module.h"', True),
    ("runtime/cuda/Good.cpp", '#include "runtime/nvml/NvmlSampler.h"', True),
    ("runtime/weights/Good.cpp", '#include "runtime/process/AtomicFile.h"', True),
    ("tools/gc-gen/Good.cpp", '#include "tools/gc-gen/Arguments.h"\n#include "mlir/IR/Builders.h"', True),
    ("test/Good.cpp", '#include "runtime/session/Session.h"\n#include "passes/Autodiff.h"', True),
]


def self_check():
    wrong = [f"no file below {folder} is planted that its own rule must refuse" for folder in RULES
             if folder != "test"
             and not any(ruled_folder(path) == folder for path, _, allowed in PLANTED if not allowed)]
    with tempfile.TemporaryDirectory() as root:
        for path, text, _ in PLANTED:
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        complaints, files = check_tree(root)
        for path, _, allowed in PLANTED:
            if any(c.startswith(path + ":") for c in complaints) == allowed:
                wrong.append(f"{path}: expected {'no complaint' if allowed else 'a complaint'}")
        if files != len(PLANTED):
            wrong.append(f"read {files} of {len(PLANTED)} files")
    return wrong


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_includes.py ROOT | --self-check")
    if sys.argv[1] == "--self-check":
        complaints = self_check()
    else:
        complaints, files = check_tree(sys.argv[1])
        if files < 100:
            complaints.append(f"found only {files} files below '{sys.argv[1]}'")
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
