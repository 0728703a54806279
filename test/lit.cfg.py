# The lit configuration of the tests of IR and tools. lit.site.cfg.py, written by CMake, says where things are.
import os
import sys

import lit.formats

config.name = "gc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.gc_build_dir, "test")

# Our tools first, then FileCheck and not.
config.environment["PATH"] = os.pathsep.join(
    [config.gc_tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
# Tests that write fixtures run %python, which is the standard library and nothing else.
config.substitutions.append(("%python", sys.executable))
# Tools find data sets where the test says, not where this machine keeps them.
config.environment["GC_DATASETS"] = os.path.join(config.gc_build_dir, "test", "no-datasets")
# Plans are pinned: no test measures the machine or uses what others measured, but those about that.
config.environment["GC_NO_CALIBRATE"] = "1"
# Tests run side by side; threads that spin while they wait would slow each other down.
config.environment["OMP_WAIT_POLICY"] = "passive"
# Scripts of test/tools: %exits CODE COMMAND..., and the folder of the others.
# A folder with the emulated GPU's driver, for LD_LIBRARY_PATH.
emulator = os.path.join(config.gc_build_dir, "lib", "emulator")
config.substitutions.append(("%emulator", emulator))
# %emulated COMMAND...: on a machine with the emulated GPU, and no assembler on the way: PTX is all that
# its driver takes, and compiling is faster so.
unassembled = os.pathsep.join(folder for folder in config.environment["PATH"].split(os.pathsep)
                              if not os.path.exists(os.path.join(folder, "ptxas")))
config.substitutions.append(
    ("%emulated",
     f"env LD_LIBRARY_PATH={emulator} PATH={unassembled} CUDA_HOME= CUDA_PATH="))
if any(os.path.exists(os.path.join(folder, "ptxas")) for folder in config.environment["PATH"].split(os.pathsep)):
    config.available_features.add("ptxas")
if os.path.exists(os.path.join(config.gc_build_dir, "bin", "gc-cudnn-plan")):
    config.available_features.add("cudnn")
inputs = os.path.join(config.test_source_root, "tools", "Inputs")
config.substitutions.append(("%exits", f"{sys.executable} {inputs}/exits.py"))
config.substitutions.append(("%inputs", inputs))
config.substitutions.append(
    ("%schema", os.path.join(config.test_source_root, "..", "runtime", "plan", "Plan.fbs")))
config.substitutions.append(("%models", os.path.join(config.test_source_root, "..", "models")))
