"""Cases of gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.stablehlo import i64s

from .draft import ANY, Case, Draft, block, integer_argument, tensor_type
from .reductions import combination


@dataclass(frozen=True)
class Layout:
    """Shapes and dimension numbers that gather and scatter have in common.

    Attributes:
      operand, indices, windows: shapes, the last of the gathered (or update) tensor.
      sizes: of a window, one an operand dimension.
      offset: the window's dimensions in `windows`.
      collapsed: operand dimensions of windows of size 1 that `windows` lacks.
      operand_batching, indices_batching: dimensions that run along with each other.
      start_map: the operand dimensions that the entries of an index vector stand for.
      vector: the dimension of index vectors.
    """

    operand: list[int]
    indices: list[int]
    windows: list[int]
    sizes: list[int]
    offset: list[int]
    collapsed: list[int]
    operand_batching: list[int]
    indices_batching: list[int]
    start_map: list[int]
    vector: int


def layout(draft: Draft) -> Layout:
    operand = draft.shape(1, 4, zero=0)
    rank = len(operand)
    roles = [draft.draw.choice(("window", "window", "collapsed", "batching")) for _ in operand]
    batching = [d for d in range(rank) if roles[d] == "batching"][:2]
    collapsed = [d for d in range(rank) if roles[d] == "collapsed"]
    windowed = [d for d in range(rank) if d not in batching and d not in collapsed]
    sizes = [draft.draw.randint(1, n) if d in windowed else 1 for d, n in enumerate(operand)]
    batch = [draft.draw.randint(1, 3) for _ in range(draft.draw.randint(0, 2))]
    along = []
    for d in batching:
        place = draft.draw.randint(0, len(batch))
        batch.insert(place, operand[d])
        along = [a + (a >= place) for a in along] + [place]
    startable = [d for d in range(rank) if d not in batching]
    start_map = draft.draw.sample(startable, draft.draw.randint(0, len(startable)))
    indices, vector = batch, len(batch)
    if len(start_map) != 1 or draft.chance(0.7):
        vector = draft.draw.randint(0, len(batch))
        indices = [*batch[:vector], len(start_map), *batch[vector:]]
        along = [a + (a >= vector) for a in along]
    window_rank = len(windowed)
    offset = sorted(draft.draw.sample(range(len(batch) + window_rank), window_rank))
    left, inner = iter(batch), iter([sizes[d] for d in windowed])
    windows = [next(inner if d in offset else left) for d in range(len(batch) + window_rank)]
    return Layout(operand, indices, windows, sizes, offset, collapsed, batching, along, start_map, vector)


def index_vectors(draft: Draft, shape: Sequence[int]) -> ir.Value:
    """Some of them out of range."""
    return draft.value(draft.draw.choice(("i8", "i32", "i64")), shape, range(-2, 6))


def gather(name: str) -> Case:
    def case(draft: Draft) -> Sequence[ir.Value]:
        made, element = layout(draft), draft.draw.choice(ANY)
        numbers = _stablehlo.GatherDimensionNumbers.get(
            made.offset,
            made.collapsed,
            made.operand_batching,
            made.indices_batching,
            made.start_map,
            made.vector,
        )
        operands = [draft.value(element, made.operand), index_vectors(draft, made.indices)]
        attributes = {"dimension_numbers": numbers, "indices_are_sorted": ir.BoolAttr.get(False)}
        if name == "gather":
            attributes["slice_sizes"] = i64s(made.sizes)
        else:
            operands.append(integer_argument(draft, made.sizes, "i64"))
        return draft.op(name, operands, [tensor_type(made.windows, element)], **attributes).results

    return case


def scatter(draft: Draft) -> Sequence[ir.Value]:
    made, count = layout(draft), draft.draw.choice((1, 1, 2))
    elements = [draft.draw.choice((*ANY, "f32")) for _ in range(count)]
    numbers = _stablehlo.ScatterDimensionNumbers.get(
        made.offset,
        made.collapsed,
        made.operand_batching,
        made.indices_batching,
        made.start_map,
        made.vector,
    )
    inputs = [draft.value(element, made.operand) for element in elements]
    updates = [draft.value(element, made.windows) for element in elements]
    attributes = {
        "scatter_dimension_numbers": numbers,
        "indices_are_sorted": ir.BoolAttr.get(False),
        "unique_indices": ir.BoolAttr.get(False),
    }
    operands = [*inputs, index_vectors(draft, made.indices), *updates]
    op = draft.op("scatter", operands, [value.type for value in inputs], regions=1, **attributes)
    replaces = draft.chance(0.3)
    combined = [combination(draft, element) for element in elements]
    with block(op, elements * 2) as arguments:
        pairs = list(zip(arguments[:count], arguments[count:], strict=True))
        values = [new if replaces else f(old, new) for f, (old, new) in zip(combined, pairs, strict=True)]
        stablehlo.create("stablehlo.return", values, [])
    return op.results


CASES: dict[str, Case] = {
    "dynamic_gather": gather("dynamic_gather"),
    "gather": gather("gather"),
    "scatter": scatter,
}
