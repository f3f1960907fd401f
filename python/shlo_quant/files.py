"""Programs and arrays on disk.

What is read is recognized by its content; what is written appears whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast, get_args

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.locations import describe
from shlo_quant.passes.dialects.modules import bytecode, copy_module
from shlo_quant.passes.errors import InputError
from shlo_quant.passes.rewrite import walk

STDIO = "-"
"""The path that stands for stdin or stdout."""

SPLIT_MARKER = "// -----"
"""Begins a line between two programs in one file."""

BYTECODE_MAGIC = b"ML\xefR"
PORTABLE_PRODUCER = re.compile(rb"ML\xefR.StableHLO_v", re.DOTALL)  # magic, one byte of version, producer
ZIP_MAGIC = b"PK\x03\x04"


Kind = Literal["text", "bytecode", "portable"]


@dataclass(frozen=True)
class Format:
    """How a program is stored.

    Text is readable and without source locations; bytecode has them; the portable artifact is what other versions of
    StableHLO read.

    Args:
      version: of the portable artifact, such as "1.15.0"; "" for the newest, and for the other kinds.
    """

    kind: Kind = "text"
    version: str = ""

    @staticmethod
    def parse(text: str) -> Format:
        """From "text", "bytecode", "portable" or "portable@VERSION". Raises: InputError for anything else."""
        kind, separator, version = text.partition("@")
        if kind not in get_args(Kind) or (separator and kind != "portable"):
            raise InputError(f"format is text, bytecode, portable or portable@VERSION, got '{text}'")
        if not separator:
            return Format(cast(Kind, kind))
        oldest, newest = _stablehlo.get_minimum_version(), _stablehlo.get_current_version()
        if not re.fullmatch(r"\d+\.\d+\.\d+", version) or not _key(oldest) <= _key(version) <= _key(newest):
            raise InputError(f"the portable format has versions {oldest} to {newest}, got '{version}'")
        return Format("portable", version)


# ---- programs


def read_program(path: str | Path, context: ir.Context) -> ir.Module:
    """Read a program in any format; "-" is stdin.

    Args:
      context: with all dialects loaded (`new_context`).
    Raises: InputError, one line, if there is no such file or it holds no program that can be read.
    """
    return load_program(read_bytes(path), str(path), context)


def load_program(data: bytes, name: str, context: ir.Context) -> ir.Module:
    """As `read_program`, from the content of a file that messages call `name`."""
    messages: list[str] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        messages.append(f"{describe(diagnostic.location)}: {diagnostic.message}")
        return True

    try:
        with context.attach_diagnostic_handler(collect):
            return parse_program(data, name, context)
    except ir.MLIRError as error:
        messages += [f"{describe(d.location)}: {d.message}" for d in error.error_diagnostics]
        raise InputError(_first_message(name, messages, "not a valid program")) from None
    except (ValueError, RuntimeError):  # RuntimeError: a message that is no text, of damaged bytecode
        raise InputError(_first_message(name, messages, "damaged, or of another version")) from None


def _first_message(name: str, messages: list[str], otherwise: str) -> str:
    """One line of all that MLIR had to say; it calls its input "-"."""
    if not messages:
        return f"{name}: {otherwise}"
    message = messages[0].splitlines()[0]
    return f"{name}{message[1:]}" if message.startswith("-:") else f"{name}: {otherwise}: {message}"


def read_bytes(path: str | Path) -> bytes:
    """The content of a file, of stdin for "-". Raises: InputError if it cannot be read."""
    if str(path) == STDIO:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {_reason(error)}") from None


def parse_program(data: bytes, name: str, context: ir.Context) -> ir.Module:
    """A module from the content of a file.

    Args:
      name: what error messages call the file.
    Raises: InputError for what is no program at all; MLIRError or ValueError (damaged portable artifact), which call
      the file "-", for one that MLIR refuses.
    """
    if PORTABLE_PRODUCER.match(data):
        return _stablehlo.deserialize_portable_artifact(context, data)
    if data.startswith(BYTECODE_MAGIC):
        return ir.Module.parse(data, context)
    if data.startswith(ZIP_MAGIC):
        raise InputError(f"{name}: an archive, not a StableHLO program; a .pt2 file is an input of `shlo-quant lower`")
    if not data.strip():
        raise InputError(f"{name}: the file is empty")
    module = ir.Module.parse(decode(data, name), context)
    for op in walk(module.operation):  # MLIR calls what it parses from memory "-"
        location = op.location
        if isinstance(location, ir.FileLineColLoc) and location.filename == "-":
            op.location = ir.Location.file(name, location.start_line, location.start_col, context)
    return module


def split_input(text: str) -> list[str]:
    """The programs of a text with `// -----` lines between them; blank ones are left out.

    Each stands behind as many blank lines as keep the numbers of its lines.
    """
    parts = [""]
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if line.startswith(SPLIT_MARKER):
            parts.append("\n" * number)
        else:
            parts[-1] += line
    return [part for part in parts if part.strip()]


def decode(data: bytes, name: str) -> str:
    """Text from UTF-8. Raises: InputError for other bytes."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: neither MLIR bytecode nor UTF-8 text (byte {error.start})") from None
    if "\0" in text:
        raise InputError(f"{name}: neither MLIR bytecode nor text (byte {text.index(chr(0))} is zero)")
    return text


