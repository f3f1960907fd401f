"""dot_general and convolution, in any layout, exact.

Integer sums are right modulo 2^bits. Float sums are taken one product after the other, the last contracting dimension
fastest (in a convolution: window, then features), every product and sum rounded to the result type; where operands
are integers small enough for every sum to be exact, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops.convert import conversion
from shlo_quant.engines.fast.ops.data_movement import padded, padding_of
from shlo_quant.engines.fast.ops.elements import ElementType
from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel, shape_of
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.stablehlo import DotDimensions, conv_dimension_numbers, int_list

F64_PRECISION = 53
LARGEST_STEP = 1 << 16
"""Elements of a partial sum that are worked on at a time; they stay in the cache."""


def _dot_general(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    lhs, rhs = op.operands
    dimensions, shape, product = DotDimensions.of(op), shape_of(op.results[0]), _matrix_product(op)
    lhs_free, rhs_free = dimensions.lhs_free(lhs.type.rank), dimensions.rhs_free(rhs.type.rank)
    lhs_order = [*dimensions.lhs_batching, *lhs_free, *dimensions.lhs_contracting]
    rhs_order = [*dimensions.rhs_batching, *dimensions.rhs_contracting, *rhs_free]
    batch, rows, depth = (
        math.prod(shape_of(lhs)[d] for d in group)
        for group in (dimensions.lhs_batching, lhs_free, dimensions.lhs_contracting)
    )
    columns = math.prod(shape_of(rhs)[d] for d in rhs_free)

    def run(inputs: Sequence[Array]) -> tuple[Array]:
        left = inputs[0].transpose(lhs_order).reshape(batch, rows, depth)
        right = inputs[1].transpose(rhs_order).reshape(batch, depth, columns)
        return (product(left, right).reshape(shape),)

    return run


# ---- products of matrices


def _matrix_product(op: ir.Operation) -> Callable[[Array, Array], Array]:
    """The function from [batch, rows, depth] and [batch, depth, columns] to [batch, rows, columns]."""
    result = ElementType.of(op.results[0])
    to_lhs, to_rhs = (conversion(ElementType.of(operand), result) for operand in op.operands[:2])
    multiply = _integer_product if not result.is_float else _float_product
    return lambda lhs, rhs: multiply(result, to_lhs(lhs), to_rhs(rhs))


def _integer_product(element: ElementType, lhs: Array, rhs: Array) -> Array:
    bound = _largest(lhs) * _largest(rhs) * lhs.shape[-1]
    if element.is_bool or bound < 1 << F64_PRECISION:
        sums = np.matmul(lhs.astype(np.float64), rhs.astype(np.float64))
        return np.asarray(sums != 0) if element.is_bool else element.wrapped(sums.astype(np.int64))
    return element.wrapped(np.matmul(lhs.astype(np.int64), rhs.astype(np.int64)))


def _float_product(element: ElementType, lhs: Array, rhs: Array) -> Array:
    if _are_exact(element, lhs, rhs):
        sums = np.matmul(lhs.astype(np.float64), rhs.astype(np.float64)) + 0.0  # a sum of zeros is +0
        return np.asarray(sums.astype(element.dtype))
    sums = np.zeros((lhs.shape[0], lhs.shape[1], rhs.shape[2]), element.dtype)
    step = max(1, LARGEST_STEP // max(1, rhs.shape[2]))
    for batch, start in np.ndindex(lhs.shape[0], -(-lhs.shape[1] // step)):
        rows = slice(start * step, (start + 1) * step)
        sums[batch, rows] = _sum_in_order(lhs[batch, rows], rhs[batch])
    return sums


def _sum_in_order(lhs: Array, rhs: Array) -> Array:
    sums = np.zeros((lhs.shape[0], rhs.shape[1]), lhs.dtype)
    for column, row in zip(lhs.T, rhs, strict=True):
        sums = sums + column[:, None] * row
    return sums


def _are_exact(element: ElementType, lhs: Array, rhs: Array) -> bool:
    """Whether all sums of products are integers that the float type holds, whatever the order."""
    if element.dtype.kind != "f" or not (_are_integers(lhs) and _are_integers(rhs)):
        return False
    return bool(_largest(lhs) * _largest(rhs) * lhs.shape[-1] <= 2 << element.mantissa_bits)


def _are_integers(values: Array) -> bool:
    return bool(np.all(np.rint(values) == values)) and bool(np.all(np.isfinite(values)))


def _largest(values: Array) -> int:
    """The largest magnitude."""
    return max(abs(int(values.min())), abs(int(values.max()))) if values.size else 0


# ---- convolution


@dataclass(frozen=True)
class Convolution:
    """The attributes of a convolution; one entry a spatial dimension.

    Attributes:
      window, strides, lhs_dilation, rhs_dilation: sizes and steps.
      reversal: which window dimensions run backwards.
      feature_groups, batch_groups: into how many parts features and batch fall; one of them is 1.
      lhs_order: from the operand's dimensions to [batch, spatial..., feature].
      rhs_order: from the kernel's dimensions to [spatial..., input feature, output feature].
      result_order: from [batch, spatial..., feature] to the result's dimensions.
    """

    window: tuple[int, ...]
    strides: tuple[int, ...]
    lhs_dilation: tuple[int, ...]
    rhs_dilation: tuple[int, ...]
    reversal: tuple[bool, ...]
    feature_groups: int
    batch_groups: int
    lhs_order: tuple[int, ...]
    rhs_order: tuple[int, ...]
    result_order: tuple[int, ...]

    @staticmethod
    def of(op: ir.Operation) -> Convolution:
        """That of a convolution or dynamic_conv."""
        numbers = conv_dimension_numbers(op)
        spatial = list(numbers.kernel_spatial_dimensions)
        ones = [1] * len(spatial)
        output = (numbers.output_batch_dimension, *numbers.output_spatial_dimensions, numbers.output_feature_dimension)
        return Convolution(
            tuple(shape_of(op.operands[1])[d] for d in spatial),
            tuple(int_list(op, "window_strides") or ones),
            tuple(int_list(op, "lhs_dilation") or ones),
            tuple(int_list(op, "rhs_dilation") or ones),
            tuple(map(bool, int_list(op, "window_reversal") or [False] * len(spatial))),
            op.attributes["feature_group_count"].value,
            op.attributes["batch_group_count"].value,
            (numbers.input_batch_dimension, *numbers.input_spatial_dimensions, numbers.input_feature_dimension),
            (*spatial, numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension),
            tuple(int(d) for d in np.argsort(output)),
        )

    def windows(self, lhs: Array, padding: Sequence[Sequence[int]]) -> Array:
        """[batch, spatial..., feature] to [batch, result spatial..., window, feature], the window flattened."""
        low, high = ([0, *(p[side] for p in padding), 0] for side in (0, 1))
        image = padded(lhs, np.zeros((), lhs.dtype), low, high, [0, *(d - 1 for d in self.lhs_dilation), 0])
        reach = [(size - 1) * dilation + 1 for size, dilation in zip(self.window, self.rhs_dilation, strict=True)]
        counts = [
            max((size - extent) // stride + 1, 0)
            for size, extent, stride in zip(image.shape[1:-1], reach, self.strides, strict=True)
        ]
        parts = [image[(slice(None), *self._at(position, counts))] for position in np.ndindex(self.window)]
        return np.stack(parts, -2) if parts else np.empty((lhs.shape[0], *counts, 0, lhs.shape[-1]), lhs.dtype)

    def _at(self, position: Sequence[int], counts: Sequence[int]) -> tuple[slice, ...]:
        """The elements that all windows have at one position."""
        columns = zip(position, counts, self.window, self.strides, self.rhs_dilation, self.reversal, strict=True)
        slices = []
        for place, count, size, stride, dilation, is_reversed in columns:
            start = (size - 1 - place if is_reversed else place) * dilation
            slices.append(slice(start, start + max(count - 1, 0) * stride + min(count, 1), stride))
        return tuple(slices)

    def run(
        self, product: Callable[[Array, Array], Array], lhs: Array, rhs: Array, padding: Sequence[Sequence[int]]
    ) -> Array:
        """Convolve; `product` multiplies matrices. The groups are the matrices' batch."""
        columns = self.windows(lhs.transpose(self.lhs_order), padding)
        batch, *sizes, window, features = columns.shape
        kernel = rhs.transpose(self.rhs_order)
        output_features, groups = kernel.shape[-1], self.feature_groups * self.batch_groups
        columns = columns.reshape(
            self.batch_groups,
            batch // self.batch_groups,
            math.prod(sizes),
            window,
            self.feature_groups,
            features // self.feature_groups,
        )
        left = columns.transpose(0, 4, 1, 2, 3, 5).reshape(
            groups, batch // self.batch_groups * math.prod(sizes), window * (features // self.feature_groups)
        )
        right = kernel.reshape(left.shape[-1], groups, output_features // groups).transpose(1, 0, 2)
        sums = product(left, right).transpose(1, 0, 2)
        return sums.reshape(batch // self.batch_groups, *sizes, output_features).transpose(self.result_order)


def _convolution(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    window, product = Convolution.of(op), _matrix_product(op)
    padding = padding_of(op, len(window.window))
    return lambda inputs: (window.run(product, inputs[0], inputs[1], padding),)


def _dynamic_conv(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    window, product = Convolution.of(op), _matrix_product(op)
    return lambda inputs: (window.run(product, inputs[0], inputs[1], inputs[2].tolist()),)


KERNELS: dict[str, Build] = {
    "stablehlo.convolution": _convolution,
    "stablehlo.dot": _dot_general,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.dynamic_conv": _dynamic_conv,
}
