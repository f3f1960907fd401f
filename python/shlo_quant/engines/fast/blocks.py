"""Blocks of ops as lists of kernels: walk once, then run them in order and let go of each value after its last use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from shlo_quant.engines.fast.ops import KERNELS, Kernel
from shlo_quant.engines.fast.regions import free_values
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.locations import finding
from shlo_quant.passes.errors import Finding, Unsupported, UnsupportedError

RETURNS = ("func.return", "stablehlo.return")


@dataclass(frozen=True)
class Step:
    """One kernel: the slots it reads, those it fills, and those nobody reads after it."""

    kernel: Kernel
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    dead: tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """An op and a kernel that computes it; operands are the op's, then what its regions capture."""

    op: ir.Operation
    kernel: Kernel
    operands: tuple[ir.Value, ...]


@dataclass(frozen=True)
class LoweredBlock:
    """The ops that are left to compute at run time, and what is known."""

    nodes: tuple[Node, ...]
    constants: dict[ir.Value, Array]
    results: tuple[ir.Value, ...]


@dataclass(frozen=True)
class BlockProgram:
    """A compiled block. Holds no state of a run: any number of threads may call it.

    Attributes:
      constants: what the first slots hold; the arguments follow.
      size: the number of slots.
      results: the slots to return.
    """

    constants: tuple[Array, ...]
    size: int
    steps: tuple[Step, ...]
    results: tuple[int, ...]

    def __call__(self, arguments: Sequence[Array]) -> list[Array]:
        slots: list[Array | None] = [*self.constants, *arguments]
        slots += [None] * (self.size - len(slots))
        for step in self.steps:
            values = step.kernel([slots[i] for i in step.inputs])  # type: ignore[misc] # filled by an earlier step
            for slot, value in zip(step.results, values, strict=True):
                slots[slot] = value
            for slot in step.dead:
                slots[slot] = None
        return [slots[i] for i in self.results]  # type: ignore[misc]


def compile_block(block: ir.Block, captured: Sequence[ir.Value] = ()) -> BlockProgram:
    """Compile a block by one kernel an op.

    Args:
      captured: values from outside, which become further arguments.
    Raises: UnsupportedError with every op that has no kernel.
    """
    findings: list[Finding] = []
    program = _Compiler(findings).block(block, captured)
    if findings:
        raise UnsupportedError("fast engine", findings)
    return program


def lower_block(block: ir.Block) -> LoweredBlock:
    """Build the kernels of a block's ops, and compute what depends on constants only.

    Raises: UnsupportedError with every op that has no kernel.
    """
    findings: list[Finding] = []
    lowered = _Compiler(findings).lowered(block)
    if findings:
        raise UnsupportedError("fast engine", findings)
    return lowered


class _Compiler:
    """Compiles blocks and the regions inside, and collects the ops it cannot."""

    def __init__(self, findings: list[Finding]) -> None:
        self._findings = findings

    def lowered(self, block: ir.Block) -> LoweredBlock:
        constants: dict[ir.Value, Array] = {}
        nodes = []
        for op in (op.operation for op in block.operations):
            inputs = (*op.operands, *free_values(op))
            kernel = None if op.name in RETURNS else self.kernel(op)
            if kernel is None:
                continue
            if all(v in constants for v in inputs):
                constants |= zip(op.results, kernel([constants[v] for v in inputs]), strict=True)
            else:
                nodes.append(Node(op, kernel, inputs))
        return LoweredBlock(tuple(nodes), constants, tuple(list(block.operations)[-1].operands))

    def block(self, block: ir.Block, captured: Sequence[ir.Value]) -> BlockProgram:
        lowered = self.lowered(block)
        slots: dict[ir.Value, int] = {}
        for value in [*lowered.constants, *block.arguments, *captured]:
            slots.setdefault(value, len(slots))
        for node in lowered.nodes:
            for value in node.op.results:
                slots.setdefault(value, len(slots))
        returned = [slots.get(v, 0) for v in lowered.results]  # 0 if an op has no kernel: then it is never run
        steps = _with_liveness(
            [
                (n.kernel, [slots.get(v, 0) for v in n.operands], [slots[v] for v in n.op.results])
                for n in lowered.nodes
            ],
            kept={*range(len(lowered.constants)), *returned},
        )
        return BlockProgram(tuple(lowered.constants.values()), len(slots), steps, tuple(returned))

    def region(self, region: ir.Region) -> Kernel:
        return self.block(region.blocks[0], free_values(region.owner))

    def kernel(self, op: ir.Operation) -> Kernel | None:
        build = KERNELS.get(op.name)
        if build is None:
            self._findings.append(finding(op, "the engine has no kernel for it"))
            return None
        try:
            return build(op, self.region)
        except Unsupported as problem:
            self._findings.append(finding(op, problem.reason, problem.remedy))
            return None


def _with_liveness(steps: list[tuple[Kernel, list[int], list[int]]], kept: set[int]) -> tuple[Step, ...]:
    seen, ordered = set(kept), []
    for kernel, inputs, results in reversed(steps):
        dead = {*inputs, *results} - seen
        seen |= dead
        ordered.append(Step(kernel, tuple(inputs), tuple(results), tuple(sorted(dead))))
    return tuple(reversed(ordered))
