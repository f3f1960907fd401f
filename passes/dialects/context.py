"""MLIR contexts in which every dialect and C++ pass that the project touches is usable."""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir._mlir_libs import _torchMlir as _torch_mlir  # registers torch-mlir's passes; does not import torch
from torch_mlir.passmanager import PassManager

_stablehlo.register_stablehlo_passes()


def new_context() -> ir.Context:
    """Return a fresh context with all dialects loaded. One per compilation: constants live as long as it does."""
    return load_dialects(ir.Context())


def load_dialects(context: ir.Context) -> ir.Context:
    """Load all dialects into an existing context (for example the one torch-mlir's importer made); return it.

    chlo and torch_c are known to the wheel only as dependencies of passes, so running one pass on an empty module
    is the only way to load them. An op created before its dialect is loaded is corrupted, hence: call this first.
    """
    _stablehlo.register_dialect(context)
    _torch_mlir.register_dialect(context)
    with context, ir.Location.unknown():
        empty = ir.Module.create()
        PassManager.parse("builtin.module(func.func(convert-torch-to-stablehlo))").run(empty.operation)
    return context
