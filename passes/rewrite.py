"""Rewriting on MLIR objects: `Rewriter` for ops, `convert_types` for types.

The bindings crash on handles of erased ops and on erased ops that still have uses. `Rewriter` therefore frees
nothing while handles are alive: collect, rewrite, free last; misuse is a Python error with a location. The hash of an
op changes with its operands and attributes (that of a value does not), so ops that are rewritten are no keys.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

from torch_mlir import ir

from shlo_quant.passes.dialects.locations import describe, finding
from shlo_quant.passes.errors import Finding, Unsupported, UnsupportedError


class Rewriter:
    """Replace and erase ops under a root; freed when the `with` block ends without an exception.

    with Rewriter(module) as rewriter:
        for op in rewriter.ops("stablehlo.abs"):
            with rewriter.before(op):
                rewriter.replace(op, elementwise("negate", op.operands[0]))
    """

    def __init__(self, module: ir.Module) -> None:
        self._root = module.operation
        self._dead: list[ir.Operation] = []

    def __enter__(self) -> Rewriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._free()

    def ops(self, *names: str) -> Iterator[ir.Operation]:
        """Every live op of these names (all if none is given) in program order, a parent before its regions.

        A snapshot: ops created later are not visited, ops erased meanwhile are skipped.
        """
        for op in walk(self._root, *names):
            if not self.is_dead(op):
                yield op

    @contextlib.contextmanager
    def before(self, op: ir.Operation) -> Iterator[None]:
        """Insertion point and location for the ops that replace `op`."""
        with ir.InsertionPoint(op), op.location:
            yield

    def replace(self, op: ir.Operation, values: ir.Value | Sequence[ir.Value]) -> None:
        """Redirect all uses of the op's results to values of the same types, and erase it."""
        replacements = [values] if isinstance(values, ir.Value) else list(values)
        results = list(op.results)
        assert len(replacements) == len(results), (
            f"{op.name} has {len(results)} results, got {len(replacements)} values"
        )
        for result, value in zip(results, replacements, strict=True):
            assert result.type == value.type, f"{op.name}: replacing {result.type} by {value.type}"
            result.replace_all_uses_with(value)
        self.erase(op)

    def erase(self, op: ir.Operation) -> None:
        """Mark an op as gone: no user any more, freed at the end, when it must have no uses."""
        self._dead.append(op)
        op.attributes[_DEAD] = ir.UnitAttr.get()

    def is_dead(self, op: ir.Operation) -> bool:
        """Whether an earlier rewrite took this op."""
        return _DEAD in op.attributes

    def _free(self) -> None:
        """Free erased ops, users before producers; those inside a dead parent go with it."""
        left = [op for op in self._dead if not self._inside_dead(op)]
        while left:
            kept = []
            for op in reversed(left):
                if any(has_uses(result) for result in op.results):
                    kept.append(op)
                else:
                    op.erase()
            assert len(kept) < len(left), f"{describe(kept[0].location)}: erased {kept[0].name} still has uses"
            left = kept[::-1]
        self._dead = []

    def _inside_dead(self, op: ir.Operation) -> bool:
        parent = op.parent
        while parent is not None:
            if self.is_dead(parent):
                return True
            parent = parent.parent
        return False


_DEAD = "shlo_quant.dead"  # on ops that a Rewriter is about to free, so that `users` can leave them out

Rule = Callable[[ir.Operation], "ir.Value | Sequence[ir.Value] | None"]


def apply_rules(module: ir.Module, rules: dict[str, Rule], step: str) -> None:
    """Offer every op, in program order, to the rule of its name; replace it by what the rule returns.

    A rule returns the new value(s), or None for "not mine" before it has built anything. It runs with insertion point
    and location set.
    Raises: UnsupportedError listing every op whose rule raised `Unsupported`.
    """
    findings: list[Finding] = []
    with Rewriter(module) as rewriter:
        for op in rewriter.ops(*rules):
            with rewriter.before(op):
                try:
                    values = rules[op.name](op)
                except Unsupported as problem:
                    findings.append(finding(op, problem.reason, problem.remedy))
                    continue
            if values is not None:
                rewriter.replace(op, values)
    if findings:
        raise UnsupportedError(step, findings)


def walk(root: ir.Operation, *names: str) -> list[ir.Operation]:
    """All ops under (and including) `root` of these names, all if none is given; a parent before its regions."""
    found: list[ir.Operation] = []
    wanted = frozenset(names)

    def visit(op: ir.Operation) -> ir.WalkResult:
        if not wanted or op.name in wanted:
            found.append(op)
        return ir.WalkResult.ADVANCE  # the bindings crash on None, and lose the type of exceptions raised here

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def defining_op(value: ir.Value, *names: str) -> ir.Operation | None:
    """The op that makes `value` if its name is one of `names` (any, if none is given); None for block arguments."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation
    return op if not names or op.name in names else None


def has_uses(value: ir.Value) -> bool:
    """Whether any op uses the value."""
    return next(iter(value.uses), None) is not None


def users(value: ir.Value) -> list[ir.Operation]:
    """The ops that use a value, one entry a use; ops that a Rewriter has erased are left out."""
    owners = (use.owner.operation for use in value.uses)
    return [owner for owner in owners if _DEAD not in owner.attributes]


def single_user(value: ir.Value) -> ir.Operation | None:
    """The op behind the only use of a value; None if there is no use or more than one."""
    found = users(value)
    return found[0] if len(found) == 1 else None


def erase_dead_ops(module: ir.Module) -> None:
    """Erase ops without side effects whose results nobody uses (StableHLO, and what importers leave), backwards."""
    for op in reversed(walk(module.operation)):
        if op.results and op.name not in SIDE_EFFECTS and not any(has_uses(r) for r in op.results):
            op.erase()


SIDE_EFFECTS = frozenset(
    {
        "stablehlo.custom_call",
        "stablehlo.while",
        "stablehlo.outfeed",
        "stablehlo.infeed",
        "stablehlo.send",
        "stablehlo.recv",
        "stablehlo.all_reduce",
        "func.call",
    }
)


def convert_types(module: ir.Module, convert: Callable[[ir.Type], ir.Type]) -> None:
    """Change types everywhere at once: results, block arguments, function signatures.

    `convert` returns the new type, or the same one for no change. Ops whose meaning depends on the old type have to be
    rewritten before; the verifier checks the rest.
    """
    for op in walk(module.operation):
        for result in op.results:
            _set_type(result, convert)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    _set_type(argument, convert)
        if op.name == "func.func":
            signature = op.attributes["function_type"].value
            op.attributes["function_type"] = ir.TypeAttr.get(
                ir.FunctionType.get([convert(t) for t in signature.inputs], [convert(t) for t in signature.results])
            )


def _set_type(value: ir.Value, convert: Callable[[ir.Type], ir.Type]) -> None:
    new = convert(value.type)
    if new != value.type:
        value.set_type(new)
