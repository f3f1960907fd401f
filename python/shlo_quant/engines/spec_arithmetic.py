"""Write a quantized program out as the StableHLO specification defines it, for the reference interpreter.

This is the judge's own reading of the spec: it shares no arithmetic with `stablehlo-legalize-quant-to-math`, which is
judged by it, and tests hold it against upstream's lowering of quantize and dequantize. What it does, in order:

1. Data movement works on stored integers. Dot and convolution sum exact integers (in f64: the spec leaves the
   precision of the sum open), as does add in 32-bit storage, which adds a bias to such sums. A sum counts steps of
   lhs scale * rhs scale: stored as it is if those are the result's, else multiplied out and quantized in f32.
2. Every other op becomes dequantize, op, quantize (`stablehlo-legalize-quantized-op-to-qdq`).
3. Quantize and dequantize become float ops of the expressed type, and quantized types the integers that store them.

    quantize:    convert(round_nearest_even(clamp(storage_min, x / scale + zero_point, storage_max)))
    dequantize:  (stored - zero_point) * scale, the difference without overflow
"""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.base import run_passes
from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array, stored_constant
from shlo_quant.passes.dialects.locations import finding
from shlo_quant.passes.dialects.quant import UniformType, is_quantized, uniform_type, with_element_type
from shlo_quant.passes.dot_like import DOT_LIKE, DotLike, broadcast_parameter
from shlo_quant.passes.errors import Finding, UnsupportedError
from shlo_quant.passes.legalize_quantized_op_to_qdq import LegalizeQuantizedOpToQdq
from shlo_quant.passes.rewrite import Rule, apply_rules, convert_types, walk

STEP = "spec arithmetic"

DATA_MOVEMENT = tuple(
    f"stablehlo.{name}"
    for name in (
        "broadcast_in_dim concatenate dynamic_broadcast_in_dim dynamic_gather dynamic_pad dynamic_reshape "
        "dynamic_slice dynamic_update_slice gather pad reshape reverse select slice transpose"
    ).split()
)

TYPE_INDEPENDENT = frozenset(
    f"stablehlo.{name}"
    for name in (
        "bitcast_convert case composite custom_call get_dimension_size get_tuple_element if optimization_barrier "
        "return sort tuple while"
    ).split()
) | {"func.func", "func.call", "func.return"}
"""Ops whose meaning does not depend on the parameters of the quantized values they pass on."""

REGION_OPS = frozenset(f"stablehlo.{name}" for name in "reduce reduce_window scatter select_and_scatter map".split())
"""Ops that hand elements to a region: right on stored integers if all types are one type."""


def lower_by_spec(module: ir.Module) -> None:
    """Replace everything quantized in `module` by its definition, in place.

    Arguments and results of quantized type become tensors of their stored integers, `iN` or `uiN`.
    Raises: UnsupportedError listing every op without a definition here.
    """
    with module.context, ir.Location.unknown():
        exact: dict[str, Rule] = dict.fromkeys(DATA_MOVEMENT, _move_stored)
        exact |= dict.fromkeys(DOT_LIKE, _sum_products)
        exact["stablehlo.add"] = _add_wide
        apply_rules(module, exact, STEP)
        run_passes(module, [LegalizeQuantizedOpToQdq()])
        _check_left(module)
        casts: dict[str, Rule] = {
            "stablehlo.uniform_quantize": _quantize,
            "stablehlo.uniform_dequantize": _dequantize,
            "stablehlo.constant": _constant,
        }
        apply_rules(module, casts, STEP)
        convert_types(module, _stored_type)
        module.operation.verify()


# ---- on stored integers, exactly


def _move_stored(op: ir.Operation) -> ir.Value | None:
    """Data movement with one set of parameters: the op on stored integers."""
    result = op.results[0]
    quantized = [v.type for v in (*op.operands, result) if is_quantized(v)]
    if not quantized or not is_quantized(result):
        return None
    if op.name in ("stablehlo.select", "stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_gather"):
        scales = {(t.scales, t.zero_points) for v in quantized if (t := uniform_type(v)) is not None}
        if len(scales) > 1:
            return None  # these the verifier lets through with different parameters
    operands = [_stored(v) if is_quantized(v) else v for v in op.operands]
    moved = stablehlo.clone_with(op, operands, [_stored_type(result.type)]).results[0]
    return stablehlo.bitcast_convert(moved, result.type)


