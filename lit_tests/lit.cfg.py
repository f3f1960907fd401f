"""lit configuration: `lit lit_tests` runs the tools of the interpreter that runs lit."""

import importlib.util
import sys
import tempfile
from pathlib import Path

import lit.formats

config.name = "shlo-quant"
config.test_format = lit.formats.ShTest(execute_external=False)  # lit's own shell: pipes, not, diff, cat, env
config.suffixes = [".mlir", ".test"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(Path(tempfile.gettempdir()) / "shlo-quant-lit")

# The wheel's own FileCheck is a Python wrapper (50 ms a call) around this binary (2 ms).
(package,) = importlib.util.find_spec("llvm_testing_tools").submodule_search_locations
binaries = Path(package) / "binaries"
python = f"{sys.executable} -m shlo_quant.cli"
config.substitutions += [
    ("FileCheck", str(binaries / "FileCheck")),
    ("split-file", str(binaries / "split-file")),
    ("shlo-quant-opt", f"{python}.opt"),
    (r"shlo-quant\b(?!-)", f"{python}.main"),
]
