"""The fast engine: programs in any form, exact, at the speed of the machine."""

from shlo_quant.engines.fast.engine import FastEngine, FastExecutable

__all__ = ["FastEngine", "FastExecutable"]
