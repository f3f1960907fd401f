"""`View`: elements of a tensor within a buffer. Transposes, slices and broadcasts are other views of one buffer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

BIAS = 128
"""What is added to the signed bytes of a biased view to store them unsigned, as the byte products want them."""


@dataclass(frozen=True)
class View:
    """Where the elements of a tensor lie; offset and strides count elements.

    Attributes:
      buffer: number of the buffer.
      biased: whether signed bytes are stored as unsigned ones, 128 higher.
      is_table: whether the buffer holds 256 bytes to look up others in, rather than elements.
    """

    buffer: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    biased: bool = False
    is_table: bool = False

    @staticmethod
    def dense(buffer: int, shape: Sequence[int], order: Sequence[int], dtype: np.dtype[Any]) -> View:
        """All elements of a buffer, without gaps.

        Args:
          order: the dimensions from the outermost to the innermost.
        """
        strides, step = [0] * len(shape), 1
        for dimension in reversed(order):
            strides[dimension] = step
            step *= shape[dimension]
        return View(buffer, 0, tuple(shape), tuple(strides), dtype)

    @property
    def order(self) -> tuple[int, ...]:
        """The dimensions from the outermost to the innermost."""
        return tuple(sorted(range(len(self.shape)), key=lambda d: (-self.strides[d], d)))

    @property
    def extent(self) -> int:
        """The number of elements from the first to the last, both included."""
        return 1 + sum(stride * (size - 1) for stride, size in zip(self.strides, self.shape, strict=True))

    def transposed(self, permutation: Sequence[int]) -> View:
        """Dimension i is dimension `permutation[i]` of this view."""
        shape, strides = (tuple(t[d] for d in permutation) for t in (self.shape, self.strides))
        return replace(self, shape=shape, strides=strides)

    def window(self, low: Sequence[int], shape: Sequence[int], steps: Sequence[int] | None = None) -> View:
        """`shape` elements from `low` on, every `steps`-th."""
        steps = steps or [1] * len(shape)
        offset = self.offset + sum(start * stride for start, stride in zip(low, self.strides, strict=True))
        strides = tuple(stride * step for stride, step in zip(self.strides, steps, strict=True))
        return replace(self, offset=offset, shape=tuple(shape), strides=strides)

    def broadcast(self, shape: Sequence[int], dimensions: Sequence[int]) -> View:
        """Dimension i becomes dimension `dimensions[i]` of `shape`; the others repeat."""
        strides = [0] * len(shape)
        for source, target in enumerate(dimensions):
            if self.shape[source] == shape[target]:
                strides[target] = self.strides[source]
        return replace(self, shape=tuple(shape), strides=tuple(strides))

    def reshaped(self, shape: Sequence[int]) -> View | None:
        """The same elements in row-major order under another shape; None if no strides can say that."""
        if math.prod(shape) == 0:
            return None
        probe = np.lib.stride_tricks.as_strided(np.empty(0, np.int8), self.shape, self.strides, writeable=False)
        try:
            strides = probe.reshape(shape, copy=False).strides
        except ValueError:
            return None
        return replace(self, shape=tuple(shape), strides=strides)


def loop_dimensions(
    shape: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Merge neighbouring dimensions of a loop nest that every operand walks as one, and drop those of size 1.

    Args:
      strides: for each operand one stride a dimension.
    Returns: the merged shape, of rank 1 at least, and the operands' strides in it.
    """
    sizes: list[int] = []
    merged: list[list[int]] = [[] for _ in strides]
    for dimension, size in enumerate(shape):
        if size == 1:
            continue
        steps = [s[dimension] for s in strides]
        if sizes and all(m[-1] == step * size for m, step in zip(merged, steps, strict=True)):
            sizes[-1] *= size
            for m, step in zip(merged, steps, strict=True):
                m[-1] = step
        else:
            sizes.append(size)
            for m, step in zip(merged, steps, strict=True):
                m.append(step)
    if not sizes:
        return (1,), [(0,) for _ in strides]
    return tuple(sizes), [tuple(m) for m in merged]
