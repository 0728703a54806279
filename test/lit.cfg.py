# The lit configuration of the IR tests. lit.site.cfg.py, written by CMake, says where things are.
import os

import lit.formats

config.name = "gc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.gc_build_dir, "test")

# Our tools first, then FileCheck and not.
config.environment["PATH"] = os.pathsep.join(
    [config.gc_tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
