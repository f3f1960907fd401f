"""Whole modules: copies, and the function that a program starts with."""

from __future__ import annotations

import io

from torch_mlir import ir

from shlo_quant.passes.errors import InputError


def bytecode(module: ir.Module) -> bytes:
    """The module as MLIR bytecode, source locations included."""
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


def copy_module(module: ir.Module) -> ir.Module:
    """An independent copy in the same context; large constants are shared."""
    return ir.Module.parse(bytecode(module), module.context)


def entry_function(module: ir.Module) -> ir.Operation:
    """The `func.func` that a program starts with: `main`, or the only one.

    Raises: InputError if there is none.
    """
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    named_main = [op for op in functions if function_name(op) == "main"]
    if named_main or len(functions) == 1:
        return (named_main or functions)[0]
    names = ", ".join(function_name(op) for op in functions) or "none"
    raise InputError(f"a program needs a function `main`, or one function only; it has: {names}")


def function_name(function: ir.Operation) -> str:
    """The symbol name of a `func.func`."""
    return str(ir.StringAttr(function.attributes["sym_name"]).value)


def signature(function: ir.Operation) -> tuple[list[ir.Type], list[ir.Type]]:
    """Argument and result types of a `func.func`."""
    function_type = function.attributes["function_type"].value
    return list(function_type.inputs), list(function_type.results)
