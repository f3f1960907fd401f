"""What the machine has: instructions, threads, the OpenMP runtime."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from pathlib import Path

from shlo_quant.passes.errors import EngineError

ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA = 158, 0x1023, 18
"""Linux's number of a system call, and its arguments that ask for the use of tiles."""

AVX512 = frozenset("avx512f avx512bw avx512dq avx512vl".split())


def has_byte_products() -> bool:
    """Whether the CPU multiplies and adds bytes four at a time in 32 bits (AVX-512 VNNI), without saturation."""
    return _flags() >= AVX512 | {"avx512_vnni"} or has_tiles()


@functools.cache
def has_tiles() -> bool:
    """Whether the CPU has tiles of signed bytes (AMX), and the system lets this process use them, as of now."""
    if not _flags() >= AVX512 | {"amx_tile", "amx_int8"}:
        return False
    answer: int = ctypes.CDLL(None).syscall(ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
    return answer == 0


def has_byte_permutations() -> bool:
    """Whether the CPU looks up bytes in registers (AVX-512 VBMI)."""
    return _flags() >= AVX512 | {"avx512vbmi"}


@functools.cache
def _flags() -> frozenset[str]:
    """The CPU's features as Linux names them; none if it does not say."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())


def available_threads() -> int:
    """`OMP_NUM_THREADS`, or one for each CPU this process may use."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return int(wanted) if wanted.isdecimal() and int(wanted) > 0 else len(os.sched_getaffinity(0))


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
