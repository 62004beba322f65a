"""The sections of the open-world page, in their order."""

from __future__ import annotations

from collections.abc import Callable

from evaluation.open_world.curve_sections import approximation, correlation, slopes, theory
from evaluation.open_world.number_sections import chosen_numbers, example
from evaluation.open_world.order_sections import inconsistency, required
from evaluation.open_world.world_settings import WorldSettings
from evaluation.sections.section import Section

# by the name of their only table
SECTIONS: dict[str, Callable[[WorldSettings], Section]] = {
    "theory": theory, "numbers": chosen_numbers, "slopes": slopes, "inconsistency": inconsistency,
    "required": required, "correlation": correlation, "approximation": approximation, "example": example,
}  # fmt: skip


def sections_of(settings: WorldSettings) -> list[Section]:
    return [make(settings) for make in SECTIONS.values()]
