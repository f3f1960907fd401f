"""What commands show: tables for people, the same as JSON for scripts, and progress on stderr."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """Rows under named columns, with a title above and a summary line below (either may be "")."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    summary: str = ""


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """`--json`, for every command that shows a table."""
    parser.add_argument("--json", action="store_true", help="print data for a script instead of a table")


def show(table: Table, as_json: bool, width: int = 160) -> None:
    """Print a table on stdout; as JSON, an object with `title`, `rows` (one object a row) and `summary`.

    Args:
      width: in columns; a terminal that is narrower has its own.
    """
    if as_json:
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        print(json.dumps({"title": table.title, "rows": rows, "summary": table.summary}, indent=2))
        return
    drawn = RichTable(show_header=any(table.columns), box=box.SIMPLE_HEAD)
    for index, column in enumerate(table.columns):
        numeric = all(isinstance(row[index], int | float) for row in table.rows)
        drawn.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_text(cell) for cell in row))
    console = Console(highlight=False, markup=False)
    console.width = min(console.width, width) if sys.stdout.isatty() else width
    if table.title:
        console.print(table.title)
    console.print(drawn)
    if table.summary:
        console.print(table.summary)


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Show on stderr, while the block runs, that it does; nothing if stderr is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


@contextlib.contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """A function that shows on stderr what is being done and which share of it is; nothing if stderr is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _what, _share: None
        return
    with Progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("", total=1.0)
        yield lambda what, share: progress.update(task, description=what, completed=share)


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep warnings of the libraries that quantize (torch, torchao, executorch) off stderr; errors stay."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(before)


def _text(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return "-" if cell is None else str(cell)
