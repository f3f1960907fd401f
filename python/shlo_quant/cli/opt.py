"""`shlo-quant-opt`: run passes on a StableHLO program, the way mlir-opt does.

Passes are named in order, `--PASS` or `--PASS=key=value`, ours and the C++ ones of the wheel alike, or as a text
pipeline. Where ours and upstream's share a name, ours is meant; upstream's stay reachable nested under `func.func`.
Exit codes: 0 right, 1 the program does not parse, verify or pass, 2 wrong usage. Starts in 0.2 s: it needs no torch.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from shlo_quant.cli.diagnostics import Diagnostics, verify_diagnostics
from shlo_quant.cli.version import ShowVersion
from shlo_quant.engines.child import run_in_child
from shlo_quant.files import (
    SPLIT_MARKER,
    STDIO,
    Format,
    decode,
    parse_program,
    read_bytes,
    serialize,
    split_input,
    write_bytes,
)
from shlo_quant.passes import PASSES, pass_class
from shlo_quant.passes.base import ModulePass, UpstreamPasses, run_passes
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.errors import EngineError, InputError, ShloQuantError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser = _parser()
    arguments, pass_words = parser.parse_known_args(argv)
    if arguments.list_passes:
        print("\n".join(f"{name:45} {_summary(name)}" for name in PASSES))
        return 0
    try:
        passes = _passes(pass_words, arguments.pass_pipeline)
        data = read_bytes(arguments.input)
    except InputError as error:
        print(f"shlo-quant-opt: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return _Driver(arguments, passes).process(data)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="shlo-quant-opt",
        description="Run passes, `--PASS[=options]` in order, on a StableHLO program.",
        allow_abbrev=False,
    )
    parser.add_argument("input", nargs="?", default=STDIO, metavar="FILE", help="text, bytecode or portable artifact")
    parser.add_argument("--pass-pipeline", help="builtin.module(PASS{key=value},...) instead of single passes")
    parser.add_argument("--list-passes", action="store_true", help="list our passes and exit")
    for name, meaning in (
        ("split-input-file", f"programs are separated by '{SPLIT_MARKER}' lines"),
        ("verify-diagnostics", "check expected-error comments, print no program"),
        ("mlir-print-ir-after-all", "print the program after each pass, on stderr"),
        ("mlir-print-debuginfo", "print source locations"),
        ("emit-bytecode", "write bytecode instead of text"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=meaning)
    parser.add_argument("-o", dest="output", default=STDIO, metavar="FILE", help="the result's file (default: stdout)")
    parser.add_argument("--version", action=ShowVersion)
    return parser


def _summary(name: str) -> str:
    """The first line of the pass's documentation."""
    module = sys.modules[pass_class(name).__module__]
    return (module.__doc__ or "").splitlines()[0]


# ---- pipelines


def _passes(words: Sequence[str], pipeline: str | None) -> list[ModulePass]:
    """The passes that the command line asks for. Raises: InputError if one is unknown or has wrong options."""
    if pipeline is not None:
        if words:
            raise InputError(f"--pass-pipeline and {words[0]} exclude each other")
        if not (pipeline.startswith("builtin.module(") and pipeline.endswith(")")):
            raise InputError(f"--pass-pipeline must be builtin.module(...), got '{pipeline}'")
        return [_pass(*_element(text), implicit_nesting=False) for text in split_pipeline(pipeline[15:-1])]
    passes = []
    for word in words:
        name, _, options = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            raise InputError(f"one FILE only, or a pass as --PASS; got '{word}'")
        passes.append(_pass(name, options.removeprefix("{").removesuffix("}"), implicit_nesting=True))
    return passes


def split_pipeline(text: str) -> list[str]:
    """Split at the commas outside brackets: `a{x=1 y=2},func.func(b,c),d` has three elements."""
    elements, depth = [""], 0
    for character in text:
        depth += (character in "({[<") - (character in ")}]>")
        if character == "," and depth == 0:
            elements.append("")
        else:
            elements[-1] += character
    return [stripped for element in elements if (stripped := element.strip())]


def _element(text: str) -> tuple[str, str]:
    """Name and options of `name{options}`; a nested `anchor(...)` is all name."""
    if "(" in text.partition("{")[0]:
        return text, ""
    name, _, options = text.partition("{")
    return name, options.removesuffix("}")


