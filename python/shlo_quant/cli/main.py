"""`shlo-quant`: the command line; one command a module of this package.

A command module has `NAME`, `HELP` (one line), `add_arguments(parser)` and `run(arguments) -> int`, and imports what is
slow (torch, the MLIR bindings) inside `run`, so that help stays quick. Exit codes: 0 right, 1 a difference,
2 bad input, 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from shlo_quant.cli.version import ShowVersion
from shlo_quant.passes.errors import ShloQuantError

COMMANDS = ("lower", "inspect", "verify", "run", "golden", "demo")
"""The command modules, in the order of the help text."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code. What the user can mend is one message on stderr, never a traceback."""
    words = sys.argv[1:] if argv is None else list(argv)
    arguments = _parser(words).parse_args(words)
    try:
        return int(arguments.run(arguments))
    except ShloQuantError as error:
        print(f"shlo-quant: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has gone, as in `shlo-quant ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; it knows only the command that is asked for, so that no other module is imported."""
    parser = argparse.ArgumentParser(
        prog="shlo-quant",
        description="From a quantized PyTorch (pt2e) model to quantized StableHLO, to integers, with proof.",
    )
    parser.add_argument("--version", action=ShowVersion)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    asked = words[:1] if words[:1] and words[0] in COMMANDS else COMMANDS
    for name in asked:
        module = importlib.import_module(f"shlo_quant.cli.{name}")
        command = commands.add_parser(module.NAME, help=module.HELP, description=module.HELP)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
