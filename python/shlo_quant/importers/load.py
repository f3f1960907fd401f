"""Read a `.pt2` file into an ExportedProgram, with one clear message for whatever is not one."""

from __future__ import annotations

import json
import pickle
import warnings
import zipfile
from pathlib import Path

import torch
import torch.ao.quantization.fx._decomposed  # registers the quantized_decomposed ops, without which loading fails
from torch.export import ExportedProgram

from shlo_quant.passes.errors import InputError

_REMEDY = "write it with torch.export.save(torch.export.export(converted, inputs), path)"

# what torch.export.load has been seen to raise on damaged archives
_LOAD_ERRORS = (
    RuntimeError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    EOFError,
    OSError,
    json.JSONDecodeError,
    pickle.UnpicklingError,
    zipfile.BadZipFile,
)


def load_program(path: str | Path) -> ExportedProgram:
    """Load an exported program.

    Raises: InputError if the file is missing, is no `.pt2` archive, is damaged, or needs ops that are not registered.
    """
    path = Path(path)
    _check_archive(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # torch's own, about its pytree
            return torch.export.load(path)
    except _LOAD_ERRORS as error:
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{path}: torch.export.load failed: {first_line}; the file is damaged or made by another "
            f"version than torch {torch.__version__}, or an op library must be imported first"
        ) from error


def _check_archive(path: Path) -> None:
    """Raise InputError unless `path` is a zip archive with the marks of torch.export.save."""
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if not path.is_file():
        raise InputError(f"{path}: not a file")
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty; {_REMEDY}")
    if not zipfile.is_zipfile(path):
        raise InputError(f"{path}: not a .pt2 file (no zip archive, or cut short); {_REMEDY}")
    with zipfile.ZipFile(path) as archive:
        names = {name.split("/", 1)[-1] for name in archive.namelist()}
    if "archive_format" in names or "serialized_exported_program.json" in names:
        return
    kind = "a TorchScript file" if "constants.pkl" in names else "a torch.save file" if "data.pkl" in names else "a zip"
    raise InputError(f"{path}: not a .pt2 file but {kind}; {_REMEDY}")
