"""One engine of `bench_runs.py`: compile a model, then run it as often as asked; runs in a process of its own.

    python benchmarks/run_with.py ENGINE MODEL.pt2 [--batch N] [--size N] [--threads N]

Prints lines of JSON. The first says how compiling and a first run went: {"compile": seconds, "first_run": seconds,
"remark": text}, or {"failed": reason}. Then each line N of stdin is answered by a list of the seconds of runs that took
about N seconds together, one at least, and the end of stdin by {"peak_bytes": N}. Imports, loading and, of the engines
that take StableHLO, importing and lowering to integers are not timed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STABLEHLO_VERSION = "1.0.0"
"""Old enough for every consumer."""

LAYER_MULTIPLY_ADDS = 1_000_000
"""About what the layer has that the reference interpreter is measured on."""


@dataclass(frozen=True)
class Task:
    """A quantized program (torch.export.ExportedProgram) and tensors to run it on."""

    program: Any
    inputs: tuple[Any, ...]

    def arrays(self) -> list[Any]:
        """The inputs as NumPy arrays."""
        return [tensor.numpy() for tensor in self.inputs]

    def integer_module(self) -> Any:
        """The program in form `integer`, with XNNPACK's arithmetic."""
        from shlo_quant.importers.pt2e import import_program
        from shlo_quant.pipelines import lower

        return lower(import_program(self.program).module, "integer", "xnnpack")


@dataclass(frozen=True)
class Compiled:
    """What to run and time.

    Attributes:
      scale: by which seconds are multiplied, where a part stands for the whole.
      remark: to be printed beside the times.
    """

    run: Callable[[], object]
    seconds: float
    scale: float = 1.0
    remark: str = ""


def with_fast(task: Task) -> Compiled:
    """Our engine on the integer form."""
    from shlo_quant.engines.fast import FastEngine

    module, arrays = task.integer_module(), task.arrays()
    start = time.perf_counter()
    executable = FastEngine("xnnpack").compile(module)
    return Compiled(lambda: executable.run(arrays), time.perf_counter() - start)


def with_xnnpack(task: Task) -> Compiled:
    """Executorch's lowering and runtime, as they come."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime

    start = time.perf_counter()
    lowered = to_edge_transform_and_lower(task.program, partitioner=[XnnpackPartitioner()]).to_executorch()
    program = Runtime.get().load_program(lowered.buffer)
    method = program.load_method("forward")
    seconds = time.perf_counter() - start
    return Compiled(lambda: (program, method.execute(task.inputs)), seconds)


def with_torch(task: Task) -> Compiled:
    """The Q/DQ graph in eager PyTorch."""
    import torch

    module = task.program.module(check_guards=False)
    return Compiled(torch.no_grad()(lambda: module(*task.inputs)), 0.0)


def with_xla(task: Task) -> Compiled:
    """XLA's CPU compiler on the integer form."""
    import jax
    from jax.extend.backend import get_backend

    from shlo_quant.files import Format, serialize

    artifact = serialize(task.integer_module(), Format("portable", STABLEHLO_VERSION))
    client = get_backend("cpu")
    buffers = [jax.device_put(array) for array in task.arrays()]
    start = time.perf_counter()
    executable = client.compile_and_load(artifact, client.local_devices()[:1])
    seconds = time.perf_counter() - start
    return Compiled(lambda: [result.block_until_ready() for result in executable.execute(buffers)], seconds)


def with_iree(task: Task) -> Compiled:
    """IREE's CPU compiler and runtime on the integer form."""
    from iree import compiler, runtime

    from shlo_quant.files import Format, serialize

    artifact = serialize(task.integer_module(), Format("portable", STABLEHLO_VERSION))
    start = time.perf_counter()
    try:
        binary = compiler.compile_str(
            artifact,
            input_type="stablehlo",
            target_backends=["llvm-cpu"],
            extra_args=["--iree-llvmcpu-target-cpu=host"],
        )
    except compiler.CompilerToolError as error:
        errors = [line for line in str(error).splitlines() if "error:" in line]
        raise RuntimeError((errors or [str(error)])[0]) from error
    seconds = time.perf_counter() - start
    config = runtime.Config("local-task")
    module = runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, binary), config)
    inputs = [runtime.asdevicearray(config.device, array) for array in task.arrays()]
    return Compiled(lambda: module.main(*inputs).to_host(), seconds)


