"""Compare systems side by side: their results, their costs, and the settings in which they differ."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pooling.models import Graph, System
from pooling.systems import find_entry


class SettingRow(NamedTuple):
    """Hold one setting of all compared systems, as forms show it; None where a system does not have it."""

    key: str
    values: list[str | None]

    @property
    def had(self) -> list[str]:
        """Return the values of the systems that have the setting."""
        return [value for value in self.values if value is not None]

    @property
    def differs(self) -> bool:
        """Tell whether systems have different values, or one of several has the setting alone."""
        return len(set(self.had)) > 1 or len(self.had) == 1 < len(self.values)


class Comparison(NamedTuple):
    systems: list[System]
    colours: list[int]  # index of each among all systems of its graph, so that a colour is the same on every page
    differ: list[SettingRow]
    same: list[SettingRow]


def compare(graph: Graph, names: Sequence[str]) -> Comparison:
    """Compare the named systems of `graph`, in the order of the graph; without names all that are not archived."""
    every = list(graph.systems.order_by("id"))
    chosen = [(i, s) for i, s in enumerate(every) if (s.name in names if names else not s.archived)]
    systems = [system for _, system in chosen]
    rows = setting_rows(systems)
    differ, same = ([row for row in rows if row.differs == wanted] for wanted in (True, False))
    return Comparison(systems, [i for i, _ in chosen], differ, same)


def setting_rows(systems: Sequence[System]) -> list[SettingRow]:
    """Return all settings of the systems, seed first, in the order of the registry."""
    known = [key for system in systems if (spec := find_entry(system.kind)) for key in spec.settings]
    stored = [key for system in systems for key in system.settings]
    rows = [SettingRow("seed", [str(system.seed) for system in systems])]
    for key in dict.fromkeys([*known, *stored]):
        values = [system.settings.get(key) for system in systems]
        if any(value is not None for value in values):
            rows.append(SettingRow(key, [None if value is None else shown(value) for value in values]))
    return rows


def shown(value: Any) -> str:
    """Write the value of a setting for pages and forms: short, but exactly the same when a form sends it back."""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
