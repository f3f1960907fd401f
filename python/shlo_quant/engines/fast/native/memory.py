"""Buffers: which bytes a program works in, and which of them share a place because they live at different times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shlo_quant.passes.dialects.constants import Array

ALIGNMENT = 64
SLACK = 64
"""Bytes behind a buffer that kernels may read, whatever they hold."""


@dataclass
class Buffer:
    """Bytes that a program works in.

    Attributes:
      size: bytes.
      content: what it holds at first, and holds on to: constants, and borders around what is written.
      is_constant: whether nothing is ever written to it, so that all runs share it.
      argument: the slot of the argument that it is, which is read where the caller has it.
      first, last: the steps between which its content matters.
    """

    size: int
    content: Array | None = None
    is_constant: bool = False
    argument: int | None = None
    first: int = 1 << 60
    last: int = 0

    def used(self, step: int) -> None:
        """Note that a step reads or writes it."""
        self.first = min(self.first, step)
        self.last = max(self.last, step)


@dataclass
class Layout:
    """Places of buffers in one block of memory; those with content of their own lie elsewhere."""

    offsets: dict[int, int] = field(default_factory=dict)
    size: int = 0


def arrange(buffers: Sequence[Buffer]) -> Layout:
    """Give each buffer the lowest place that no buffer alive at the same time takes, the largest first."""
    layout = Layout()
    placed: list[tuple[int, int, Buffer]] = []
    shared = [(i, b) for i, b in enumerate(buffers) if b.content is None and b.argument is None]
    for number, buffer in sorted(shared, key=lambda item: -item[1].size):
        size = -(-(buffer.size + SLACK) // ALIGNMENT) * ALIGNMENT
        begin = 0
        for other_begin, other_end, other in sorted(placed, key=lambda item: item[0]):
            if _overlap(buffer, other) and begin < other_end and other_begin < begin + size:
                begin = other_end
        layout.offsets[number] = begin
        layout.size = max(layout.size, begin + size)
        placed.append((begin, begin + size, buffer))
    return layout


def aligned(size: int) -> Array:
    """Uninitialized bytes at an aligned address, with slack behind them."""
    block = np.empty(size + SLACK + ALIGNMENT, np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    return block[start : start + size]


def _overlap(one: Buffer, other: Buffer) -> bool:
    return one.first <= other.last and other.first <= one.last