def with_reference(task: Task) -> Compiled:
    """The StableHLO reference interpreter on one layer; its time is extrapolated by multiply-adds."""
    from torch_mlir import ir

    from shlo_quant.engines.reference import ReferenceEngine
    from shlo_quant.inspection import inspect
    from shlo_quant.passes.dot_like import DOT_LIKE, DotLike
    from shlo_quant.passes.rewrite import walk
    from shlo_quant.random_inputs import random_inputs

    module = task.integer_module()
    ops = [op for op in walk(module.operation) if op.name in DOT_LIKE and not _is_grouped(op)]
    layers = [(DotLike.of(op).multiply_adds() or 0, op) for op in ops]
    size, op = min(layers, key=lambda layer: abs(layer[0] - LAYER_MULTIPLY_ADDS))
    with module.context, ir.Location.unknown():
        layer = _alone(op)
    arrays = random_inputs(layer, 0)
    _, whole = inspect(module).multiply_adds
    start = time.perf_counter()
    executable = ReferenceEngine().compile(layer)
    seconds = time.perf_counter() - start
    remark = f"extrapolated from a layer with {size:,} of {whole:,} multiply-adds"
    return Compiled(lambda: executable.run(arrays), seconds, whole / size, remark)


def _is_grouped(op: Any) -> bool:
    """Grouped convolutions take the interpreter longer, and are little of any model's work."""
    return "feature_group_count" in op.attributes and int(op.attributes["feature_group_count"]) > 1


def _alone(op: Any) -> Any:
    """A module whose function computes one op of its arguments."""
    from torch_mlir import ir
    from torch_mlir.dialects import func

    module = ir.Module.create()
    types = [operand.type for operand in op.operands], [result.type for result in op.results]
    with ir.InsertionPoint(module.body):
        block = func.FuncOp("main", types).add_entry_block()
    with ir.InsertionPoint(block):
        copy = op.clone()
        for index, argument in enumerate(block.arguments):
            copy.operands[index] = argument
        func.ReturnOp(list(copy.results))
    return module


ENGINES: dict[str, Callable[[Task], Compiled]] = {
    "fast": with_fast,
    "xnnpack": with_xnnpack,
    "torch": with_torch,
    "xla": with_xla,
    "iree": with_iree,
    "reference": with_reference,
}


def load(model: Path, batch: int, size: int | None) -> Task:
    """The program, exported again if its one input, an image, is to have another batch or size than it has."""
    import torch
    import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401 - registers the ops of quantized programs

    program = torch.export.load(model)
    assert program.example_inputs is not None
    inputs = program.example_inputs[0]
    if batch == 1 and size is None:
        return Task(program, inputs)
    (image,) = inputs
    if size is not None:
        image = torch.nn.functional.interpolate(image, size=size, mode="bilinear")
    image = image.repeat(batch, *[1] * (image.dim() - 1))
    module = program.module(check_guards=False)
    unchecked = torch.fx.GraphModule(module, module.graph)  # the module itself checks the old shape
    return Task(torch.export.export(unchecked, (image,), strict=False), (image,))


def runs(compiled: Compiled, seconds: float) -> list[float]:
    """The times of runs that take so long together, one at least."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        compiled.run()
        times.append((time.perf_counter() - start) * compiled.scale)
    return times


def compile_with(arguments: argparse.Namespace) -> tuple[Compiled, float] | str:
    """Load, compile and run once (the first run is slower than others); or the reason why that is impossible."""
    try:
        compiled = ENGINES[arguments.engine](load(arguments.model, arguments.batch, arguments.size))
        (first,) = runs(compiled, 0)
    except ModuleNotFoundError as error:
        return f"not installed ({error.name})"
    except Exception as error:  # noqa: BLE001 - whatever an engine raises is its result here
        return f"{type(error).__name__}: {(str(error) or '-').splitlines()[0]}"
    return compiled, first


def say(answer: object) -> None:
    """Print one line for the parent."""
    print(json.dumps(answer), flush=True)


def main() -> None:
    """Answer on stdout what stdin asks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("model", type=Path)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--size", type=int, help="height and width of the image")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])  # every engine takes what it may use
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    warnings.filterwarnings("ignore")
    answer = compile_with(arguments)
    if isinstance(answer, str):
        say({"failed": answer})
        return
    compiled, first = answer
    say({"compile": compiled.seconds, "first_run": first, "remark": compiled.remark})
    for line in sys.stdin:
        say(runs(compiled, float(line)))
    say({"peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024})


if __name__ == "__main__":
    main()
