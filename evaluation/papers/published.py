"""Read what Zhou et al. (2022) published of thirteen systems, where the example data are; without them all is empty."""

import csv
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from django.conf import settings

from evaluation.measures.registry import parse_measure
from evaluation.sections.section import Context, cell
from evaluation.statistics.correlation import tau_of_means

SETS = {"full-test": "FB-Test-O", "seeds": "FB-Test-S", "current": "FB-Test-S-C"}  # label set: its published name
COLUMNS = {"map@20": "map_cut_20", "ndcg@20": "ndcg_cut_20"}
NOT_PUBLISHED = "no published figure of this"
UNPRINTED, ABSENT = cell(float("nan"), NOT_PUBLISHED), cell(float("nan"), "not among the compared systems of this pool")
Rows = Sequence[Mapping[str, str]]


def rows(name: str) -> Rows:
    """Return the rows of a published table, such as "systems"; none where the file is not there."""
    path = Path(settings.DATA_ROOT) / "published" / f"003_{name}.tsv"
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return []
    return _read(path, changed)


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def values(table: Rows, measure: str, **where: str) -> dict[str, float]:
    """Return a measure by system, of the rows with these cells."""
    column = COLUMNS.get(measure, measure)
    return {row["system"]: float(row[column]) for row in table if column in row and where.items() <= row.items()}


def value(labels: str, system: str, measure: str) -> float:
    """Return the published figure of a system on the test set of a label set; nan without one."""
    return values(rows("systems"), measure, test_set=SETS[labels]).get(system, float("nan"))


def names(seeds_of: Mapping[str, Sequence[str]], known: Sequence[str]) -> list[str]:
    """Return the name of each system in the published results: that of one of its seeds, else its own."""
    return [next((seed for seed in seeds if seed in known), own) for own, seeds in seeds_of.items()]


def lacking(context: Context, known: Sequence[str]) -> list[str]:
    """Return the published systems that the pool has no run of; those that are only not compared are not lacking."""
    here = {*names(context.seeds_of, known), *(context.table.whole or context.table).systems}
    return [name for name in known if name not in here]


def tau(measure: str, one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return tau-b between two orders of the same systems, by name; nan where there are none."""
    if not one or one.keys() != other.keys():
        return float("nan")
    first, second = (np.array([of[name] for name in one]) for of in (one, other))
    return tau_of_means(first, second, parse_measure(measure).higher_is_better)


def tau_between(measure: str, one: str = "seeds", other: str = "current") -> float:
    """Return tau-b between the published orders on the test sets of two label sets."""
    systems = rows("systems")
    return tau(measure, *(values(systems, measure, test_set=SETS[key]) for key in (one, other)))
