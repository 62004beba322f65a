"""Find families of seeds: systems of one graph that differ only in the seed, and in the device that trained them."""

import json
import re
from collections.abc import Iterable, Sequence
from statistics import mean, stdev
from typing import NamedTuple

from pooling.enums import SystemState
from pooling.models import System
from pooling.training.best_seed import best_of, without_device

SUFFIXES = r"(-s\d+)?(-\d+)?$"  # what --num-seeds, and then a clone, put behind a name: rotate-s1-2


def seed_families(systems: Iterable[System]) -> list[list[System]]:
    """Group systems into families of seeds, in the order of their first systems; a system alone is a family of one.

    The chosen system of a family comes first: the best by validation MRR (`best_of`). An imported system is always
    alone, since nothing is known of its training.
    """
    found: dict[str, list[System]] = {}
    for system in systems:
        alike = json.dumps([system.graph_id, system.kind, without_device(system)], sort_keys=True, default=str)
        found.setdefault(f"{system.pk}" if system.is_imported else alike, []).append(system)
    return [_chosen_first(family) for family in found.values()]


class OwnFamily(NamedTuple):
    """Hold the family of seeds of a system, the chosen one first; mean and sd of the validation MRR of trained ones.

    `unlike` says which systems of the same name are no part of it, and why.
    """

    systems: list[System]
    mean: float | None
    sd: float | None
    unlike: list[str]

    @property
    def is_chosen(self) -> bool:
        """Tell whether the first is the chosen one: it is once all are trained."""
        return all(system.state == SystemState.TRAINED for system in self.systems)


def own_family(system: System) -> OwnFamily:
    """Return the family of seeds of a system, archived ones too; mean and sd need two trained seeds."""
    alike = list(System.objects.filter(graph=system.graph_id, kind=system.kind).order_by("id"))
    family = next(family for family in seed_families(alike) if system in family)
    figures = [one.validation_mrr for one in family if one.state == SystemState.TRAINED]
    known = [figure for figure in figures if figure is not None]
    several = len(known) > 1
    named = [told for told in unlike_seeds(alike) if re.search(rf"(^|[ /]){re.escape(system.name)}[ /]", told)]
    return OwnFamily(family, mean(known) if several else None, stdev(known) if several else None, named)


def _chosen_first(family: list[System]) -> list[System]:
    chosen = best_of(family)
    return [chosen, *(system for system in family if system is not chosen)]


def unlike_seeds(systems: Iterable[System]) -> list[str]:
    """Say of which systems the names promise one family of seeds though their settings differ, and in what.

    Such are rotate and rotate-s1 where one was trained anew or cloned with another setting.
    """
    by_name: dict[tuple[int, str, str], list[list[System]]] = {}
    for family in seed_families(systems):
        first = family[0]
        if not first.is_imported:
            for base in dict.fromkeys(re.sub(SUFFIXES, "", system.name) for system in family):
                by_name.setdefault((first.graph_id, first.kind, base), []).append(family)
    return [
        _difference(families)
        for families in by_name.values()
        if len(families) > 1 and any(re.search(r"-s\d+", system.name) for family in families for system in family)
    ]


def _difference(families: Sequence[Sequence[System]]) -> str:
    settings = [without_device(family[0]) for family in families]
    names = ["/".join(system.name for system in family) for family in families]
    differ = [
        f"{key} is {' and '.join(f'{own.get(key)} in {name}' for own, name in zip(settings, names, strict=True))}"
        for key in dict.fromkeys(key for own in settings for key in own)
        if len({str(own.get(key)) for own in settings}) > 1
    ]
    return (
        f"{' and '.join(names)} are not one family of seeds, since their settings differ: {'; '.join(differ)}."
        " Train them with equal settings to have one."
    )
