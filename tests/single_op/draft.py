"""The function that a case is written into, and random types and values for it."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.dialects.quant import integer_range

FLOATS = ("f16", "bf16", "f32", "f64")
SMALL_FLOATS = ("f8E5M2", "f8E4M3FN", "f8E4M3", "f8E3M4")
SIGNED = ("i2", "i4", "i8", "i16", "i32", "i64")
UNSIGNED = tuple(f"u{name}" for name in SIGNED)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ANY = (*NUMBERS, "i1")


@dataclass
class Draft:
    """A function that is being written: the block to append to, the arguments so far and the choices to be made.

    Attributes:
      draw: the source of all choices.
      block: the function's body; arguments are added as they are asked for.
      inputs: the arrays for the arguments.
    """

    draw: random.Random
    block: ir.Block
    inputs: list[Array]

    @property
    def generator(self) -> np.random.Generator:
        """A source of arrays."""
        return np.random.default_rng(self.draw.randrange(1 << 32))

    def chance(self, probability: float) -> bool:
        return self.draw.random() < probability

    def shape(self, lowest_rank: int = 0, highest_rank: int = 4, zero: float = 0.04) -> list[int]:
        """Random sizes, now and then a larger one; with that probability one of them is 0."""
        sizes = [self.draw.randint(1, 4) for _ in range(self.draw.randint(lowest_rank, highest_rank))]
        if sizes and self.chance(0.1):
            sizes[self.draw.randrange(len(sizes))] = self.draw.randint(5, 70)
        if sizes and self.chance(zero):
            sizes[self.draw.randrange(len(sizes))] = 0
        return sizes

    def choices(self, count: int, *numbers: int) -> list[int]:
        """So many of these numbers."""
        return self.draw.choices(numbers, k=count)

    def argument(self, array: Array, tensor: ir.Type) -> ir.Value:
        """An argument of the function that will be `array`."""
        self.inputs.append(np.asarray(array, numpy_dtype(tensor)))
        return self.block.add_argument(tensor, ir.Location.unknown())

    def value(self, element: str, shape: Sequence[int], values: Sequence[float] = ()) -> ir.Value:
        """An argument of random elements: of `values` if there are any, else of the whole type."""
        tensor = tensor_type(shape, element)
        array = self.generator.choice(values, shape) if values else random_array(self, tensor)
        return self.argument(array, tensor)

    def op(
        self,
        name: str,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type] | None = None,
        /,
        regions: int = 0,
        **attributes: ir.Attribute,
    ) -> ir.Operation:
        return stablehlo.create(f"stablehlo.{name}", operands, results, attributes, regions)


# ---- types and values


def element_type(name: str) -> ir.Type:
    return ir.Type.parse(name)


def tensor_type(shape: Sequence[int], element: str) -> ir.RankedTensorType:
    return ir.RankedTensorType.get(list(shape), element_type(element))


def random_array(draft: Draft, tensor: ir.Type) -> Array:
    """Elements over the whole type: some of it small, some at its ends; of floats, also halves, NaN and infinities."""
    element, dtype, shape = tensor.element_type, numpy_dtype(tensor), tuple(tensor.shape)
    generator = draft.generator
    if dtype.kind == "b":
        return generator.random(shape) < 0.5
    if dtype.kind in "iu":
        lowest, highest = integer_range(element.width, not element.is_unsigned)
        whole = generator.integers(lowest, highest, shape, dtype, endpoint=True)
        small = generator.integers(max(lowest, -3), min(highest, 3), shape, dtype, endpoint=True)
        ends = generator.choice(np.array([lowest, lowest + 1, 0, highest - 1, highest], dtype), shape)
        near = np.clip(near_ties(draft, shape) * 2.0**30, lowest // 2, highest // 2).astype(dtype)
        return np.choose(
            generator.integers(0, 4, shape), [whole, small, ends, near + generator.integers(0, 2, shape, dtype)]
        )
    limits = ml_dtypes.finfo(dtype)
    exponents = draft.draw.choice((0, 1, 4, 40))
    normal = generator.standard_normal(shape) * 2.0 ** generator.integers(-exponents, exponents, shape, endpoint=True)
    halves = generator.integers(-20, 20, shape) / 2
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, float(limits.max), float(limits.smallest_subnormal), 1.0, -1.0]
    rare = generator.choice(special, shape)
    with np.errstate(all="ignore"):
        shares = draft.draw.choice(((1, 0, 0, 0), (0.4, 0.3, 0.3, 0), (0.4, 0.2, 0.2, 0.2)))
        kinds = generator.choice(4, shape, p=shares)
        return np.choose(kinds, [normal, halves, near_ties(draft, shape), rare]).astype(dtype)


def near_ties(draft: Draft, shape: Sequence[int]) -> Array:
    """Numbers halfway between two of a narrower float type, or off by a trifle."""
    generator, precision = draft.generator, draft.draw.choice((3, 4, 8, 11, 24))
    middles = generator.integers(1 << (precision - 1), 1 << precision, shape) + 0.5
    off = 1 + generator.integers(-1, 2, shape) * 2.0 ** draft.draw.choice((-50, -28))
    return middles * off * 2.0 ** generator.integers(-precision - 4, 4, shape)


def i64(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def integer_argument(draft: Draft, values: Sequence[int], element: str | None = None) -> ir.Value:
    """Numbers as an argument, a vector."""
    tensor = tensor_type([len(values)], element or draft.draw.choice(("i32", "i64")))
    return draft.argument(np.array(values, np.int64), tensor)


def starts(draft: Draft, rank: int) -> list[ir.Value]:
    """Start indices, also out of range."""
    index = draft.draw.choice(("i8", "i32", "i64"))
    return [draft.value(index, [], range(-3, 6)) for _ in range(rank)]


@contextlib.contextmanager
def block(op: ir.Operation, elements: Sequence[str], region: int = 0) -> Iterator[list[ir.Value]]:
    """Write a region of an op: a block of scalar arguments, to which what follows is appended."""
    types = [tensor_type([], element) for element in elements]
    made = op.regions[region].blocks.append(*types, arg_locs=[ir.Location.unknown()] * len(types))
    with ir.InsertionPoint(made):
        yield list(made.arguments)


Case = Callable[[Draft], Sequence[ir.Value]]
"""Writes one op; returns its results."""
