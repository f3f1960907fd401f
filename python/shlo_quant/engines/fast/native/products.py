"""Convolutions, dots and windows in one shape: batch, rows, columns, channels; and the kernels for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.native.byte_products import (
    TILE_BYTES,
    TILE_ROWS,
    Run,
    TileProduct,
    VectorProduct,
    register_tile,
    vector_tile,
)
from shlo_quant.engines.fast.native.epilogue import Epilogue, Grid
from shlo_quant.engines.fast.native.kernels import LANES, Kernel
from shlo_quant.engines.fast.native.machine import has_byte_products, has_tiles
from shlo_quant.engines.fast.native.stencils import Stencil
from shlo_quant.engines.fast.native.term_products import TermProduct, TermRun
from shlo_quant.engines.fast.native.views import BIAS, View, loop_dimensions
from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.dialects.stablehlo import DotDimensions, combining_op, conv_dimension_numbers, int_list
from shlo_quant.passes.dot_like import DOT_LIKE

Factors = tuple[int | None, int | None, int | None, int | None, int, int]

LARGEST_WINDOW = 256
"""Elements of a window that a kernel combines without a loop."""

Dimensions = tuple[int | None, int | None, int | None, int]
"""Which dimensions of a tensor are batch, row, column and channel; None for one that it does not have."""


@dataclass(frozen=True)
class Windowed:
    """A convolution, dot or windowed reduction.

    Attributes:
      operand, result: dimensions of the operand and of the result.
      padding: low and high, for each dimension of the operand.
      pad_value: what it is padded with.
      steps: rows and columns of the operand from one result to the next.
      dilation: rows and columns from one element of the window to the next.
      window: rows and columns.
      weights: [rows, columns, input channels, output channels], int8; for a depthwise convolution with 1 input
        channel. None for a reduction.
      combine: as that of `Stencil`; "product" of bytes, or "terms", for any other product.
      factors: of a sum of terms, which dimensions of the second operand are batch and row of the result, row and
        column of the window, depth (what is summed over) and channel; None for one that it does not have.
    """

    op: ir.Operation
    operand: Dimensions
    result: Dimensions
    padding: tuple[tuple[int, int], ...]
    pad_value: int
    steps: tuple[int, int]
    dilation: tuple[int, int]
    window: tuple[int, int]
    weights: Array | None
    combine: str
    factors: Factors | None = None

    @property
    def wants_bias(self) -> bool:
        """Whether signed bytes have to be biased for it."""
        return self.combine == "product" and not has_tiles()

    @property
    def reads_slack(self) -> bool:
        """Whether its kernel reads bytes behind the last element, because it takes several channels at a time."""
        if self.combine != "product" or self.weights is None:
            return False
        return bool(self.weights.shape[2] % (TILE_BYTES if has_tiles() else 4))

    @property
    def multiply_adds(self) -> int:
        depth = self.weights.shape[2] if self.weights is not None else 1
        if self.factors is not None:
            depth = self.op.operands[1].type.shape[self.factors[4]]
        sizes: list[int] = [*self.op.results[0].type.shape, *self.window, depth]
        return math.prod(sizes)


def order(dimensions: Sequence[int | None]) -> tuple[int, ...]:
    """The dimensions that a tensor has, in this order."""
    return tuple(d for d in dimensions if d is not None)


# ---- from ops


def recognize(op: ir.Operation, constant: Array | None) -> Windowed | None:
    """The op in this form; None if it is none that has a native kernel.

    Args:
      constant: the second operand, if it is constant.
    """
    if op.name in DOT_LIKE:
        return _byte_product(op, constant) or _term_product_of(op)
    if constant is None or 0 in op.operands[0].type.shape:
        return None
    if op.name == "stablehlo.reduce":
        return _reduce(op, constant)
    return _window(op, constant) if op.name == "stablehlo.reduce_window" else None


def _byte_product(op: ir.Operation, weights: Array | None) -> Windowed | None:
    if weights is None or not _is_byte_product(op, weights):
        return None
    found = (_convolution if op.name == "stablehlo.convolution" else _dot)(op, weights)
    return found if found is None or found.combine != "product" or has_byte_products() else None


def _convolution(op: ir.Operation, weights: Array) -> Windowed | None:
    numbers = conv_dimension_numbers(op)
    spatial = list(numbers.input_spatial_dimensions)
    if len(spatial) not in (1, 2) or not _is_plain(op, len(spatial)):
        return None
    depth = op.operands[0].type.shape[numbers.input_feature_dimension]
    groups = int(op.attributes["feature_group_count"].value)
    kernel_order = [
        *numbers.kernel_spatial_dimensions,
        numbers.kernel_input_feature_dimension,
        numbers.kernel_output_feature_dimension,
    ]
    weights = weights.transpose(kernel_order).reshape((-1, *[weights.shape[d] for d in kernel_order[-3:]]))
    if groups != 1 and (groups != depth or weights.shape[-1] != depth):
        return None
    padding = [(0, 0)] * len(op.operands[0].type.shape)
    for dimension, (low, high) in zip(spatial, _pairs(op, "padding", len(spatial)), strict=True):
        padding[dimension] = (low, high)
    return Windowed(
        op,
        (numbers.input_batch_dimension, *_two(spatial), numbers.input_feature_dimension),
        (
            numbers.output_batch_dimension,
            *_two(list(numbers.output_spatial_dimensions)),
            numbers.output_feature_dimension,
        ),
        tuple(padding),
        0,
        _two_sizes(int_list(op, "window_strides"), len(spatial)),
        _two_sizes(int_list(op, "rhs_dilation"), len(spatial)),
        (weights.shape[0], weights.shape[1]),
        np.ascontiguousarray(weights),
        "product" if groups == 1 else "multiply_add",
    )


def _is_plain(op: ir.Operation, rank: int) -> bool:
    """No dilated operand, no reversed kernel, no groups of batches."""
    reversal = list(op.attributes["window_reversal"]) if "window_reversal" in op.attributes else []
    return (
        int(op.attributes["batch_group_count"].value) == 1
        and all(d == 1 for d in int_list(op, "lhs_dilation") or [1] * rank)
        and not any(reversal)
        and min(low for pair in _pairs(op, "padding", rank) for low in pair) >= 0
    )


def _dot(op: ir.Operation, weights: Array) -> Windowed | None:
    dimensions = DotDimensions.of(op)
    lhs_free = dimensions.lhs_free(len(op.operands[0].type.shape))
    rhs_free = dimensions.rhs_free(weights.ndim)
    is_matrix = len(dimensions.lhs_contracting) == 1 and len(rhs_free) == 1 and len(lhs_free) <= 3
    if not is_matrix or dimensions.lhs_batching:
        return None
    weights = weights.transpose([*dimensions.rhs_contracting, *rhs_free])[None, None]
    missing = [None] * (3 - len(lhs_free))
    operand = (*missing, *lhs_free, dimensions.lhs_contracting[0])
    result = (*missing, *range(len(lhs_free)), len(lhs_free))
    padding = ((0, 0),) * len(op.operands[0].type.shape)
    one = (1, 1)
    return Windowed(op, operand, result, padding, 0, one, one, one, np.ascontiguousarray(weights), "product")  # type: ignore[arg-type]


def _is_byte_product(op: ir.Operation, weights: Array) -> bool:
    """Bytes times constant signed bytes, summed in 32 bits."""
    element = op.operands[0].type.element_type
    return (
        weights.dtype == np.int8
        and isinstance(element, ir.IntegerType)
        and element.width == 8
        and op.operands[1].type.element_type.width == 8
        and numpy_dtype(op.results[0]) == np.int32
        and weights.size > 0
        and math.prod(op.results[0].type.shape) > 0
    )


def _term_product_of(op: ir.Operation) -> Windowed | None:
    if not _has_term_types(op):
        return None
    return _term_convolution(op) if op.name == "stablehlo.convolution" else _term_dot(op)


def _has_term_types(op: ir.Operation) -> bool:
    """f32 throughout, or integers of whole bytes whose products have the width of the result, or are narrower."""
    values = (*op.operands, op.results[0])
    if any(0 in v.type.shape for v in values):
        return False
    elements = [v.type.element_type for v in values]
    if all(isinstance(element, ir.F32Type) for element in elements):
        return True
    if not all(isinstance(element, ir.IntegerType) and element.width in (8, 16, 32, 64) for element in elements):
        return False
    widest: int = max(element.width for element in elements[:2])
    return widest <= int(elements[2].width)


def _term_convolution(op: ir.Operation) -> Windowed | None:
    numbers = conv_dimension_numbers(op)
    spatial, window = list(numbers.input_spatial_dimensions), list(numbers.kernel_spatial_dimensions)
    if len(spatial) not in (1, 2) or not _is_plain(op, len(spatial)) or op.attributes["feature_group_count"].value != 1:
        return None
    padding = [(0, 0)] * len(op.operands[0].type.shape)
    for dimension, (low, high) in zip(spatial, _pairs(op, "padding", len(spatial)), strict=True):
        padding[dimension] = (low, high)
    output = _two(list(numbers.output_spatial_dimensions))
    return Windowed(
        op,
        (numbers.input_batch_dimension, *_two(spatial), numbers.input_feature_dimension),
        (numbers.output_batch_dimension, *output, numbers.output_feature_dimension),
        tuple(padding),
        0,
        _two_sizes(int_list(op, "window_strides"), len(spatial)),
        _two_sizes(int_list(op, "rhs_dilation"), len(spatial)),
        _two_sizes([op.operands[1].type.shape[d] for d in window], len(spatial)),
        None,
        "terms",
        (None, None, *_two(window), numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension),
    )


def _term_dot(op: ir.Operation) -> Windowed | None:
    """One contracting dimension, one of the second operand that survives, and up to three of the first, batches too."""
    dimensions = DotDimensions.of(op)
    rank = len(op.operands[0].type.shape)
    lhs_free, rhs_free = dimensions.lhs_free(rank), dimensions.rhs_free(len(op.operands[1].type.shape))
    batches = len(dimensions.lhs_batching)
    if (
        len(dimensions.lhs_contracting) != 1
        or len(rhs_free) != 1
        or batches > 2
        or not 1 <= len(lhs_free) <= 3 - batches
    ):
        return None
    missing: list[int | None] = [None] * (3 - batches - len(lhs_free))
    first = [*dimensions.lhs_batching, *missing, *lhs_free]
    second = [*dimensions.rhs_batching, None, None][:2]
    operand = (first[0], first[1], first[2], dimensions.lhs_contracting[0])
    named = [*range(batches), *missing, *range(batches, batches + len(lhs_free))]
    result = (named[0], named[1], named[2], batches + len(lhs_free))
    factors = (second[0], second[1], None, None, dimensions.rhs_contracting[0], rhs_free[0])
    one = (1, 1)
    return Windowed(op, operand, result, ((0, 0),) * rank, 0, one, one, one, None, "terms", factors)


def _window(op: ir.Operation, init: Array) -> Windowed | None:
    """A maximum, minimum or sum of bytes or other integers over windows of rows and columns."""
    shape, rank = op.operands[0].type.shape, len(op.operands[0].type.shape)
    window = int_list(op, "window_dimensions") or [1] * rank
    strides = int_list(op, "window_strides") or [1] * rank
    padding = _pairs(op, "padding", rank)
    spatial = [d for d in range(rank) if (window[d], strides[d], padding[d]) != (1, 1, (0, 0))]
    combine = _combine(op, init, spatial, math.prod(window))
    is_dilated = any(d != 1 for d in int_list(op, "base_dilations") or [])
    if combine is None or is_dilated or min(low for pair in padding for low in pair) < 0:
        return None
    others = [d for d in range(rank) if d not in spatial]
    if shape[others[-1]] < LANES:
        return None
    dilations = int_list(op, "window_dilations") or [1] * rank
    batch = others[0] if len(others) == 2 else None
    dimensions = (batch, *_two(spatial), others[-1])
    sizes, steps, apart = (_two_sizes([v[d] for d in spatial], len(spatial)) for v in (window, strides, dilations))
    return Windowed(op, dimensions, dimensions, tuple(padding), int(init), steps, apart, sizes, None, combine)


def _reduce(op: ir.Operation, init: Array) -> Windowed | None:
    """A reduction of one or two dimensions is a window that takes all of them."""
    shape, rank = op.operands[0].type.shape, len(op.operands[0].type.shape)
    spatial = int_list(op, "dimensions") or []
    others = [d for d in range(rank) if d not in spatial]
    combine = _combine(op, init, spatial, math.prod(shape[d] for d in spatial))
    if combine is None or shape[others[-1]] < LANES:
        return None
    batch = others[0] if len(others) == 2 else None
    result = (None if batch is None else 0, None, None, len(others) - 1)
    sizes, one = _two_sizes([shape[d] for d in spatial], len(spatial)), (1, 1)
    dimensions = (batch, *_two(spatial), others[-1])
    return Windowed(op, dimensions, result, ((0, 0),) * rank, 0, one, one, sizes, None, combine)


def _combine(op: ir.Operation, init: Array, spatial: Sequence[int], size: int) -> str | None:
    """How a reduction of integers over these dimensions combines them, if a kernel does that."""
    element = op.operands[0].type.element_type
    if len(op.operands) != 2 or not isinstance(element, ir.IntegerType) or element.width not in (8, 16, 32):
        return None
    rank = len(op.operands[0].type.shape)
    if not 1 <= len(spatial) <= 2 or not 1 <= rank - len(spatial) <= 2 or not 0 < size <= LARGEST_WINDOW:
        return None
    combine = combination(op)
    neutral = {"maximum": np.iinfo(init.dtype).min, "minimum": np.iinfo(init.dtype).max, "add": 0}
    is_empty = 0 in op.results[0].type.shape
    return combine if combine in neutral and init == neutral[combine] and not is_empty else None


def combination(op: ir.Operation) -> str | None:
    """How a reduction combines two elements, if kernels do that."""
    name = combining_op(op.regions[0])
    return name if name in ("add", "maximum", "minimum", "multiply") else None


def _pairs(op: ir.Operation, name: str, rank: int) -> list[tuple[int, int]]:
    if name not in op.attributes:
        return [(0, 0)] * rank
    return [(int(low), int(high)) for low, high in np.asarray(ir.DenseElementsAttr(op.attributes[name])).reshape(-1, 2)]


def _two(dimensions: Sequence[int]) -> tuple[int | None, int]:
    return (None, dimensions[0]) if len(dimensions) == 1 else (dimensions[0], dimensions[1])


def _two_sizes(sizes: Sequence[int] | None, rank: int) -> tuple[int, int]:
    found = [1] * (2 - rank) + list(sizes or [1] * rank)
    return found[0], found[1]


# ---- to kernels


def strides_in(view: View, dimensions: Dimensions) -> tuple[int, int, int, int]:
    """Bytes from one batch, row, column, channel to the next."""
    size = view.dtype.itemsize
    batch, row, column, channel = (0 if d is None else view.strides[d] * size for d in dimensions)
    return batch, row, column, channel


def kernel_for(
    windowed: Windowed, source: View, factors: View | None, epilogue: Epilogue
) -> tuple[Kernel, list[Array]]:
    """The kernel, and the constants it takes after its operand.

    Args:
      source: the operand, padded; its channels lie side by side, but for a sum of terms.
      factors: the second operand of a sum of terms, with channels side by side.
      epilogue: with strides for batch, row, column and channel.
    """
    shape = windowed.op.results[0].type.shape
    batch, rows, columns, channels = (1 if d is None else shape[d] for d in windowed.result)
    batch_stride, row, column, _ = strides_in(source, windowed.operand)
    strides = (batch_stride, row * windowed.steps[0], column * windowed.steps[1])
    grid = Grid((batch, rows, columns), channels, strides)
    apart = (row * windowed.dilation[0], column * windowed.dilation[1])
    if factors is not None:
        return _term_product(windowed, (source, factors), epilogue, grid, apart), []
    if windowed.combine != "product":
        return _stencil(windowed, source, epilogue, grid, apart)
    return _product(windowed, source, epilogue, grid, apart)


def _product(
    windowed: Windowed, source: View, epilogue: Epilogue, grid: Grid, apart: tuple[int, int]
) -> tuple[Kernel, list[Array]]:
    assert windowed.weights is not None
    rows, columns, depth, _ = windowed.weights.shape
    runs = [Run(rows, apart[0]), Run(columns, apart[1])]
    if columns == 1 or apart[1] == depth:  # the window's columns lie side by side, and are one run
        runs, depth = runs[:1], depth * columns
    runs = [run for run in runs if run.count > 1]
    grid, epilogue = _merged(grid, epilogue)
    weights = windowed.weights.reshape(math.prod(r.count for r in runs), depth, grid.channels)
    if has_tiles():
        tile, places = register_tile(grid)
        steps, is_signed = -(-depth // TILE_BYTES), source.dtype == np.int8
        return TileProduct(grid, tuple(runs), steps, tile, epilogue, is_signed, places), [
            pack(weights, tile[2], TILE_ROWS)[0]
        ]
    tile, is_signed = vector_tile(grid), source.dtype == np.int8 and not source.biased
    packed, sums = pack(weights, tile[2], 1)
    starts = -BIAS * sums if source.dtype == np.int8 else np.zeros_like(sums)
    return VectorProduct(grid, tuple(runs), -(-depth // 4), tile, epilogue, is_signed), [packed, starts]


def _term_product(
    windowed: Windowed, operands: tuple[View, View], epilogue: Epilogue, grid: Grid, apart: tuple[int, int]
) -> TermProduct:
    source, factors = operands
    assert windowed.factors is not None
    size = factors.dtype.itemsize
    batch, row, *window, _ = (0 if d is None else size * factors.strides[d] for d in windowed.factors)
    depth = source.shape[windowed.operand[3]]
    counts, strides = (*windowed.window, depth), (*apart, source.dtype.itemsize * source.strides[windowed.operand[3]])
    runs = [TermRun(*run) for run in zip(counts, strides, window, strict=True) if run[0] > 1]
    _, columns, vectors = vector_tile(Grid((1, 1, grid.sizes[2]), grid.channels, grid.strides))
    dtypes = source.dtype, factors.dtype, numpy_dtype(windowed.op.results[0])
    return TermProduct(grid, *dtypes, tuple(runs), (batch, row), (1, columns, vectors), epilogue)


def _stencil(
    windowed: Windowed, source: View, epilogue: Epilogue, grid: Grid, apart: tuple[int, int]
) -> tuple[Kernel, list[Array]]:
    is_product = windowed.weights is not None
    dtype = np.dtype(np.uint8) if source.biased and is_product else source.dtype
    flips = source.biased and not is_product
    columns = grid.sizes[2]
    tile = min(range(1, min(columns, 8) + 1), key=lambda size: -(-columns // size) * (size + 1))
    kernel = Stencil(windowed.combine, grid, windowed.window, apart, dtype, flips, tile, epilogue)
    if windowed.weights is None:
        return kernel, []
    weights = windowed.weights.reshape(-1, grid.channels)
    starts = -BIAS * weights.sum(axis=0, dtype=np.int32) if source.biased else np.zeros(grid.channels, np.int32)
    return kernel, [weights, starts]


def _merged(grid: Grid, epilogue: Epilogue) -> tuple[Grid, Epilogue]:
    """Batch and rows as more columns, where all operands lie so."""
    accesses = [*epilogue.inputs, epilogue.output]
    sizes, strides = loop_dimensions(grid.sizes, [grid.strides, *(a.strides[:3] for a in accesses)])
    first, *others = (_three(s, 0) for s in strides)
    *inputs, output = (replace(a, strides=(*o, a.strides[3])) for a, o in zip(accesses, others, strict=True))
    return Grid(_three(sizes, 1), grid.channels, first), Epilogue(epilogue.expression, tuple(inputs), output)


def _three(numbers: Sequence[int], filler: int) -> tuple[int, int, int]:
    """Numbers with fillers before them."""
    first, second, third = [filler] * (3 - len(numbers)) + list(numbers)
    return first, second, third


def pack(weights: Array, vectors: int, fours: int) -> tuple[Array, Array]:
    """Weights in the order in which byte products read them, and their sums.

    Args:
      weights: [runs, depth, channels], int8.
      vectors: of channels in a block.
      fours: groups of four products that one step takes.
    Returns: bytes [blocks, runs, steps, vectors, fours, 16 channels, 4]; int32 [blocks, vectors, 16].
    """
    runs, depth, channels = weights.shape
    steps, lanes = -(-depth // (4 * fours)), min(channels, LANES)
    count = -(-channels // (LANES * vectors)) * vectors
    starts = np.minimum(np.arange(count) * lanes, channels - lanes)
    columns = starts[:, None] + np.arange(lanes)
    padded = np.zeros((runs, 4 * fours * steps, count, LANES), np.int8)
    padded[:, :depth, :, :lanes] = weights[:, :, columns]
    packed = padded.reshape(runs, steps, fours, 4, count // vectors, vectors, LANES).transpose(4, 0, 1, 5, 2, 6, 3)
    return np.ascontiguousarray(packed), padded.sum(axis=(0, 1), dtype=np.int32)
