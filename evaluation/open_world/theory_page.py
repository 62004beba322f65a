"""List the sections of the theory page in their order."""

from collections.abc import Callable

from evaluation.open_world.theory_by_strength import approximation, correlation, slopes, theory
from evaluation.open_world.theory_numbers import chosen_numbers, example
from evaluation.open_world.theory_settings import TheorySettings
from evaluation.open_world.theory_two_models import inconsistency, required
from evaluation.sections.section import Section

# by the name of their only table
SECTIONS: dict[str, Callable[[TheorySettings], Section]] = {
    "theory": theory, "numbers": chosen_numbers, "slopes": slopes, "inconsistency": inconsistency,
    "required": required, "correlation": correlation, "approximation": approximation, "example": example,
}  # fmt: skip


def sections_of(settings: TheorySettings) -> list[Section]:
    return [make(settings) for make in SECTIONS.values()]
