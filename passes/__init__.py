"""The passes of shlo-quant: Python on the MLIR bindings of the torch-mlir wheel; no torch import below this line.

`PASSES` is the one list of them: first what cleans up an import, then from form to form. A pass `stablehlo-some-verb`
is class `SomeVerb` in the module `some_verb`; nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shlo_quant.passes.base import ModulePass

PASSES = (
    "legalize-dynamic-shapes",
    "convert-arith-to-stablehlo",
    "fold-constants",
    "fold-identities",
    "fold-weight-layout",
    "fold-dot-reshapes",
    "simplify-dot-general",
    "apply-xnnpack-rewrites",
    "stablehlo-legalize-qdq-to-quantized-op",
    "stablehlo-legalize-quantized-op-to-qdq",
    "stablehlo-legalize-quant-to-math",
)


def pass_class(name: str) -> type[ModulePass]:
    """The class of a pass in `PASSES`."""
    words = name.removeprefix("stablehlo-").split("-")
    module = importlib.import_module(f"shlo_quant.passes.{'_'.join(words)}")
    found: type[ModulePass] = getattr(module, "".join(word.capitalize() for word in words))
    return found
