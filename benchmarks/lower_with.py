"""One side of `bench.py`: load a `.pt2`, lower it, write the result; print the seconds that lowering and writing took.

    python benchmarks/lower_with.py {shlo-quant | executorch} MODEL.pt2 OUTPUT

Timed is what `shlo-quant lower --to integer --format bytecode` does, and
`to_edge_transform_and_lower(..., partitioner=[XnnpackPartitioner()]).to_executorch()`, both from a loaded program to a
written file. Imports and loading are not timed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

Lower = Callable[[torch.export.ExportedProgram, Path], None]


def with_shlo_quant() -> Lower:
    """Our side."""
    from shlo_quant.files import Format, write_program
    from shlo_quant.importers.pt2e import import_program
    from shlo_quant.pipelines import lower

    def run(program: torch.export.ExportedProgram, output: Path) -> None:
        write_program(lower(import_program(program).module, "integer"), output, Format("bytecode"))

    return run


def with_executorch() -> Lower:
    """Executorch's side."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    def run(program: torch.export.ExportedProgram, output: Path) -> None:
        lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch()
        with output.open("wb") as stream:
            lowered.write_to_file(stream)

    return run


def main() -> None:
    """Print the seconds on the last line of stdout."""
    import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401 - registers the ops of quantized programs

    lower = {"shlo-quant": with_shlo_quant, "executorch": with_executorch}[sys.argv[1]]()
    program = torch.export.load(sys.argv[2])
    start = time.perf_counter()
    lower(program, Path(sys.argv[3]))
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
