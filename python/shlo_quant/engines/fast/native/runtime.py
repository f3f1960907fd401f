"""The native code that runs lists of tasks on a team of threads.

The team is gathered once for a list. Every thread goes through the list, takes units of work of the current task
until none is left, and goes on when all that were taken are done. A thread that the system keeps away holds up nobody
but for the units it has taken.
"""

from __future__ import annotations

import platform
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, scf

from shlo_quant.engines.fast.native import emitter as emit

FUNCTION, OPERANDS, UNITS, CHUNK, NEXT, DONE = range(6)
"""The words of a task: address of the kernel, of its table of pointers, units of work, how many a thread takes at a
time; the next one to take, and how many are done."""

TASK_WORDS = 8
"""A task takes a cache line."""

SPINS = 1 << 8
"""How often a thread looks whether a task is done before it lets others have the CPU, each time."""


def emit_runtime() -> None:
    """Emit `run(tasks, count, threads)`."""
    declare("GOMP_parallel", "ptr, ptr, i32, i32")
    declare("sched_yield", "")
    with ir.InsertionPoint(block := define("take_part", "ptr")):
        (team,) = block.arguments
        tasks, count = emit.load(emit.pointer_type(), team), emit.load(_i64(), emit.at(team, 8))
        _for_each_task(tasks, count, _work)
        llvm.return_()
    with ir.InsertionPoint(block := define("run", "ptr, i64, i64", is_entry=True)):
        tasks, count, threads = block.arguments
        _for_each_task(tasks, count, _reset)
        team = llvm.alloca(emit.pointer_type(), emit.integer(2), _i64())
        emit.store(tasks, team)
        emit.store(count, emit.at(team, 8))
        branch = scf.IfOp(arith.cmpi(arith.CmpIPredicate.sgt, threads, emit.integer(1)), has_else=True)
        with ir.InsertionPoint(branch.then_block):
            i32 = ir.IntegerType.get_signless(32)
            member = llvm.mlir_addressof(emit.pointer_type(), "take_part")
            call("GOMP_parallel", [member, team, arith.trunci(i32, threads), arith.constant(i32, 0)])
            scf.yield_([])
        with ir.InsertionPoint(branch.else_block):
            call("take_part", [team])
            scf.yield_([])
        llvm.return_()


def _for_each_task(tasks: ir.Value, count: ir.Value, body: Any) -> None:
    def visit(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
        body(emit.at(tasks, emit.scaled([(index, 8 * TASK_WORDS)])))
        return []

    emit.loop(emit.integer(0), count, visit)


def _reset(task: ir.Value) -> None:
    for word in (NEXT, DONE):
        emit.store(emit.integer(0), emit.at(task, 8 * word))


def _work(task: ir.Value) -> None:
    """Take units until none is left, then wait until all are done."""
    function, table = (emit.load(emit.pointer_type(), emit.at(task, 8 * word)) for word in (FUNCTION, OPERANDS))
    units, chunk = (emit.load(_i64(), emit.at(task, 8 * word)) for word in (UNITS, CHUNK))
    add, order = llvm.AtomicBinOp.add, llvm.AtomicOrdering
    working = scf.WhileOp([], [])
    with ir.InsertionPoint(working.before.blocks.append()):
        begin = llvm.atomicrmw(add, emit.at(task, 8 * NEXT), chunk, order.acquire)
        is_left = arith.cmpi(arith.CmpIPredicate.slt, begin, units)
        branch = scf.IfOp(is_left)
        with ir.InsertionPoint(branch.then_block):
            end = arith.minsi(arith.addi(begin, chunk), units)
            _call([function, table, begin, end], {})
            llvm.atomicrmw(add, emit.at(task, 8 * DONE), arith.subi(end, begin), order.release)
            scf.yield_([])
        scf.condition(is_left, [])
    with ir.InsertionPoint(working.after.blocks.append()):
        scf.yield_([])
    waiting = scf.WhileOp([_i64()], [emit.integer(1)])
    with ir.InsertionPoint(before := waiting.before.blocks.append(_i64(), arg_locs=[ir.Location.unknown()])):
        done = llvm.load(_i64(), emit.at(task, 8 * DONE), alignment=8, ordering=order.acquire)
        scf.condition(arith.cmpi(arith.CmpIPredicate.slt, done, units), [before.arguments[0]])
    with ir.InsertionPoint(after := waiting.after.blocks.append(_i64(), arg_locs=[ir.Location.unknown()])):
        spins = after.arguments[0]
        if platform.machine() == "x86_64":
            emit.intrinsic("llvm.x86.sse2.pause", None, [])
        is_long = arith.cmpi(arith.CmpIPredicate.eq, arith.remui(spins, emit.integer(SPINS)), emit.integer(0))
        branch = scf.IfOp(is_long)
        with ir.InsertionPoint(branch.then_block):
            call("sched_yield", [])
            scf.yield_([])
        scf.yield_([arith.addi(spins, emit.integer(1))])


# ---- functions


def declare(name: str, arguments: str, *, is_entry: bool = False, attributes: str = "") -> ir.Operation:
    """A void `llvm.func` without a body, which is one from elsewhere.

    Args:
      arguments: their types.
      is_entry: whether Python calls it.
      attributes: the `arg_attrs`.
    """
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


def define(name: str, arguments: str, *, is_entry: bool = False, attributes: str = "") -> ir.Block:
    """As `declare`, with a body; its block."""
    function = declare(name, arguments, is_entry=is_entry, attributes=attributes)
    types = [ir.Type.parse(t if t.startswith("i") else f"!llvm.{t}") for t in arguments.split(", ")]
    return function.regions[0].blocks.append(*types, arg_locs=[ir.Location.unknown()] * len(types))


def call(name: str, operands: list[ir.Value]) -> None:
    """Call a void function."""
    _call(operands, {"callee": ir.FlatSymbolRefAttr.get(name)})


def _call(operands: list[ir.Value], attributes: dict[str, ir.Attribute]) -> None:
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(operands), 0])
    attributes["op_bundle_sizes"] = ir.DenseI32ArrayAttr.get([])
    ir.Operation.create("llvm.call", operands=operands, attributes=attributes)


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)
