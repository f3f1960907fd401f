"""Source locations as people read them: `model.py:12 (layer1.0.conv)`."""

from __future__ import annotations

from torch_mlir import ir

from shlo_quant.passes.errors import Finding


def describe(location: ir.Location) -> str:
    """One line: file and line, and the module path in parentheses; whatever of the two is known."""
    names, files = _parts(location)
    if files and names:
        return f"{files[0]} ({names[0]})"
    return files[0] if files else names[0] if names else "unknown location"


def module_path(location: ir.Location) -> str:
    """The PyTorch module path that a location carries, or ""."""
    names, _ = _parts(location)
    return names[0] if names else ""


def with_tensor_name(location: ir.Location, name: str) -> ir.Location:
    """The location of an op whose result is the quantized tensor `name`; `describe` reads the same from it."""
    return ir.Location.fused([location], metadata=ir.StringAttr.get(name, location.context), context=location.context)


def tensor_name(location: ir.Location) -> str:
    """The name that `with_tensor_name` put into a location, or "".

    An importer names quantized tensors as their model does; names survive passes and bytecode, not text.
    """
    location = ir.Location.from_attr(location.attr, location.context)
    if not isinstance(location, ir.FusedLoc):
        return ""
    name = location.metadata and location.metadata.maybe_downcast()
    if isinstance(name, ir.StringAttr):
        return str(name.value)
    return next(filter(None, map(tensor_name, location.locations)), "")


def finding(op: ir.Operation, reason: str, remedy: str = "") -> Finding:
    """A `Finding` about `op`, with its location."""
    return Finding(describe(op.location), op.name, reason, remedy)


def _parts(location: ir.Location) -> tuple[list[str], list[str]]:
    """Names and file positions of a location, the innermost first."""
    location = ir.Location.from_attr(location.attr, location.context)  # diagnostics come without their class
    if isinstance(location, ir.NameLoc):
        names, files = _parts(location.child_loc)
        return [location.name_str, *names], files
    if isinstance(location, ir.FileLineColLoc):
        column = f":{location.start_col}" if location.start_col else ""
        return [], [f"{location.filename}:{location.start_line}{column}"]
    if isinstance(location, ir.CallSiteLoc):
        return _parts(location.callee)
    if isinstance(location, ir.FusedLoc):
        inner = [_parts(child) for child in location.locations]
        return [n for names, _ in inner for n in names], [f for _, files in inner for f in files]
    return [], []