def write_program(module: ir.Module, path: str | Path, form: Format | None = None) -> None:
    """Write a program, "-" for stdout; the module is not changed.

    Raises: InputError if the file cannot be written, or the program has ops that the portable format does not.
    """
    write_bytes(serialize(module, form or Format()), path)


def serialize(module: ir.Module, form: Format) -> bytes:
    """The content of a program file. Raises: InputError if the portable format cannot hold the program."""
    if form.kind == "text":
        return bytes(module.operation.get_asm(assume_verified=True).encode())
    if form.kind == "bytecode":
        return bytecode(module)
    version = form.version or _stablehlo.get_current_version()
    messages: list[str] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        messages.append(f"{describe(diagnostic.location)}: {diagnostic.message}".splitlines()[0])
        return True

    with module.context.attach_diagnostic_handler(collect):
        try:
            artifact = _stablehlo.serialize_portable_artifact(copy_module(module), version)  # makes its argument VHLO
        except ValueError:
            foreign = [f"{describe(op.location)}: {op.name}" for op in walk(module.operation) if _is_foreign(op)]
            reason = (foreign or messages or ["no reason given"])[0]
            raise InputError(f"StableHLO {version} cannot hold this program: {reason}") from None
    return bytes(artifact)


def _is_foreign(op: ir.Operation) -> bool:
    return op.name.partition(".")[0] not in ("builtin", "func", "stablehlo")


# ---- arrays


def read_arrays(path: str | Path) -> list[Array]:
    """The arrays of an `.npz` file: in the order of their numbers if they are named arg0, arg1, ..., else as stored.

    Raises: InputError if the file cannot be read or holds Python objects.
    """
    from zipfile import BadZipFile

    try:
        with Path(path).open("rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InputError(f"{path}: one array, not an .npz archive")
            names = list(archive)
            if all(re.fullmatch(r"arg\d+", name) for name in names):
                names.sort(key=lambda name: int(name[3:]))
            arrays = [archive[name] for name in names]
            return [array.astype(array.dtype.newbyteorder("="), copy=False) for array in arrays]
    except OSError as error:
        raise InputError(f"{path}: {_reason(error)}") from None
    except (ValueError, EOFError, BadZipFile) as error:
        raise InputError(f"{path}: not an .npz archive of plain arrays ({error})") from None


def write_arrays(arrays: Mapping[str, Array], path: str | Path) -> None:
    """Write an `.npz` file. Raises: InputError if it cannot be written."""
    with atomic(path) as stream:
        np.savez(stream, allow_pickle=False, **arrays)


# ---- whole files


def write_bytes(data: bytes, path: str | Path) -> None:
    """Write a file whole or not at all, to stdout for "-". Raises: InputError if it cannot be written."""
    if str(path) == STDIO:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with atomic(path) as stream:
        stream.write(data)


@contextlib.contextmanager
def atomic(path: str | Path) -> Iterator[BinaryIO]:
    """A stream that becomes the file `path` when the block ends, and nothing if it fails.

    Devices and pipes are written to directly. Raises: InputError if the file cannot be written.
    """
    target = Path(path)
    is_special = target.exists() and not target.is_file()
    written = target if is_special else target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with written.open("wb") as stream:
            yield stream
        if not is_special:
            written.replace(target)
    except OSError as error:
        raise InputError(f"{path}: {_reason(error)}") from None
    finally:
        if not is_special:
            written.unlink(missing_ok=True)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
