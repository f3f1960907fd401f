"""Boxes: ranges of indices along every dimension of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shlo_quant.passes.dialects.constants import Array

Range = tuple[int, int]
"""Start and stop of indices along one dimension; never empty."""
Box = tuple[Range, ...]


def full_box(shape: Sequence[int]) -> Box:
    """All of a shape."""
    return tuple((0, size) for size in shape)


def box_shape(box: Box) -> tuple[int, ...]:
    """The sizes of a box."""
    return tuple(stop - start for start, stop in box)


def cut_out(array: Array, box: Box) -> Array:
    """The elements of an array in a box, as a view."""
    return array[tuple(slice(*bounds) for bounds in box)]


def union(first: Box, second: Box) -> Box:
    """The smallest box around two."""
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(first, second, strict=True))


@dataclass(frozen=True)
class Window:
    """What windows that slide along one dimension read: a part of the operand, and padding that may be negative."""

    operand: Range
    low: int
    high: int


@dataclass(frozen=True)
class Slide:
    """How windows slide along one dimension.

    Attributes:
      low: padding before the operand.
      size, stride: of the window.
      dilation: the distance of the window's elements.
      base_dilation: the distance of the operand's elements.
    """

    low: int
    size: int = 1
    stride: int = 1
    dilation: int = 1
    base_dilation: int = 1

    def window(self, result: Range, operand_size: int) -> Window:
        """What a range of windows reads; at least one element of the operand, which padding may take away again."""
        start = result[0] * self.stride - self.low
        stop = (result[1] - 1) * self.stride - self.low + (self.size - 1) * self.dilation + 1
        first = min(max(-(-start // self.base_dilation), 0), operand_size - 1)
        last = min(max((stop - 1) // self.base_dilation, first), operand_size - 1)
        return Window((first, last + 1), first * self.base_dilation - start, stop - last * self.base_dilation - 1)
