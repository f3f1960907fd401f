"""The passes of shlo-quant: Python on the MLIR bindings of the torch-mlir wheel; no torch import below this line."""
