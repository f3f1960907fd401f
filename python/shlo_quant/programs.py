"""A program by its file, whatever that is: a quantized PyTorch model (.pt2) or a StableHLO program."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from torch_mlir import ir

from shlo_quant.files import read_program
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.errors import Finding, InputError

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from shlo_quant.importers.pt2e import ImportedProgram


def is_pytorch_program(path: str | Path) -> bool:
    """Whether a file is to be read by PyTorch: an archive, or named `.pt2`."""
    return str(path).endswith(".pt2") or (Path(path).is_file() and zipfile.is_zipfile(path))


def load(path: str | Path) -> tuple[ir.Module, tuple[Finding, ...]]:
    """The program in a file, and what its importer found worth telling; a .pt2 comes in form `qdq`.

    Raises: InputError if the file cannot be read or holds a float model; UnsupportedError with every op that cannot be
      imported.
    """
    if not is_pytorch_program(path):
        return read_program(path, new_context()), ()
    _, imported = load_pytorch_program(path)
    return imported.module, imported.findings


def load_pytorch_program(path: str | Path) -> tuple[ExportedProgram, ImportedProgram]:
    """The program in a .pt2 file, as PyTorch has it and imported. Raises: as `load`."""
    from shlo_quant.importers.checks import NOT_QUANTIZED, QUANTIZE_FIRST  # torch is slow to import
    from shlo_quant.importers.pt2e import import_program, load_program

    program = load_program(path)
    imported = import_program(program)
    if not imported.is_quantized:
        raise InputError(f"{path}: not a quantized model: {NOT_QUANTIZED}; {QUANTIZE_FIRST}")
    return program, imported
