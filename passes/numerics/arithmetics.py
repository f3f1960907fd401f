"""`PROFILES`: every arithmetic profile by the name that users call it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from shlo_quant.passes.numerics.profiles import SPEC, Profile
from shlo_quant.passes.numerics.xnnpack import XNNPACK

PROFILES: Mapping[str, Profile] = MappingProxyType({profile.name: profile for profile in (SPEC, XNNPACK)})
