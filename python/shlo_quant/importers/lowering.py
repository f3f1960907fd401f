"""Torch dialect to StableHLO with torch-mlir's C++ passes; when they fail, which ops they failed on."""

from __future__ import annotations

from torch_mlir import ir

from shlo_quant.passes.base import UpstreamPasses, run_passes
from shlo_quant.passes.dialects.locations import describe
from shlo_quant.passes.errors import Finding, UnsupportedError
from shlo_quant.passes.rewrite import defining_op, walk

# torch-mlir's own pipelines, less stablehlo-refine-shapes, which crashes on quantized types
PIPELINE = (
    UpstreamPasses("torchdynamo-export-to-torch-backend-pipeline{backend-legal-ops= extra-library=}"),
    UpstreamPasses(
        "func.func(convert-torch-to-stablehlo,chlo-legalize-to-stablehlo,convert-torch-to-arith,canonicalize,cse),"
        "torch-func-backend-type-conversion-for-stablehlo,"
        "func.func(canonicalize,torch-finalizing-backend-type-conversion-for-stablehlo,"
        "stablehlo-canonicalize-dynamism,canonicalize)"
    ),
)

# ops that only make sense together with their user
_OPERAND_OPS = ("torch.prim.ListConstruct", "torch.prim.TupleConstruct", "torch.vtensor.literal")


def lower_to_stablehlo(module: ir.Module) -> None:
    """Lower `main` from the torch dialect to StableHLO (with remains of arith and shape), in place.

    Raises: UnsupportedError with every op that torch-mlir has no lowering for.
    """
    original = module.operation.clone(ip=False)
    try:
        run_passes(module, PIPELINE)
    except ir.MLIRError as error:
        findings = [found for op in walk(original) if (found := _lowering_error(op)) is not None]
        raise UnsupportedError("import", findings or [_whole_program(error)]) from None


def _lowering_error(op: ir.Operation) -> Finding | None:
    """Why an op of the torch dialect cannot be lowered on its own, None if it can."""
    if not op.name.startswith("torch.") or op.name.startswith("torch.constant.") or op.name in _OPERAND_OPS:
        return None
    try:
        run_passes(_alone(op), PIPELINE)
    except ir.MLIRError:
        name = ir.StringAttr(op.attributes["name"]).value if op.name == "torch.operator" else op.name
        return Finding(
            describe(op.location), name.removeprefix("torch."), "torch-mlir has no lowering to StableHLO for it"
        )
    return None


def _alone(op: ir.Operation) -> ir.Module:
    """A module whose `main` is one op, its tensors arguments, its constants and lists with it."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body), op.location:
        arguments = list(dict.fromkeys(_leaves(op)))
        results = [result.type for result in op.results]
        function = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get("main"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([value.type for value in arguments], results)),
            },
            regions=1,
        )
        block = function.regions[0].blocks.append(*(value.type for value in arguments))
        copies = dict(zip(arguments, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            copy = _copy(op, copies)
            ir.Operation.create("func.return", operands=list(copy.results))
    return module


def _operand_op(value: ir.Value) -> ir.Operation | None:
    """The op that makes a constant or list operand."""
    owner = defining_op(value)
    return (
        owner
        if owner is not None and (owner.name.startswith("torch.constant.") or owner.name in _OPERAND_OPS)
        else None
    )


def _leaves(op: ir.Operation) -> list[ir.Value]:
    """The values that an op and its lists depend on, constants left out."""
    found = []
    for value in op.operands:
        owner = _operand_op(value)
        found += [value] if owner is None else _leaves(owner)
    return found


def _copy(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> ir.Operation:
    """Copy an op, and the constants and lists it takes, at the insertion point."""
    for value in op.operands:
        owner = _operand_op(value)
        if owner is not None and value not in copies:
            copies[value] = _copy(owner, copies).results[0]
    copy = op.clone(ip=ir.InsertionPoint.current)
    for index, value in enumerate(op.operands):
        copy.operands[index] = copies[value]
    return copy


def _whole_program(error: ir.MLIRError) -> Finding:
    """A failure that no single op accounts for."""
    diagnostics = error.error_diagnostics
    if not diagnostics:
        return Finding("program", "main", str(error))
    return Finding(describe(diagnostics[0].location), "main", diagnostics[0].message)
