"""Name systems as in the literature on pages: transe is TransE. Addresses, files, commands, CSV and JSON keep names."""

import re
from typing import Any

from pooling.systems import SYSTEMS

_NAMES = ("name", "x", "rows", "columns", "ticktext", "hover")  # keys of a chart that hold names
_WORD = re.compile(r"[\w-]+")
_SEED = re.compile(r"(?P<name>.+)-s(?P<seed>\d+)")


def shown_name(name: str) -> str:
    """Return TransE for transe, TransE (seed 1) for transe-s1, and any other name as it was typed."""
    if name in SYSTEMS:
        return SYSTEMS[name].label
    seed = _SEED.fullmatch(name)
    if seed and seed["name"] in SYSTEMS:
        return f"{SYSTEMS[seed['name']].label} (seed {seed['seed']})"
    return name


def shown_names(text: str) -> str:
    """Return a text with each system in it named as in the literature: "TransE 3 → 2" for "transe 3 → 2"."""
    return _WORD.sub(lambda found: shown_name(found[0]), text)


def shown_in_chart(data: Any, place: str = "") -> Any:
    """Return what a chart draws with the names of its systems as on pages: those of series, rows and ticks.

    A series of a system can say more behind its name: "rotate, chosen". Rows that have labels of their own, which are
    relations, keep their names.
    """
    if isinstance(data, dict):
        has_labels = bool(data.get("lying")) and "tickvals" in data.get("yaxis", {})
        return {key: own if has_labels and key == "series" else shown_in_chart(own, key) for key, own in data.items()}
    if isinstance(data, list | tuple):
        return [shown_in_chart(own, place) for own in data]
    if isinstance(data, str) and place in _NAMES:
        name, comma, more = data.partition(", ")
        return f"{shown_name(name)}{comma}{more}"
    return data
