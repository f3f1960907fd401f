"""`UniformType`: one value object over MLIR's per-tensor and per-axis quantized types.

The bindings' type constructors check nothing (scale 0, NaN, zero points out of range, a negative axis that crashes the
verifier); this one checks everything when it is built. Spec: "Quantized types", constraints C1 to C13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import quant

from shlo_quant.passes.errors import ParameterError

STORAGE_BITS = (2, 4, 8, 16, 32)


@dataclass(frozen=True)
class UniformType:
    """A quantized element type.

    Attributes:
      storage_type: MLIR integer type that holds the stored integers, as in the IR (signless, or `uiN`).
      is_signed: whether stored integers are signed; `u8` is signless storage with is_signed False.
      expressed_type: MLIR float type that the stored integers stand for.
      scales: positive, finite; one, or one per slice of the quantized dimension.
      zero_points: as many as scales, each within storage_min .. storage_max.
      quantized_dimension: None for per-tensor.
      storage_min, storage_max: bounds of stored integers, both inclusive.
    Raises: ParameterError when a value is out of its range.
    """

    storage_type: ir.IntegerType
    is_signed: bool
    expressed_type: ir.Type
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    quantized_dimension: int | None
    storage_min: int
    storage_max: int

    def __post_init__(self) -> None:
        if self.storage_type.width not in STORAGE_BITS:
            raise ParameterError(f"storage type must have {STORAGE_BITS} bits, got {self.storage_type}")
        lowest, highest = integer_range(self.storage_type.width, self.is_signed)
        if not lowest <= self.storage_min < self.storage_max <= highest:
            raise ParameterError(
                f"storage bounds must satisfy {lowest} <= min < max <= {highest}, "
                f"got {self.storage_min} and {self.storage_max}"
            )
        if len(self.scales) != len(self.zero_points):
            raise ParameterError(f"got {len(self.scales)} scales but {len(self.zero_points)} zero points")
        for scale in self.scales:
            if not 0 < scale < math.inf:
                raise ParameterError(f"scale must be positive and finite, got {scale}")
        for zero_point in self.zero_points:
            if not self.storage_min <= zero_point <= self.storage_max:
                raise ParameterError(
                    f"zero point must lie in [{self.storage_min}, {self.storage_max}], got {zero_point}"
                )
        if self.quantized_dimension is None and len(self.scales) != 1:
            raise ParameterError(f"a per-tensor type has one scale, got {len(self.scales)}")
        if self.quantized_dimension is not None and (self.quantized_dimension < 0 or not self.scales):
            raise ParameterError(
                f"a per-axis type needs a quantized dimension >= 0 and a scale, got {self.quantized_dimension}"
            )

    @property
    def is_per_axis(self) -> bool:
        return self.quantized_dimension is not None

    @property
    def scale(self) -> float:
        """The scale of a per-tensor type."""
        (scale,) = self.scales
        return scale

    @property
    def zero_point(self) -> int:
        """The zero point of a per-tensor type."""
        (zero_point,) = self.zero_points
        return zero_point

    @property
    def has_zero_point(self) -> bool:
        """Whether any zero point differs from 0."""
        return any(self.zero_points)

    @property
    def storage_bits(self) -> int:
        """The width of the stored integers."""
        return int(self.storage_type.width)

    @property
    def integer_type(self) -> ir.IntegerType:
        """The element type of the stored integers in a program without quantized types: `iN` or `uiN`."""
        bits = self.storage_type.width
        make = ir.IntegerType.get_signless if self.is_signed else ir.IntegerType.get_unsigned
        return make(bits, self.storage_type.context)

    @property
    def element_type(self) -> ir.Type:
        """The MLIR quantized type."""
        flags = quant.QuantizedType.FLAG_SIGNED if self.is_signed else 0
        bounds = (self.storage_min, self.storage_max)
        if self.quantized_dimension is None:
            return quant.UniformQuantizedType.get(
                flags, self.storage_type, self.expressed_type, self.scale, self.zero_point, *bounds
            )
        return quant.UniformQuantizedPerAxisType.get(
            flags,
            self.storage_type,
            self.expressed_type,
            list(self.scales),
            list(self.zero_points),
            self.quantized_dimension,
            *bounds,
        )

    def tensor_like(self, tensor: ir.Type) -> ir.RankedTensorType:
        """The tensor type with this element type and the shape (and bounds encoding) of `tensor`."""
        return with_element_type(tensor, self.element_type)


def integer_range(bits: int, is_signed: bool) -> tuple[int, int]:
    """Smallest and largest integer of a width."""
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)


def signed_type(
    bits: int,
    scales: Sequence[float],
    zero_points: Sequence[int],
    quantized_dimension: int | None = None,
    bounds: tuple[int, int] | None = None,
    expressed_type: ir.Type | None = None,
) -> UniformType:
    """A type with signed storage; bounds default to the storage type's whole range, the expressed type to f32."""
    storage_min, storage_max = bounds or integer_range(bits, True)
    return UniformType(
        ir.IntegerType.get_signless(bits),
        True,
        expressed_type or ir.F32Type.get(),
        tuple(scales),
        tuple(zero_points),
        quantized_dimension,
        storage_min,
        storage_max,
    )


def uniform_type(value_or_type: ir.Value | ir.Type) -> UniformType | None:
    """The quantized element type of a value, tensor type or element type; None if it has none.

    Sub-channel, any and calibrated types are no `UniformType`: None as well (see `is_quantized`).
    """
    element = _element_type(value_or_type)
    if isinstance(element, quant.UniformQuantizedType):
        scales, zero_points, dimension = [element.scale], [element.zero_point], None
    elif isinstance(element, quant.UniformQuantizedPerAxisType):
        scales, zero_points, dimension = element.scales, element.zero_points, element.quantized_dimension
    else:
        return None
    return UniformType(
        element.storage_type,
        element.is_signed and not element.storage_type.is_unsigned,
        element.expressed_type,
        tuple(scales),
        tuple(zero_points),
        dimension,
        element.storage_type_min,
        element.storage_type_max,
    )


def is_quantized(value_or_type: ir.Value | ir.Type) -> bool:
    """Whether a value or type is a tensor of (or is) any type of the quant dialect."""
    return isinstance(_element_type(value_or_type), quant.QuantizedType)


def with_element_type(tensor: ir.Type, element: ir.Type) -> ir.RankedTensorType:
    """The tensor type of the same shape and encoding with another element type."""
    return ir.RankedTensorType.get(tensor.shape, element, tensor.encoding)


def expressed_tensor(tensor: ir.Type) -> ir.RankedTensorType:
    """The tensor type of the floats that a quantized tensor stands for."""
    return with_element_type(tensor, quant.QuantizedType(tensor.element_type).expressed_type)


def _element_type(value_or_type: ir.Value | ir.Type) -> ir.Type:
    found = value_or_type.type if isinstance(value_or_type, ir.Value) else value_or_type
    return found.element_type if isinstance(found, ir.ShapedType) else found
