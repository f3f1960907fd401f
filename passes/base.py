"""What a pass is, and how passes are run."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from shlo_quant.passes.errors import InputError


@dataclass(frozen=True)
class ModulePass(ABC):
    """One transformation of a module, in place. Valid IR in, valid IR out. Its fields are its options.

    `name` is the name on the command line; the module docstring of the file that defines it is its help text.
    """

    name: ClassVar[str]

    @abstractmethod
    def run(self, module: ir.Module) -> None:
        """Transform `module`. Raises ShloQuantError with every op it could not handle."""

    @classmethod
    def from_options(cls, options: dict[str, str]) -> Self:
        """Build the pass from command-line options. Raises InputError for an unknown option or a bad value."""
        fields = {f.name.replace("_", "-"): f for f in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for key, text in options.items():
            if key not in fields:
                raise InputError(f"pass {cls.name} has no option '{key}'; it has: {', '.join(fields) or 'none'}")
            values[fields[key].name] = _parse_option(cls.name, fields[key], text)
        return cls(**values)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class UpstreamPasses(ModulePass):
    """C++ passes that the wheel has registered, as pipeline text under `builtin.module`."""

    name: ClassVar[str] = "upstream-passes"
    text: str = ""

    def run(self, module: ir.Module) -> None:
        with module.context:
            PassManager.parse(f"builtin.module({self.text})").run(module.operation)

    def __str__(self) -> str:
        return self.text


Observer = Callable[[ModulePass, ir.Module], None]


def run_passes(module: ir.Module, passes: Iterable[ModulePass], after: Observer | None = None) -> ir.Module:
    """Run passes in order on `module`, verifying after each; return the module.

    Args:
      after: called with each pass when it is done (for printing IR, progress).
    Raises: ShloQuantError from a pass; MLIRError if a pass leaves invalid IR, which is a mistake of ours.
    """
    with module.context, ir.Location.unknown():
        for step in passes:
            step.run(module)
            module.operation.verify()
            if after is not None:
                after(step, module)
    return module


def _parse_option(name: str, field: dataclasses.Field[Any], text: str) -> Any:
    if field.type in (bool, "bool"):
        if text not in ("true", "false"):
            raise InputError(f"pass {name}: option '{field.name}' is true or false, got '{text}'")
        return text == "true"
    choices = field.metadata.get("choices")
    if choices and text not in choices:
        raise InputError(f"pass {name}: option '{field.name}' is one of {', '.join(choices)}, got '{text}'")
    return text