def _pass(name: str, options: str, implicit_nesting: bool) -> ModulePass:
    """Ours if the name is in `PASSES`, else one that the wheel has registered.

    Args:
      implicit_nesting: whether a C++ pass on functions may stand alone, as on mlir-opt's command line.
    """
    if name in PASSES:
        return pass_class(name).from_options(dict(_options(options)))
    text = f"{name}{{{options}}}" if options else name
    candidates = [text, f"func.func({text})"] if implicit_nesting else [text]
    reasons = []
    for candidate in candidates:
        try:
            with ir.Context():
                PassManager.parse(f"builtin.module({candidate})")
        except ValueError as error:
            reasons.append(str(error).splitlines()[0])
        else:
            return ContainedPasses(candidate)
    reason = reasons[0].partition("error: ")[2] or reasons[0]
    raise InputError(f"{reason} (`shlo-quant-opt --list-passes` lists ours)")


def _options(text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        key, separator, value = word.partition("=")
        yield key, value if separator else "true"


@dataclass(frozen=True)
class ContainedPasses(UpstreamPasses):
    """C++ passes that run in a child process first: some end their process on programs with quantized types."""

    def run(self, module: ir.Module) -> None:
        try:
            run_in_child(partial(self._try, module))
        except EngineError as error:
            remedy = "lower quantized types first, with stablehlo-legalize-quant-to-math"
            raise EngineError(f"pass {self.text}: {error}; {remedy}") from None
        super().run(module)

    def _try(self, module: ir.Module) -> None:
        """Runs in the child, whose copy of the module it changes; errors come again, and are told, in the parent."""
        with contextlib.suppress(ir.MLIRError):
            super().run(module)


# ---- the driver


class _Driver:
    """One run: parse, transform and print each program of the input."""

    def __init__(self, arguments: argparse.Namespace, passes: Sequence[ModulePass]) -> None:
        self._arguments = arguments
        self._passes = passes
        self._name = "<stdin>" if arguments.input == STDIO else arguments.input

    def process(self, data: bytes) -> int:
        """Return the exit code."""
        outputs, correct = [], True
        try:
            for chunk in self._chunks(data):
                diagnostics = Diagnostics(self._name)
                output = self._transform(chunk, diagnostics)
                if self._arguments.verify_diagnostics:
                    problems = verify_diagnostics(decode(chunk, self._name), diagnostics)
                    correct &= not problems
                    sys.stderr.writelines(f"{problem}\n" for problem in problems)
                else:
                    correct &= output is not None
                    sys.stderr.writelines(f"{diagnostic}\n" for diagnostic in diagnostics)
                    outputs += [] if output is None else [output]
            if outputs:
                write_bytes(f"\n{SPLIT_MARKER}\n\n".encode().join(outputs), self._arguments.output)
        except InputError as error:
            print(f"shlo-quant-opt: error: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            return 130
        return 0 if correct else 1

    def _chunks(self, data: bytes) -> list[bytes]:
        if self._arguments.split_input_file:
            return [text.encode() for text in split_input(decode(data, self._name))]
        return [data]

    def _transform(self, chunk: bytes, diagnostics: Diagnostics) -> bytes | None:
        """The transformed program, or None if it did not get through."""
        context = new_context()
        with context, context.attach_diagnostic_handler(diagnostics.collect):
            try:
                module = parse_program(chunk, self._name, context)
                run_passes(module, self._passes, self._print_after if self._arguments.mlir_print_ir_after_all else None)
            except ir.MLIRError as error:
                diagnostics.add_all(error.error_diagnostics)
                return None
            except InputError:
                raise
            except ShloQuantError as error:
                diagnostics.add_error(error)
                return None
            return self._print(module)

    def _print(self, module: ir.Module) -> bytes:
        if self._arguments.emit_bytecode:
            return serialize(module, Format("bytecode"))
        locations = self._arguments.mlir_print_debuginfo
        return bytes(module.operation.get_asm(enable_debug_info=locations, assume_verified=True).encode())

    def _print_after(self, step: ModulePass, module: ir.Module) -> None:
        text = module.operation.get_asm(enable_debug_info=self._arguments.mlir_print_debuginfo, assume_verified=True)
        print(f"// -----// IR Dump After {step} //----- //\n{text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
