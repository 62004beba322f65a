"""The systems that TriplePool trains: one registry row each, one file each.

All are trained with reciprocal relations, so that every question is a tail question over 2R relations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pooling.systems import complex as complex_
from pooling.systems import conve, distmult, rescal, rotate, transe
from pooling.systems.spec import COMMON_SETTINGS, CommonSettings, Setting, SystemSpec, Value, common_settings

SYSTEMS: dict[str, SystemSpec] = {
    spec.name: spec
    for spec in (transe.SPEC, rotate.SPEC, complex_.SPEC, distmult.SPEC, rescal.SPEC, conve.SPEC)
}

__all__ = [
    "COMMON_SETTINGS",
    "SYSTEMS",
    "CommonSettings",
    "Setting",
    "SystemSpec",
    "Value",
    "common_settings",
    "get_system",
    "resolve_settings",
]


def get_system(name: str) -> SystemSpec:
    """Return the system called `name`; ValueError names those that exist."""
    try:
        return SYSTEMS[name]
    except KeyError:
        raise ValueError(f"unknown system {name!r}: the known systems are {', '.join(SYSTEMS)}") from None


def resolve_settings(
    name: str, num_entities: int, num_train: int, overrides: Mapping[str, Any] | None = None
) -> dict[str, Value]:
    """Return the preset for a graph of this size with `overrides` (strings or numbers) put in.

    ValueError names the setting, the value that was given and what is allowed.
    """
    spec = get_system(name)
    settings = spec.preset(num_entities, num_train)
    for key, text in (overrides or {}).items():
        if key not in spec.settings:
            raise ValueError(f"{name} has no setting {key!r}: it has {', '.join(sorted(spec.settings))}")
        settings[key] = spec.settings[key].parse(key, text)
    return settings
