"""Name systems as in the literature on pages: transe is TransE. Addresses, files, commands, CSV and JSON keep names."""

import re

from pooling.systems import SYSTEMS

_SEED = re.compile(r"(?P<name>.+)-s(?P<seed>\d+)")


def shown_name(name: str) -> str:
    """Return TransE for transe, TransE (seed 1) for transe-s1, and any other name as it was typed."""
    if name in SYSTEMS:
        return SYSTEMS[name].label
    seed = _SEED.fullmatch(name)
    if seed and seed["name"] in SYSTEMS:
        return f"{SYSTEMS[seed['name']].label} (seed {seed['seed']})"
    return name
