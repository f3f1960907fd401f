"""Programs and arrays on disk: formats recognized by content, whole files or none, one line for what is wrong."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

from shlo_quant import files
from shlo_quant.files import Format, read_arrays, read_program, split_input, write_arrays, write_program
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.locations import describe
from shlo_quant.passes.dialects.modules import entry_function
from shlo_quant.passes.errors import InputError

PROGRAM = """module {
  func.func @main(%arg0: tensor<2x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2xf32> {
    %0 = stablehlo.uniform_dequantize %arg0 : (tensor<2x!quant.uniform<u8:f32, 5.000000e-01:3>>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""


@pytest.mark.parametrize("form", ["text", "bytecode", "portable", "portable@1.15.0"])
def test_programs_come_back_from_every_format(form: str, tmp_path: Path) -> None:
    source, target = tmp_path / "program.mlir", tmp_path / "program"
    source.write_text(PROGRAM)
    module = read_program(source, new_context())
    write_program(module, target, Format.parse(form))
    assert str(read_program(target, new_context())) == PROGRAM
    assert str(module) == PROGRAM


def test_locations_name_the_file_and_are_kept_in_bytecode(tmp_path: Path) -> None:
    source, target = tmp_path / "program.mlir", tmp_path / "program.mlirbc"
    source.write_text(PROGRAM)
    write_program(read_program(source, new_context()), target, Format.parse("bytecode"))
    module = read_program(target, new_context())
    first = entry_function(module).regions[0].blocks[0].operations[0]
    assert describe(first.location) == f"{source}:3:10"
    assert "loc" not in str(module)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"func.func @main( {", ":1:16: error: |:1:17: "),
        (b"func.func @main() { return %x : i1 }", "undeclared SSA value"),
        (PROGRAM.replace("-> tensor<2x", "-> tensor<3x").encode(), "use of value '%0' expects different type"),
        (b"hello", "custom op 'hello' is unknown"),
        (b"\xff\xfe\x00", r"neither MLIR bytecode nor UTF-8 text \(byte 0\)"),
        (b"a\0b", r"neither MLIR bytecode nor text \(byte 1 is zero\)"),
        (b"PK\x03\x04rest", "`shlo-quant lower`"),
        (b"ML\xefR", "at the end of the bytecode"),
        (b"ML\xefR\x0dStableHLO_v1.19.0\0", "damaged|missing data"),
    ],
)
def test_what_is_no_program_gets_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_program(path, new_context())
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("form", ["bytecode", "portable"])
def test_cut_files_are_refused(form: str, tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_text(PROGRAM)
    write_program(read_program(path, new_context()), path, Format.parse(form))
    whole = path.read_bytes()
    for length in range(4, len(whole) - 1, 23):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            read_program(path, new_context())


def test_missing_files_and_directories(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.mlir: no such file or directory"):
        read_program(tmp_path / "missing.mlir", new_context())
    with pytest.raises(InputError, match="is a directory"):
        read_program(tmp_path, new_context())


@pytest.mark.parametrize(
    "text", ["binary", "text@1.0.0", "portable@", "portable@1.0", "portable@99.0.0", "portable@0.1.0"]
)
def test_wrong_formats_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        Format.parse(text)


def test_what_the_portable_format_cannot_hold_leaves_nothing_behind(tmp_path: Path, context: ir.Context) -> None:
    module = ir.Module.parse("func.func @main() -> i1 {\n %0 = arith.constant true\n return %0 : i1 }")
    with pytest.raises(InputError, match=r"cannot hold this program: -:2:7: arith.constant"):
        write_program(module, tmp_path / "program", Format.parse("portable"))
    assert list(tmp_path.iterdir()) == []
    assert "arith.constant" in str(module)
    assert context is module.context


def test_a_failing_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(TypeError), files.atomic(path) as stream:
        stream.write("new")  # type: ignore[arg-type]
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    with pytest.raises(InputError, match="no such file or directory"):
        files.write_bytes(b"", tmp_path / "missing" / "file")
    with pytest.raises(InputError, match="is a directory"):
        files.write_bytes(b"", tmp_path)


def test_devices_stay_devices() -> None:
    files.write_bytes(b"gone", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_split_input_keeps_line_numbers() -> None:
    assert split_input("a\n// -----\nb\n// ----- more\n\n") == ["a\n", "\n\nb\n"]
    assert split_input("") == []


def test_arrays_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "inputs.npz"
    write_arrays({f"arg{i}": np.int8([i]) for i in (10, 2, 0)}, path)
    assert [a.item() for a in read_arrays(path)] == [0, 2, 10]
    write_arrays({"b": np.int8([1]), "a": np.int8([2])}, path)
    assert [a.item() for a in read_arrays(path)] == [1, 2]
    np.savez(path, np.array(3, ">f4"))
    assert [(a.item(), a.dtype.str) for a in read_arrays(path)] == [(3, "<f4")]


def test_what_are_no_arrays_gets_one_line(tmp_path: Path) -> None:
    path = tmp_path / "inputs.npz"
    objects, single = io.BytesIO(), io.BytesIO()
    np.savez(objects, a=np.array([{}], object))
    np.save(single, np.int8([1]))
    for content in (b"", b"text", b"PK\x03\x04", objects.getvalue(), single.getvalue(), objects.getvalue()[:100]):
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            read_arrays(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no such file"):
        read_arrays(tmp_path / "missing.npz")
