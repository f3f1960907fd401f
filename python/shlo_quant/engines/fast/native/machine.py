"""What the machine has: instructions, threads, the OpenMP runtime."""

from __future__ import annotations

import functools
import importlib.util
import os
from pathlib import Path

from shlo_quant.passes.errors import EngineError

REQUIRED_FLAGS = frozenset("avx512f avx512bw avx512vl avx512_vnni".split())


@functools.cache
def has_byte_products() -> bool:
    """Whether the CPU multiplies and adds bytes four at a time in 32 bits (AVX-512 VNNI), without saturation."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return False
    flags = next((line for line in info.read_text().splitlines() if line.startswith("flags")), "")
    return set(flags.split()) >= REQUIRED_FLAGS


def available_threads() -> int:
    """`OMP_NUM_THREADS`, or one for each CPU this process may use."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return int(wanted) if wanted.isdigit() and int(wanted) > 0 else len(os.sched_getaffinity(0))


@functools.cache
def openmp_library() -> str:
    """The OpenMP runtime that PyTorch brings, so that both use one pool of threads.

    Raises: EngineError if it is not there.
    """
    torch = importlib.util.find_spec("torch")
    folders = torch.submodule_search_locations if torch else None
    found = [str(p) for folder in folders or () for p in sorted(Path(folder, "lib").glob("libgomp*.so*"))]
    if not found:
        raise EngineError("fast engine: PyTorch's installation has no libgomp")
    return found[0]
