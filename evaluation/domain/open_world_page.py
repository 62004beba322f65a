"""The sections of the open-world page, in their order."""

from __future__ import annotations

from collections.abc import Callable

from evaluation.domain.analysis import Section
from evaluation.domain.open_world import WorldSettings
from evaluation.domain.open_world_curves import approximation, correlation, slopes, theory
from evaluation.domain.open_world_numbers import chosen_numbers, example
from evaluation.domain.open_world_order import inconsistency, required

# by the name of their only table
SECTIONS: dict[str, Callable[[WorldSettings], Section]] = {
    "theory": theory, "numbers": chosen_numbers, "slopes": slopes, "inconsistency": inconsistency,
    "required": required, "correlation": correlation, "approximation": approximation, "example": example,
}  # fmt: skip


def sections_of(settings: WorldSettings) -> list[Section]:
    return [make(settings) for make in SECTIONS.values()]
