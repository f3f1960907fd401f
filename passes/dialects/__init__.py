"""What the wheel lacks to work with StableHLO from Python: contexts, builders, quantized types, constants, locations.

The package is also a search prefix of the MLIR bindings. A dialect without a Python module costs a failed import for
every op handle (20 to 30 us); the modules here, even the empty ones, bring that to 0.1 to 0.4 us.
"""

from torch_mlir._mlir_libs import _mlir

if __name__ not in _mlir.globals.dialect_search_modules:
    _mlir.globals.append_dialect_search_prefix(__name__)