def _sum_products(op: ir.Operation) -> ir.Value | None:
    """Dot or convolution of two quantized operands. Zero padding is right, as zero points are subtracted before."""
    dot = DotLike.of(op)
    lhs, rhs, result = uniform_type(dot.lhs), uniform_type(dot.rhs), uniform_type(dot.result)
    if lhs is None or rhs is None or result is None:
        return None
    operands = [_shifted(dot.lhs, lhs), _shifted(dot.rhs, rhs)]
    sums = stablehlo.clone_with(op, operands, [_f64_like(dot.result)]).results[0]
    rhs_scales = np.asarray(rhs.scales)
    if rhs.quantized_dimension is not None:
        shape = [1] * len(dot.result.type.shape)
        shape[dot.result_dimensions[rhs.quantized_dimension]] = -1
        rhs_scales = rhs_scales.reshape(shape)
    if _is_product_of_scales(lhs.scale * rhs_scales, result, len(dot.result.type.shape)):
        return _store(sums, result, dot.result.type)
    wide = isinstance(result.expressed_type, ir.F64Type)
    steps = stablehlo.convert(sums, result.expressed_type if wide else ir.F32Type.get())
    expressed = stablehlo.elementwise("multiply", steps, _parameter(lhs.scale * rhs_scales, steps))
    scales = broadcast_parameter(result.scales, result, len(dot.result.type.shape))
    return _store(stablehlo.elementwise("divide", expressed, _parameter(scales, expressed)), result, dot.result.type)


def _is_product_of_scales(products: Array, result: UniformType, rank: int) -> bool:
    """Whether the result's scales are the products, to f32: then sums are stored integers as they are."""
    scales = broadcast_parameter(result.scales, result, rank)
    return bool(np.all(np.asarray(scales, np.float32) == np.asarray(products, np.float32)))


def _add_wide(op: ir.Operation) -> ir.Value | None:
    """Add with a 32-bit result: exact where the scales agree, which f32 is not beyond 2^24."""
    result = uniform_type(op.results[0])
    if result is None or result.storage_type.width != 32 or op.parent.name in REGION_OPS:
        return None
    rank = len(op.results[0].type.shape)
    terms = []
    for operand in op.operands:
        uniform = uniform_type(operand)
        assert uniform is not None, "the verifier wants both operands quantized"
        ratios = broadcast_parameter(uniform.scales, uniform, rank) / broadcast_parameter(result.scales, result, rank)
        difference = _shifted(operand, uniform)
        terms.append(stablehlo.elementwise("multiply", difference, _parameter(ratios, difference)))
    return _store(stablehlo.elementwise("add", *terms), result, op.results[0].type)


def _shifted(value: ir.Value, uniform: UniformType) -> ir.Value:
    """Stored integer minus zero point, exactly, in f64."""
    stored = stablehlo.convert(_stored(value), ir.F64Type.get())
    zero_points = broadcast_parameter(uniform.zero_points, uniform, len(value.type.shape))
    return stablehlo.elementwise("subtract", stored, _parameter(zero_points, stored))


# ---- quantize, dequantize, constants


def _quantize(op: ir.Operation) -> ir.Value:
    """`uniform_quantize` of a float; a requantize has become dequantize and quantize before."""
    operand, uniform = op.operands[0], uniform_type(op.results[0])
    assert uniform is not None
    scales = broadcast_parameter(uniform.scales, uniform, len(operand.type.shape))
    return _store(stablehlo.elementwise("divide", operand, _parameter(scales, operand)), uniform, op.results[0].type)


def _store(value: ir.Value, uniform: UniformType, result_type: ir.Type) -> ir.Value:
    """From a float value in steps to the stored integer: zero point, clamp, round, convert."""
    element = value.type.element_type
    zero_points = broadcast_parameter(uniform.zero_points, uniform, len(value.type.shape))
    shifted = stablehlo.elementwise("add", value, _parameter(zero_points, value))
    lowest = stablehlo.constant(np.float64(uniform.storage_min), element)
    highest = stablehlo.constant(np.float64(uniform.storage_max), element)
    clamped = stablehlo.elementwise("clamp", lowest, shifted, highest)
    rounded = stablehlo.elementwise("round_nearest_even", clamped)
    return stablehlo.bitcast_convert(stablehlo.convert(rounded, uniform.integer_type), result_type)


