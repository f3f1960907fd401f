"""From form to form: which passes, in which order."""

from __future__ import annotations

from typing import Literal

from torch_mlir import ir

from shlo_quant.passes.apply_xnnpack_rewrites import ApplyXnnpackRewrites
from shlo_quant.passes.base import ModulePass, Observer, UpstreamPasses, run_passes
from shlo_quant.passes.legalize_qdq_to_quantized_op import LegalizeQdqToQuantizedOp
from shlo_quant.passes.legalize_quant_to_math import LegalizeQuantToMath
from shlo_quant.passes.legalize_quantized_op_to_qdq import LegalizeQuantizedOpToQdq
from shlo_quant.passes.numerics.xnnpack import XNNPACK

Form = Literal["qdq", "quantized", "integer"]
FORMS: tuple[Form, ...] = ("qdq", "quantized", "integer")

CLEAN_UP = UpstreamPasses(text="canonicalize,cse")


def passes_to(form: Form, arithmetic: str = "spec") -> tuple[ModulePass, ...]:
    """The passes that take a program in form `qdq` or `quantized` to a form.

    Args:
      arithmetic: the profile by which `integer` computes requantizations.
    """
    rewrites = (ApplyXnnpackRewrites(),) if arithmetic == XNNPACK.name else ()
    to_quantized = (*rewrites, LegalizeQdqToQuantizedOp(arithmetic=arithmetic), CLEAN_UP)
    to_integer = (LegalizeQuantToMath(arithmetic=arithmetic), CLEAN_UP)
    to_qdq = (LegalizeQuantizedOpToQdq(), CLEAN_UP)
    return {"qdq": to_qdq, "quantized": to_quantized, "integer": to_quantized + to_integer}[form]


def lower(module: ir.Module, to: Form, arithmetic: str = "spec", after: Observer | None = None) -> ir.Module:
    """Take a program in form `qdq` or `quantized` to a form, in place; return it.

    Args:
      after: called with each pass when it is done.
    Raises: UnsupportedError with every op that has no such form.
    """
    return run_passes(module, passes_to(to, arithmetic), after)
