"""What every test may count on: one computing thread a process, hypothesis without deadlines, a fresh MLIR context."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything imports numpy or torch

from torch_mlir import ir

from shlo_quant.passes.dialects.context import new_context

# derandomized: the same examples on every machine and in every run
hypothesis.settings.register_profile("shlo-quant", deadline=None, derandomize=True, max_examples=200)
hypothesis.settings.load_profile("shlo-quant")


@pytest.fixture
def context() -> Iterator[ir.Context]:
    """A context with all dialects, entered together with an unknown location."""
    with new_context() as context, ir.Location.unknown():
        yield context