def _dequantize(op: ir.Operation) -> ir.Value:
    operand, uniform = op.operands[0], uniform_type(op.operands[0])
    assert uniform is not None
    rank = len(operand.type.shape)
    stored = stablehlo.convert(_stored(operand), ir.IntegerType.get_signless(64))
    zero_points = _parameter(broadcast_parameter(uniform.zero_points, uniform, rank), stored)
    difference = stablehlo.convert(stablehlo.elementwise("subtract", stored, zero_points), uniform.expressed_type)
    scales = _parameter(broadcast_parameter(uniform.scales, uniform, rank), difference)
    return stablehlo.elementwise("multiply", difference, scales)


def _constant(op: ir.Operation) -> ir.Value | None:
    """A quantized constant: its stored integers, with their true sign."""
    result, uniform = op.results[0], uniform_type(op.results[0])
    if uniform is None:
        return None
    return stablehlo.bitcast_convert(stablehlo.constant(stored_constant(result), uniform.integer_type), result.type)


# ---- types


def _stored(value: ir.Value) -> ir.Value:
    """A quantized value as its stored integers."""
    return stablehlo.bitcast_convert(value, _stored_type(value.type))


def _stored_type(mlir_type: ir.Type) -> ir.Type:
    """The plain type of the stored integers of a quantized tensor type; other types as they are."""
    if isinstance(mlir_type, ir.TupleType):
        return ir.TupleType.get_tuple([_stored_type(mlir_type.get_type(i)) for i in range(mlir_type.num_types)])
    uniform = uniform_type(mlir_type)
    return mlir_type if uniform is None else with_element_type(mlir_type, uniform.integer_type)


def _f64_like(value: ir.Value) -> ir.Type:
    return with_element_type(value.type, ir.F64Type.get())


def _parameter(values: Array, like: ir.Value) -> ir.Value:
    """Numbers, of shape [1, ..., n, ..., 1], as a tensor of the type of `like`."""
    tensor = like.type
    if values.size == 1 and stablehlo.DYNAMIC not in tensor.shape:
        return stablehlo.splat(values.item(), tensor)
    small = stablehlo.constant(values if values.size > 1 else values.reshape(()), tensor.element_type)
    dimensions = range(len(tensor.shape)) if values.size > 1 else ()
    if stablehlo.DYNAMIC not in tensor.shape:
        return stablehlo.broadcast_in_dim(small, tensor, dimensions)
    attributes = {"broadcast_dimensions": stablehlo.i64s(dimensions)}
    operands = [small, _shape_of(like)]
    return stablehlo.create("stablehlo.dynamic_broadcast_in_dim", operands, [tensor], attributes).results[0]


def _shape_of(value: ir.Value) -> ir.Value:
    """The sizes of a tensor as a tensor of i32."""
    one = ir.RankedTensorType.get([1], ir.IntegerType.get_signless(32))
    i64 = ir.IntegerType.get_signless(64)
    sizes = []
    for dimension in range(len(value.type.shape)):
        size = stablehlo.elementwise("get_dimension_size", value, dimension=ir.IntegerAttr.get(i64, dimension))
        sizes.append(stablehlo.reshape(size, one))
    return stablehlo.elementwise("concatenate", *sizes, dimension=ir.IntegerAttr.get(i64, 0))


def _check_left(module: ir.Module) -> None:
    """Raise UnsupportedError for ops that would mean something else on stored integers."""
    findings = [found for op in walk(module.operation) if (found := _reason_against(op)) is not None]
    if findings:
        raise UnsupportedError(STEP, findings)


def _reason_against(op: ir.Operation) -> Finding | None:
    values = [*op.operands, *op.results]
    if op.name in ("stablehlo.constant", "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"):
        return None
    if op.name in TYPE_INDEPENDENT or not any(is_quantized(v) for v in values):
        return None
    if op.name in REGION_OPS:
        values += [a for region in op.regions for block in region.blocks for a in block.arguments]
        if len({uniform_type(v) for v in values if is_quantized(v)}) == 1:
            return None
        return finding(op, "operands, results and region must have one quantized type")
    return finding(op, "no definition on quantized types is known")
