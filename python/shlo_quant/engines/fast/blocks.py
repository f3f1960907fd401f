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


def build_kernel(op: ir.Operation, findings: list[Finding]) -> Kernel | None:
    """The kernel of one op; None after adding to `findings` why there is none."""
    return _Compiler(findings).kernel(op)


class _Compiler:
    """Compiles blocks and the regions inside, and collects the ops it cannot."""

    def __init__(self, findings: list[Finding]) -> None:
        self._findings = findings

    def block(self, block: ir.Block, captured: Sequence[ir.Value]) -> BlockProgram:
        ops = [op.operation for op in block.operations]
        constants: dict[ir.Value, Array] = {}
        computed = []
        for op in ops:
            inputs = [*op.operands, *free_values(op)]
            kernel = None if op.name in RETURNS else self.kernel(op)
            if kernel is None:
                continue
            if all(v in constants for v in inputs):
                constants |= zip(op.results, kernel([constants[v] for v in inputs]), strict=True)
            else:
                computed.append((kernel, inputs, list(op.results)))
        slots: dict[ir.Value, int] = {}
        for value in [*constants, *block.arguments, *captured]:
            slots.setdefault(value, len(slots))
        for _, _, results in computed:
            for value in results:
                slots.setdefault(value, len(slots))
        returned = [slots.get(v, 0) for v in ops[-1].operands]
        steps = _with_liveness(
            [(k, [slots.get(v, 0) for v in i], [slots[v] for v in r]) for k, i, r in computed],
            kept={*range(len(constants)), *returned},
        )
        return BlockProgram(tuple(constants.values()), len(slots), steps, tuple(returned))

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
