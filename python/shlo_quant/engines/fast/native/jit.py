"""Compile kernels to machine code, and run lists of tasks on it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import llvm
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager

from shlo_quant.engines.fast.native import emitter as emit
from shlo_quant.engines.fast.native.kernels import Kernel
from shlo_quant.engines.fast.native.machine import openmp_library
from shlo_quant.engines.fast.native.runtime import call, define, emit_runtime
from shlo_quant.passes.dialects.constants import Array

TO_LLVM = (
    "builtin.module(convert-vector-to-llvm,convert-scf-to-cf,convert-math-to-llvm,convert-arith-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)"
)


class MachineCode:
    """Compiled kernels."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        distinct = list(dict.fromkeys(kernels))
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.create()
            with ir.InsertionPoint(module.body):
                emit_runtime()
                for number, kernel in enumerate(distinct):
                    _emit_kernel(f"kernel_{number}", kernel)
                _emit_addresses(len(distinct))
            module.operation.verify()
            PassManager.parse(TO_LLVM).run(module.operation)
            self._engine = ExecutionEngine(module, opt_level=3, shared_libs=[openmp_library()])
        addresses = np.zeros(len(distinct), np.int64)
        _Entry(self._engine, "addresses")(addresses.ctypes.data)
        self._addresses = dict(zip(distinct, addresses.tolist(), strict=True))
        self._run = _Entry(self._engine, "run")

    def address(self, kernel: Kernel) -> int:
        """Where a kernel's code is."""
        return self._addresses[kernel]

    def run(self, tasks: Array, threads: int) -> None:
        """Run tasks in order, each by all threads.

        Args:
          tasks: int64 [n, TASK_WORDS], see `runtime`; may not be in use.
        """
        self._run(tasks.ctypes.data, len(tasks), threads)


class _Entry:
    """A function of the code that takes words."""

    def __init__(self, engine: ExecutionEngine, name: str) -> None:
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup(name))

    def __call__(self, *values: int) -> None:
        words = (ctypes.c_int64 * len(values))(*values)
        first, size = ctypes.addressof(words), ctypes.sizeof(ctypes.c_int64)
        self._function((ctypes.c_void_p * len(values))(*(first + size * i for i in range(len(values)))))


def _emit_kernel(name: str, kernel: Kernel) -> None:
    """`name(table, begin, end)` takes the pointers from the table and calls the body, to which they do not alias."""
    count = kernel.operands
    arguments = ", ".join(["ptr"] * count + ["i64", "i64"])
    attributes = "[" + ", ".join(["{llvm.noalias}"] * count + ["{}", "{}"]) + "]"
    block = define(f"{name}_body", arguments, attributes=attributes)
    with ir.InsertionPoint(block):
        *pointers, begin, end = block.arguments
        kernel.emit(pointers, begin, end)
        llvm.return_()
    block = define(name, "ptr, i64, i64")
    with ir.InsertionPoint(block):
        table, begin, end = block.arguments
        pointers = [emit.load(emit.pointer_type(), emit.at(table, 8 * i)) for i in range(count)]
        call(f"{name}_body", [*pointers, begin, end])
        llvm.return_()


def _emit_addresses(count: int) -> None:
    """`addresses(out)` stores where the kernels are."""
    block = define("addresses", "ptr", is_entry=True)
    with ir.InsertionPoint(block):
        for number in range(count):
            symbol = llvm.mlir_addressof(emit.pointer_type(), f"kernel_{number}")
            emit.store(symbol, emit.at(block.arguments[0], 8 * number))
        llvm.return_()
