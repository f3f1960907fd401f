"""From a block of ops to a plan: what runs natively, in which groups, where every value lies.

A value lies in a view of a buffer if native code makes or reads it, otherwise in a slot, as an array. Transposes,
reshapes, slices and broadcasts of views are views; a pad is a buffer whose border is filled once, and what is padded
is written straight into its middle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.blocks import LoweredBlock, Node
from shlo_quant.engines.fast.native import products
from shlo_quant.engines.fast.native.choices import Border, Choices
from shlo_quant.engines.fast.native.epilogue import Epilogue
from shlo_quant.engines.fast.native.expressions import DType, Expression
from shlo_quant.engines.fast.native.groups import Group
from shlo_quant.engines.fast.native.kernels import TABLE, Access, Fold, Kernel, Map
from shlo_quant.engines.fast.native.lowering import Context, lower_group
from shlo_quant.engines.fast.native.memory import Buffer, arrange
from shlo_quant.engines.fast.native.products import Windowed
from shlo_quant.engines.fast.native.program import Call, Copy, Plan, Step, Task
from shlo_quant.engines.fast.native.views import BIAS, View, loop_dimensions
from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.dialects.stablehlo import int_list

INT8 = np.dtype(np.int8)


def make_plan(block: LoweredBlock, arguments: Sequence[ir.Value]) -> Plan:
    """Plan a block whose shapes are static."""
    return _Planner(block, arguments).plan()


class _Planner:
    def __init__(self, block: LoweredBlock, arguments: Sequence[ir.Value]) -> None:
        self._nodes = block.nodes
        self._arguments = arguments
        self._results = block.results
        self._constants = block.constants
        self._context = Context(block.constants, {node.op: node.kernel for node in block.nodes})
        self._buffers: list[Buffer] = []
        self._constant_views: dict[ir.Value, View] = {}
        self._steps: list[Step] = []
        self._views: dict[ir.Value, View] = {}
        self._padded: dict[ir.Operation, View] = {}
        self._slots: dict[ir.Value, int] = {}
        self._behind: dict[ir.Value, frozenset[int]] = {}
        self._choices = Choices(block)

    def plan(self) -> Plan:
        for slot, value in enumerate(self._arguments):
            self._slots[value] = slot
            self._behind[value] = frozenset()
        for node in self._nodes:
            self._place(node)
        results = tuple(self._result(v) for v in self._results)
        steps = _with_dead_slots(self._steps, results)
        return Plan(tuple(self._buffers), arrange(self._buffers), steps, len(self._slots), results)

    # ---- steps

    def _place(self, node: Node) -> None:
        op = node.op
        if op in self._choices.groups:
            self._place_group(self._choices.groups[op])
        elif op in self._choices.taken:
            return
        elif op in self._choices.windowed:
            source = op.results[0]
            self._place_windowed(self._choices.windowed[op], Expression((numpy_dtype(source),)), [], source)
        elif op in self._choices.folds:
            self._place_fold(op, self._choices.folds[op])
        elif op in self._choices.moves and (op.operands[0] in self._views or self._is_argument(op.operands[0])):
            self._place_move(op)
        else:
            self._place_call(node)

    def _place_group(self, group: Group) -> None:
        lowered = lower_group(group, self._context)
        shape = tuple(group.root.type.shape)
        if group.source is not None:
            inputs = [self._input(value, shape) for value in lowered.inputs[1:]]
            self._place_windowed(self._choices.windowed[group.source], lowered.expression, inputs, group.root)
            return
        inputs = [self._input(value, shape) for value in lowered.inputs]
        computed = [i for i in inputs if not self._buffers[i.buffer].is_constant]
        output = self._new_view(group.root, self._order(group.root, computed))
        self._map(lowered.expression, inputs, output)

    def _input(self, value: ir.Value | Array, shape: tuple[int, ...]) -> View:
        """Where an expression reads an input. Tables have a shape of their own and are read whole."""
        if isinstance(value, ir.Value):
            return self._view(value, shape)
        view = self._constant(value)
        if view.shape == (TABLE,) and value.dtype.itemsize == 1:
            return replace(self._stored(value), shape=shape, strides=(0,) * len(shape), is_table=True)
        return view if view.shape == shape else view.broadcast(shape, ())

    def _map(self, expression: Expression, inputs: Sequence[View], output: View) -> None:
        """Add a task that computes an expression for every element."""
        views = [*inputs, output]
        dimensions = list(output.order)
        dimensions.append(dimensions.pop(_vector_dimension(views, dimensions)))
        sizes, strides = loop_dimensions(
            [output.shape[d] for d in dimensions],
            [[v.strides[d] * v.dtype.itemsize for d in dimensions] for v in views],
        )
        *sources, target = [Access(v.dtype, s, v.biased, v.is_table) for v, s in zip(views, strides, strict=True)]
        kernel = Map(sizes, expression, tuple(sources), target)
        self._task(kernel, views, math.prod(sizes) * (1 + len(expression.instructions)) // kernel.nest.lanes * 8)

    def _place_windowed(
        self, windowed: Windowed, expression: Expression, inputs: Sequence[View], root: ir.Value
    ) -> None:
        source = self._padded_operand(windowed)
        output = self._new_view(root, self._choices.demanded_order(root) or products.order(windowed.result))
        epilogue = Epilogue(
            expression,
            tuple(Access(v.dtype, products.strides_in(v, windowed.result), v.biased, v.is_table) for v in inputs),
            Access(output.dtype, products.strides_in(output, windowed.result), output.biased),
        )
        factors = self._factors(windowed)
        kernel, constants = products.kernel_for(windowed, source, factors, epilogue)
        second = map(self._stored, constants) if factors is None else [factors]
        work = windowed.multiply_adds // (16 if windowed.combine == "product" else 2)
        self._task(kernel, [source, *second, *inputs, output], work)

    def _place_fold(self, op: ir.Operation, combine: str) -> None:
        operand, initial = (self._view(value) for value in op.operands)
        reduced = int_list(op, "dimensions") or []
        kept = [d for d in range(len(operand.shape)) if d not in reduced]
        output = self._new_view(op.results[0], self._choices.demanded_order(op.results[0]))
        size = operand.dtype.itemsize
        sizes, strides = loop_dimensions(
            output.shape, [[size * operand.strides[d] for d in kept], [size * stride for stride in output.strides]]
        )
        source, target = (Access(v.dtype, s, v.biased) for v, s in zip((operand, output), strides, strict=True))
        runs, (steps,) = loop_dimensions(
            [operand.shape[d] for d in sorted(reduced)], [[size * operand.strides[d] for d in sorted(reduced)]]
        )
        kernel = Fold(sizes, combine, tuple(zip(runs, steps, strict=True)), source, target)
        self._task(kernel, [operand, initial, output], math.prod(operand.shape))

    def _factors(self, windowed: Windowed) -> View | None:
        """The second operand of a sum of terms, channels side by side."""
        if windowed.factors is None:
            return None
        value, channel = windowed.op.operands[1], windowed.factors[-1]
        wanted = products.order(windowed.factors)
        if value in self._constants:
            stored = self._stored(np.ascontiguousarray(self._constants[value].transpose(wanted)))
            return stored.transposed([wanted.index(d) for d in range(len(wanted))])
        view = self._view(value)
        return view if view.strides[channel] == 1 or view.shape[channel] == 1 else self._copied(view, wanted)

    def _padded_operand(self, windowed: Windowed) -> View:
        """The operand with its padding, channels side by side."""
        op, border = windowed.op, self._choices.border(windowed.op)
        view, wanted = self._view(op.operands[0]), products.order(windowed.operand)
        if border is not None:
            return self._padded.get(op) or self._pad(view, border, wanted)
        channel = windowed.operand[-1]
        is_ready = windowed.factors is not None or view.strides[channel] == 1 or view.shape[channel] == 1
        if windowed.reads_slack and not self._has_slack(view):
            is_ready = False
        return view if is_ready else self._copied(view, wanted)

    def _has_slack(self, view: View) -> bool:
        """Whether bytes behind the buffer may be read; those behind an argument are the caller's."""
        buffer = self._buffers[view.buffer]
        return buffer.argument is None and not buffer.is_constant

    def _copied(self, view: View, order: Sequence[int]) -> View:
        """A copy without gaps in this order of dimensions."""
        dense = self._dense(view.shape, order, view.dtype, view.biased)
        self._map(Expression((view.dtype,)), [view], dense)
        return dense

    def _place_move(self, op: ir.Operation) -> None:
        result = op.results[0]
        view, shape = self._view(op.operands[0]), tuple(result.type.shape)
        border = self._choices.border(op)
        if border is not None:
            order = self._choices.demanded_order(result) or view.order
            self._views[result] = self._padded.get(op) or self._pad(view, border, order)
            return
        moved = _moved(op, view, shape)
        if moved is None:
            moved = _moved(op, self._copied(view, range(len(view.shape))), shape)
            assert moved is not None, "dense elements can take any shape"
        self._views[result] = moved

    def _pad(self, view: View, border: Border, order: Sequence[int]) -> View:
        padded, inner = self._bordered(view.shape, border, order, view.dtype, view.biased)
        self._map(Expression((view.dtype,)), [view], inner)
        return padded

    def _place_call(self, node: Node) -> None:
        operands = tuple(self._operand(v) for v in node.operands)
        behind = frozenset().union(*(self._buffers_behind(v) for v in node.operands))
        slots = []
        for result in node.op.results:
            slots.append(self._slots.setdefault(result, len(self._slots)))
            self._behind[result] = behind
        self._use(behind)
        self._steps.append(Call(node.kernel, operands, tuple(slots)))

    def _task(self, kernel: Kernel, views: Sequence[View], work: int) -> None:
        self._use({v.buffer for v in views})
        self._steps.append(Task(kernel, tuple(views), work))

    def _use(self, buffers: Sequence[int] | set[int] | frozenset[int]) -> None:
        for number in buffers:
            self._buffers[number].used(len(self._steps))

    # ---- where values lie

    def _view(self, value: ir.Value, shape: Sequence[int] | None = None) -> View:
        """Where native code reads a value; a scalar repeats over `shape`."""
        if value in self._constants:
            view = self._constant_views.get(value)
            if view is None:
                view = self._constant_views[value] = self._constant(self._constants[value])
        elif value in self._views:
            view = self._views[value]
        elif self._is_argument(value) and not self._is_rearranged(value):
            self._buffers.append(Buffer(0, argument=self._slots[value]))
            shape_of_value = tuple(value.type.shape)
            view = View.dense(len(self._buffers) - 1, shape_of_value, range(len(shape_of_value)), numpy_dtype(value))
            self._views[value] = view
        else:
            view = self._new_view(value, self._choices.demanded_order(value), may_be_biased=False)
            self._use({view.buffer, *self._behind[value]})
            self._steps.append(Copy(self._slots[value], view))
        return view if shape is None or view.shape == tuple(shape) else view.broadcast(shape, ())

    def _is_argument(self, value: ir.Value) -> bool:
        return value in self._slots and self._slots[value] < len(self._arguments)

    def _is_rearranged(self, value: ir.Value) -> bool:
        """Whether native code wants a value in another order of dimensions, or with a border."""
        orders = (None, tuple(range(len(value.type.shape))))
        return bool(self._choices.pads(value)) or self._choices.demanded_order(value) not in orders

    def _operand(self, value: ir.Value) -> View | int:
        """Where a kernel on arrays reads a value."""
        if value in self._slots:
            return self._slots[value]
        return self._view(value)

    def _result(self, value: ir.Value) -> View | int:
        found = self._operand(value)
        self._use(self._buffers_behind(value))
        return found

    def _buffers_behind(self, value: ir.Value) -> frozenset[int]:
        """The buffers that a value may be a view of."""
        if value in self._slots:
            return self._behind[value]
        return frozenset([self._view(value).buffer])

    def _constant(self, array: Array) -> View:
        """A view of a buffer that holds a constant once; dimensions along which it repeats have stride 0."""
        kept = array
        for dimension in range(array.ndim):
            first = kept[(slice(None),) * dimension + (slice(0, 1),)]
            if kept.shape[dimension] > 1 and _equal_bits(kept, first):
                kept = first
        return self._stored(kept).broadcast(array.shape, range(array.ndim))

    def _stored(self, array: Array) -> View:
        """A view of a buffer that holds a constant element by element."""
        self._buffers.append(Buffer(array.nbytes, np.frombuffer(array.tobytes(), np.uint8), is_constant=True))
        return View.dense(len(self._buffers) - 1, array.shape, range(array.ndim), array.dtype)

    def _new_view(self, value: ir.Value, order: Sequence[int] | None, *, may_be_biased: bool = True) -> View:
        """A place for a value that native code is about to write: inside a border, if one will be put around it."""
        shape, dtype = tuple(value.type.shape), numpy_dtype(value)
        order = order or range(len(shape))
        wants_bias = dtype == INT8 and self._choices.may_be_biased(value) and self._choices.wants_bias(value)
        biased = may_be_biased and wants_bias
        pads = self._choices.pads(value)
        if pads:
            self._padded[pads[0].owner], view = self._bordered(shape, pads[0], order, dtype, biased)
        else:
            view = self._dense(shape, order, dtype, biased)
        self._views[value] = view
        return view

    def _dense(self, shape: Sequence[int], order: Sequence[int], dtype: DType, biased: bool) -> View:
        self._buffers.append(Buffer(math.prod(shape) * dtype.itemsize))
        return replace(View.dense(len(self._buffers) - 1, shape, order, dtype), biased=biased)

    def _bordered(
        self, shape: Sequence[int], border: Border, order: Sequence[int], dtype: DType, biased: bool
    ) -> tuple[View, View]:
        """A buffer with a border, whole and without it."""
        whole = [low + size + high for low, size, high in zip(border.low, shape, border.high, strict=True)]
        fill = np.array(border.value, dtype)
        stored = (fill.view(np.uint8) ^ np.uint8(BIAS)) if biased else fill
        content = np.full(math.prod(whole), stored).view(np.uint8)
        self._buffers.append(Buffer(content.nbytes, content))
        padded = replace(View.dense(len(self._buffers) - 1, whole, order, dtype), biased=biased)
        return padded, padded.window(border.low, shape)

    def _order(self, value: ir.Value, inputs: Sequence[View]) -> tuple[int, ...] | None:
        """The order of dimensions for a value: what its readers need, or else that of what it is made from."""
        demanded = self._choices.demanded_order(value)
        if demanded is not None:
            return demanded
        whole = [v for v in inputs if all(s or n == 1 for s, n in zip(v.strides, v.shape, strict=True))]
        return whole[0].order if whole else None


