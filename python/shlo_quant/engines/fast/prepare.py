"""A program as the fast engine compiles it: one function, plain types, static shapes."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from shlo_quant.passes.base import ModulePass, UpstreamPasses, run_passes
from shlo_quant.passes.dialects.modules import copy_module, entry_function, function_name, signature
from shlo_quant.passes.dialects.quant import is_quantized
from shlo_quant.passes.dialects.stablehlo import DYNAMIC
from shlo_quant.passes.errors import EngineError
from shlo_quant.passes.legalize_quant_to_math import LegalizeQuantToMath
from shlo_quant.passes.rewrite import walk

INLINE = UpstreamPasses(text="inline,symbol-dce")
CLEAN_UP = UpstreamPasses(text="canonicalize,cse")


def prepared(module: ir.Module, arithmetic: str) -> ir.Module:
    """A copy of a program with all calls inlined into its entry function and quantized types written out.

    Args:
      arithmetic: the profile by which quantized ops are computed.
    Raises: InputError if no function can be the entry; UnsupportedError for quantized ops that cannot be written out.
    """
    program = copy_module(module)
    entry = entry_function(program)
    for function in walk(program.operation, "func.func"):
        visibility = "public" if function == entry else "private"
        function.attributes["sym_visibility"] = ir.StringAttr.get(visibility, program.context)
    passes: list[ModulePass] = [INLINE, CLEAN_UP]
    if _has_quantized_types(program):
        passes += [LegalizeQuantToMath(arithmetic), CLEAN_UP]
    return run_passes(program, passes)


def is_static(program: ir.Module) -> bool:
    """Whether every shape in the program is known."""
    values = [value for op in walk(program.operation) for value in _values(op)]
    return all(DYNAMIC not in v.type.shape for v in values if isinstance(v.type, ir.RankedTensorType))


def specialized(program: ir.Module, shapes: Sequence[Sequence[int]]) -> ir.Module:
    """A copy for arguments of given shapes, in which every shape is known.

    Raises: EngineError if shapes depend on values.
    """
    copy = copy_module(program)
    entry = entry_function(copy)
    if function_name(entry) != "main":
        entry.attributes["sym_name"] = ir.StringAttr.get("main", copy.context)
    arguments, _ = signature(entry)
    with copy.context, ir.Location.unknown():
        types = [ir.RankedTensorType.get(s, t.element_type) for s, t in zip(shapes, arguments, strict=True)]
    refine = (
        f"stablehlo-refine-arguments{{types={','.join(map(str, types))}}},"
        "stablehlo-refine-shapes,func.func(stablehlo-canonicalize-dynamism),canonicalize,cse"
    )
    try:
        run_passes(copy, [UpstreamPasses(text=refine)])
    except ir.MLIRError as error:
        raise EngineError(f"fast engine: the shapes {[list(s) for s in shapes]} do not fit: {error}") from None
    if not is_static(copy):
        raise EngineError(f"fast engine: with inputs of shapes {[list(s) for s in shapes]} some shape is still unknown")
    return copy


def _has_quantized_types(program: ir.Module) -> bool:
    return any(is_quantized(value) for op in walk(program.operation) for value in _values(op))


def _values(op: ir.Operation) -> list[ir.Value]:
    arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
    return [*op.results, *arguments]
