"""Compile kernels to machine code, and run lists of them on all threads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, scf
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager

from shlo_quant.engines.fast.native import emitter as emit
from shlo_quant.engines.fast.native.kernels import Kernel
from shlo_quant.engines.fast.native.machine import openmp_library
from shlo_quant.passes.dialects.constants import Array

TO_LLVM = (
    "builtin.module(convert-vector-to-llvm,convert-scf-to-cf,convert-math-to-llvm,convert-arith-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)"
)
FUNCTION, OPERANDS, UNITS, CHUNK, NEXT = range(5)
"""The words of a task: address of the kernel, of its table of pointers, units of work, how many a thread takes at a
time (all: run on this thread alone), the next one to take."""

TASK_WORDS = 8
"""A task takes a cache line."""


class MachineCode:
    """Compiled kernels."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        distinct = list(dict.fromkeys(kernels))
        context = ir.Context()
        with context, ir.Location.unknown():
            module = ir.Module.create()
            with ir.InsertionPoint(module.body):
                _emit_runtime()
                for number, kernel in enumerate(distinct):
                    _emit_kernel(f"kernel_{number}", kernel)
                _emit_addresses(len(distinct))
            module.operation.verify()
            PassManager.parse(TO_LLVM).run(module.operation)
            self._engine = ExecutionEngine(module, opt_level=3, shared_libs=[openmp_library()])
        addresses = np.zeros(len(distinct), np.int64)
        self._call("addresses", addresses.ctypes.data)
        self._addresses = dict(zip(distinct, addresses.tolist(), strict=True))

    def address(self, kernel: Kernel) -> int:
        """Where a kernel's code is."""
        return self._addresses[kernel]

    def run(self, tasks: Array, threads: int) -> None:
        """Run tasks in order, each with all threads.

        Args:
          tasks: int64 [n, TASK_WORDS]; used by one thread at a time.
        """
        self._call("run", tasks.ctypes.data, len(tasks), threads)

    def _call(self, name: str, *values: int) -> None:
        words = (ctypes.c_int64 * len(values))(*values)
        first, size = ctypes.addressof(words), ctypes.sizeof(ctypes.c_int64)
        packed = (ctypes.c_void_p * len(values))(*(first + size * i for i in range(len(values))))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._engine.raw_lookup(name))(ctypes.addressof(packed))


def _declare(name: str, arguments: str, *, is_entry: bool = False, attributes: str = "") -> ir.Operation:
    """A void `llvm.func` without a body, which is one from elsewhere."""
    kind = ir.Type.parse(f"!llvm.func<void ({arguments})>")
    values: dict[str, Any] = {
        "sym_name": ir.StringAttr.get(name),
        "function_type": ir.TypeAttr.get(kind),
        "CConv": ir.Attribute.parse("#llvm.cconv<ccc>"),
        "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
    }
    if is_entry:
        values["llvm.emit_c_interface"] = ir.UnitAttr.get()
    if attributes:
        values["arg_attrs"] = ir.Attribute.parse(attributes)
    return ir.Operation.create("llvm.func", attributes=values, regions=1)


def _define(name: str, arguments: str, *, is_entry: bool = False, attributes: str = "") -> ir.Block:
    """A void `llvm.func`; the block of its body."""
    function = _declare(name, arguments, is_entry=is_entry, attributes=attributes)
    types = [ir.Type.parse(t if t.startswith("i") else f"!llvm.{t}") for t in arguments.split(", ")]
    return function.regions[0].blocks.append(*types, arg_locs=[ir.Location.unknown()] * len(types))


def _emit_kernel(name: str, kernel: Kernel) -> None:
    """`name(table, begin, end)` takes the pointers from the table and calls the body, to which they do not alias."""
    count = kernel.operands
    arguments = ", ".join(["ptr"] * count + ["i64", "i64"])
    attributes = "[" + ", ".join(["{llvm.noalias}"] * count + ["{}", "{}"]) + "]"
    block = _define(f"{name}_body", arguments, attributes=attributes)
    with ir.InsertionPoint(block):
        *pointers, begin, end = block.arguments
        kernel.emit(pointers, begin, end)
        llvm.return_()
    block = _define(name, "ptr, i64, i64")
    with ir.InsertionPoint(block):
        table, begin, end = block.arguments
        pointers = [emit.load(emit.pointer_type(), emit.at(table, 8 * i)) for i in range(count)]
        _call_symbol(f"{name}_body", [*pointers, begin, end])
        llvm.return_()


