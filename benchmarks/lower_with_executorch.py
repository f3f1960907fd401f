"""Lower a `.pt2` for XNNPACK with executorch and write the `.pte`: the other side of `bench.py`.

python benchmarks/lower_with_executorch.py MODEL.pt2 OUTPUT.pte
"""

import sys
from pathlib import Path

import torch
import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401 - registers the ops of quantized programs
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower

if __name__ == "__main__":
    program = torch.export.load(sys.argv[1])
    lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch()
    with Path(sys.argv[2]).open("wb") as stream:
        lowered.write_to_file(stream)