def _moved(op: ir.Operation, view: View, shape: tuple[int, ...]) -> View | None:
    """The view that a transpose, slice, broadcast or reshape makes; None if there is none."""
    if op.name == "stablehlo.transpose":
        return view.transposed(int_list(op, "permutation") or [])
    if op.name == "stablehlo.slice":
        return view.window(int_list(op, "start_indices") or [], shape, int_list(op, "strides"))
    if op.name == "stablehlo.broadcast_in_dim":
        return view.broadcast(shape, int_list(op, "broadcast_dimensions") or [])
    return view.reshaped(shape)


def _vector_dimension(views: Sequence[View], dimensions: Sequence[int]) -> int:
    """Which of the dimensions vectors lie along: most operands contiguous, the innermost of the output if in doubt."""

    def cost(position: int) -> tuple[int, int]:
        dimension = dimensions[position]
        scattered = sum(v.strides[dimension] not in (0, 1) for v in views)
        is_short = views[-1].shape[dimension] < min(16, max(views[-1].shape))
        return scattered + is_short, -position

    return min(range(len(dimensions)), key=cost) if dimensions else 0


def _equal_bits(kept: Array, first: Array) -> bool:
    bits = f"u{kept.dtype.itemsize}"
    return bool(np.all(np.asarray(kept, order="C").view(bits) == np.asarray(first, order="C").view(bits)))


def _with_dead_slots(steps: Sequence[Step], results: Sequence[View | int]) -> tuple[Step, ...]:
    """Note for each call which slots nobody reads after it."""
    seen = {r for r in results if isinstance(r, int)}
    reversed_steps: list[Step] = []
    for step in reversed(steps):
        if isinstance(step, Call):
            used = {o for o in step.operands if isinstance(o, int)} | set(step.results)
            reversed_steps.append(replace(step, dead=tuple(sorted(used - seen))))
            seen |= used
        else:
            reversed_steps.append(step)
            if isinstance(step, Copy):
                seen.add(step.source)
    return tuple(reversed(reversed_steps))
