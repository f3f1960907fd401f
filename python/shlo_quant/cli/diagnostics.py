"""Diagnostics of `shlo-quant-opt`: collected, printed as FILE:LINE:COL: error: ..., or held against comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shlo_quant.passes.dialects.locations import describe
from shlo_quant.passes.errors import ShloQuantError, UnsupportedError

EXPECTATION = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?\s*"
    r"(?:@(?P<where>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}\s*(?:$|//|expected-)"
)


@dataclass(frozen=True)
class Diagnostic:
    """A message about a place; `place` is `FILE:LINE:COL`, or a name where no file is known."""

    severity: str
    place: str
    message: str

    @property
    def line(self) -> int | None:
        """The line number, if the place has one."""
        found = re.search(r":(\d+)(?::\d+)?(?: \(.*\))?$", self.place)
        return int(found[1]) if found else None

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message}"


class Diagnostics:
    """What was said about one program, in order.

    Args:
      name: what the program's file is called; MLIR calls it "-".
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: list[Diagnostic] = []

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._found)

    def collect(self, diagnostic: Any) -> bool:
        """A handler for `attach_diagnostic_handler`: takes everything."""
        severity = diagnostic.severity.name.lower()
        self._add(severity, describe(diagnostic.location), diagnostic.message)
        for note in diagnostic.notes:
            self._add("note", describe(note.location), note.message)
        return True

    def add_all(self, diagnostics: Sequence[Any]) -> None:
        """Take the diagnostics of an MLIRError."""
        for diagnostic in diagnostics:
            self.collect(diagnostic)

    def add_error(self, error: ShloQuantError) -> None:
        """Take the error of a pass: one diagnostic a finding."""
        if isinstance(error, UnsupportedError):
            for finding in error.findings:
                remedy = f"; {finding.remedy}" if finding.remedy else ""
                self._add("error", finding.location, f"{finding.op}: {finding.reason}{remedy}")
        else:
            self._add("error", self._name, str(error))

    def _add(self, severity: str, place: str, message: str) -> None:
        named = f"{self._name}{place[1:]}" if place.startswith("-:") else place
        self._found.append(Diagnostic(severity, named, message))


def verify_diagnostics(source: str, diagnostics: Diagnostics) -> list[str]:
    """Hold diagnostics against the `expected-error @+1 {{...}}` comments of their program.

    As mlir-opt does: each comment needs a diagnostic of its severity on its line that holds its text (`-re`: matches
    its regular expression), and each error, warning and remark needs a comment.
    Returns: the problems, one line each; none if everything was as expected.
    """
    left = list(diagnostics)
    problems = []
    for number, text in enumerate(source.splitlines(), 1):
        for match in _expectations(text):
            line = _line(match["where"], number)
            pattern = match["text"] if match["regex"] else re.escape(match["text"])
            for diagnostic in left:
                here = diagnostic.severity == match["severity"] and diagnostic.line == line
                if here and re.search(pattern, diagnostic.message):
                    left.remove(diagnostic)
                    break
            else:
                problems.append(f"line {number}: expected {match['severity']} was not produced: {match['text']}")
    return problems + [f"unexpected {d}" for d in left if d.severity != "note"]


def _expectations(text: str) -> Iterator[re.Match[str]]:
    comment = text.find("//")
    start = text.find("expected-", comment) if comment >= 0 else -1
    while start >= 0 and (match := EXPECTATION.match(text, start)):
        yield match
        start = text.find("expected-", match.end("text"))


def _line(where: str | None, number: int) -> int | None:
    """The line that a comment on line `number` speaks of; None for `@unknown`."""
    match where:
        case None:
            return number
        case "unknown":
            return None
        case "above":
            return number - 1
        case "below":
            return number + 1
        case offset:
            return number + int(offset)