def _emit_addresses(count: int) -> None:
    """`addresses(out)` stores where the kernels are."""
    block = _define("addresses", "ptr", is_entry=True)
    with ir.InsertionPoint(block):
        for number in range(count):
            symbol = llvm.mlir_addressof(emit.pointer_type(), f"kernel_{number}")
            emit.store(symbol, emit.at(block.arguments[0], 8 * number))
        llvm.return_()


def _emit_runtime() -> None:
    """`run(tasks, count, threads)`, and `team(task)`, in which each thread takes chunks of units until none is left."""
    _declare("GOMP_parallel", "ptr, ptr, i32, i32")
    i64 = ir.IntegerType.get_signless(64)
    block = _define("team", "ptr")
    with ir.InsertionPoint(block):
        (task,) = block.arguments
        function = emit.load(emit.pointer_type(), emit.at(task, 8 * FUNCTION))
        table = emit.load(emit.pointer_type(), emit.at(task, 8 * OPERANDS))
        units, chunk = (emit.load(i64, emit.at(task, 8 * word)) for word in (UNITS, CHUNK))
        op = scf.WhileOp([], [])
        with ir.InsertionPoint(op.before.blocks.append()):
            begin = llvm.atomicrmw(llvm.AtomicBinOp.add, emit.at(task, 8 * NEXT), chunk, llvm.AtomicOrdering.monotonic)
            is_left = arith.cmpi(arith.CmpIPredicate.slt, begin, units)
            branch = scf.IfOp(is_left)
            with ir.InsertionPoint(branch.then_block):
                end = arith.minsi(arith.addi(begin, chunk), units)
                _call_pointer(function, [table, begin, end])
                scf.yield_([])
            scf.condition(is_left, [])
        with ir.InsertionPoint(op.after.blocks.append()):
            scf.yield_([])
        llvm.return_()
    block = _define("run", "ptr, i64, i64", is_entry=True)
    with ir.InsertionPoint(block):
        tasks, count, threads = block.arguments

        def body(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            task = emit.at(tasks, emit.scaled([(index, 8 * TASK_WORDS)]))
            units, chunk = (emit.load(i64, emit.at(task, 8 * word)) for word in (UNITS, CHUNK))
            emit.store(emit.integer(0), emit.at(task, 8 * NEXT))
            is_alone = arith.cmpi(arith.CmpIPredicate.sge, chunk, units)
            branch = scf.IfOp(is_alone, has_else=True)
            with ir.InsertionPoint(branch.then_block):
                _call_symbol("team", [task])
                scf.yield_([])
            with ir.InsertionPoint(branch.else_block):
                team = llvm.mlir_addressof(emit.pointer_type(), "team")
                i32 = ir.IntegerType.get_signless(32)
                flags = arith.constant(i32, 0)
                _call_symbol("GOMP_parallel", [team, task, arith.trunci(i32, threads), flags])
                scf.yield_([])
            return []

        emit.loop(emit.integer(0), count, body)
        llvm.return_()


def _call_symbol(name: str, operands: list[ir.Value]) -> None:
    attributes = {"callee": ir.FlatSymbolRefAttr.get(name)}
    _call(operands, attributes)


def _call_pointer(function: ir.Value, operands: list[ir.Value]) -> None:
    _call([function, *operands], {})


def _call(operands: list[ir.Value], attributes: dict[str, ir.Attribute]) -> None:
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(operands), 0])
    attributes["op_bundle_sizes"] = ir.DenseI32ArrayAttr.get([])
    ir.Operation.create("llvm.call", operands=operands, attributes=attributes)
