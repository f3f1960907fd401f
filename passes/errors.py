"""The project's exceptions: what was wrong, where, and what to do about it.

Everything a user can cause derives from `ShloQuantError`; the command line prints it in one piece and exits with 2.
An `assert` or any other exception is a mistake of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class ShloQuantError(Exception):
    """Base of all errors that the user can mend; its text is complete and needs no traceback."""


class InputError(ShloQuantError):
    """A file or value handed to us is not what it has to be (missing, damaged, foreign, wrong shape)."""


class ParameterError(ShloQuantError, ValueError):
    """Quantization parameters that no type can hold (scale not positive, zero point out of range, ...)."""


class EngineError(ShloQuantError):
    """An engine could not run a program (crash, time limit, unsupported op); the text gives the cause."""


class MissingExtraError(ShloQuantError):
    """A package that only an optional extra of the project installs is missing."""

    def __init__(self, wanted: str, package: str, extra: str) -> None:
        super().__init__(
            f"{wanted} needs the package '{package}', which is not installed; "
            f"install it with: pip install 'shlo-quant[{extra}]'"
        )


class Unsupported(Exception):
    """Raised by a rule: this op cannot be rewritten. The driver adds op and location (see `Finding`).

    Args:
      reason: what must hold and what was found.
      remedy: what the user can do, or "".
    """

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True)
class Finding:
    """One fact about one op: where it stands, what it is, and why it is reported."""

    location: str
    op: str
    reason: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.location}: {self.op}: {self.reason}{remedy}"


class UnsupportedError(ShloQuantError):
    """Every op of a program that a step could not handle, in one report."""

    def __init__(self, step: str, findings: Sequence[Finding]) -> None:
        self.step = step
        self.findings = tuple(findings)
        lines = "\n".join(f"  {f}" for f in self.findings)
        plural = "op" if len(self.findings) == 1 else "ops"
        super().__init__(f"{step}: {len(self.findings)} unsupported {plural}\n{lines}")
