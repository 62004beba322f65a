"""Put comparisons of orders into words and cells: places, best values, reasons, notes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from evaluation.labels.label_sets import LabelSet
from evaluation.measures.rank_table import Flags, Floats
from evaluation.measures.registry import Measure
from evaluation.measures.values import GroupMeans, Values
from evaluation.sections.section import Cell, Column, Context, Json, cell, label_caption, seed_cells
from evaluation.statistics.correlation import merit
from evaluation.statistics.groups import Groups
from evaluation.statistics.seeds import SeedSpread
from pooling.systems.shown_names import shown_name

NO_PAIR = "fewer than two systems have a value on both sides"
ALL_TIE = "one side ties all systems"
NO_MERIT = ("judged", "num_ret")  # measures that say nothing good or bad of a system
BESIDE = 0.8  # of the room between two ticks, for points that stand beside each other


def basis(version: str) -> str:
    """Say how many judged triples a version counts and when the last one was judged; "" where it counts none.

    version: of a figure or of a page (evaluation/sections/figure_cache.py).
    """
    found = re.search(r"(\d{4}-\d\d-\d\dT[^/ ]+)/(\d+)/", version)
    if not found:
        return ""
    last = datetime.fromisoformat(found[1]).astimezone(UTC)
    many = "1 judged triple" if found[2] == "1" else f"{int(found[2]):,} judged triples, the last"
    return f"{many} of {last:%Y-%m-%d %H:%M:%S} UTC"


def places(mean: Floats, higher_is_better: bool) -> list[int | None]:
    """Return the place of each system from 1, [systems]; ties share the better one, None where undefined."""
    merits = merit(mean, higher_is_better)
    better = (merits[None, :] > merits[:, None]).sum(axis=1)
    return [int(count) + 1 if np.isfinite(own) else None for count, own in zip(better, merits, strict=True)]


def places_on_both(
    one: Floats, other: Floats, higher_is_better: bool, other_higher: bool | None = None
) -> tuple[list[int | None], list[int | None]]:
    """Return places on two label sets among the systems that both define, so that undefined ones move nobody.

    `other_higher`: whether higher is better for `other`, where it is of another measure.
    """
    both = np.isfinite(one) & np.isfinite(other)
    turned = higher_is_better if other_higher is None else other_higher
    return (places(np.where(both, one, np.nan), higher_is_better), places(np.where(both, other, np.nan), turned))


def rows_without_overlap(own: Sequence[int | None], other: Sequence[int | None]) -> list[int | None]:
    """Return the row of each system in a slope chart: 1, 2, … in the order of places, tied ones below each other."""
    shown = [i for i, (a, b) in enumerate(zip(own, other, strict=True)) if a is not None and b is not None]
    order = sorted(shown, key=lambda i: (own[i], other[i], i))
    return [order.index(i) + 1 if i in shown else None for i in range(len(own))]


def best_of(mean: Floats, measure: Measure) -> list[int]:
    """Return the systems with the best value; none where all are equal, and none for what is no merit."""
    if measure.name.startswith(NO_MERIT):
        return []
    found = places(mean, measure.higher_is_better)
    best = [i for i, place in enumerate(found) if place == 1]
    return best if len(best) < sum(place is not None for place in found) else []


def compared(one: Floats, other: Floats) -> int:
    """Count the systems that have a mean in both orders."""
    return int((np.isfinite(one) & np.isfinite(other)).sum())


def why_no_tau(systems: int) -> str:
    """Say why a correlation over that number of systems is undefined."""
    return NO_PAIR if systems < 2 else ALL_TIE


def steps(systems: int) -> str:
    """Say in what steps tau can move without ties: every pair that turns costs two of all pairs."""
    if systems < 2:
        return "One system only: there is no order to compare, so tau is undefined."
    pairs = systems * (systems - 1) // 2
    if pairs == 1:
        return "2 systems make one pair, so without ties tau is 1 or −1."
    return f"{systems} systems make {pairs:,} pairs, so without ties tau moves in steps of {2 / pairs:.2g}."


def place_cell(place: int | None, reason: str) -> Cell:
    return cell(float("nan"), reason) if place is None else place


def group_cells(
    values: Values, groups: Groups, found: GroupMeans, unit: str = "unit", spread: SeedSpread | None = None
) -> list[list[Cell]]:
    """Return cells [systems][groups] of means by group; an empty or undefined one has its reason.

    `spread` is that of the means over seeds, where systems stand for families of them.
    """
    of_unit = groups.of_units(values)
    columns: list[list[Cell]] = []
    for g, n in enumerate(found.count.tolist()):
        mean = found.mean[:, g].tolist()
        if n == 0:
            reasons = [f"no {unit} in this group"] * len(mean)
        elif np.isfinite(mean).all():
            reasons = [""] * len(mean)
        else:
            reasons = _reasons_within(values, of_unit == g)
        columns.append(seed_cells([*map(cell, mean, reasons)], spread and spread.at(g)))
    return [[column[i] for column in columns] for i in range(len(found.mean))]


def _reasons_within(values: Values, kept: Flags) -> list[str]:
    """Return why each system's mean over some units, bool [n], is undefined."""
    chance = values.chance.keep(kept) if values.chance else None
    return replace(values, per_unit=values.per_unit[:, kept], chance=chance).reasons()


def measure_column(measure: Measure, key: str = "", label: str = "", kind: str = "value") -> Column:
    return Column(key or measure.name, label or measure.label, kind, measure.description)


def set_notes(*sets: LabelSet) -> list[str]:
    """Return the notes of label sets, once each."""
    return list(dict.fromkeys(f"{chosen.name}: {chosen.note}" for chosen in sets if chosen.note))


def undefined_notes(
    chosen: LabelSet, found: Mapping[str, Values], measures: Iterable[Measure], systems: Sequence[str]
) -> list[str]:
    """Say which values are undefined and why, a line for each reason."""
    by_reason: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for measure in measures:
        for system, reason in zip(systems, found[measure.name].reasons(), strict=True):
            if reason:
                who, what = by_reason.setdefault(reason, ({}, {}))
                who[shown_name(system)] = what[measure.label] = None
    return [
        f"Undefined under {chosen.name}: {', '.join(what)} of"
        f" {'every system' if len(who) == len(systems) else ', '.join(who)}; {reason}."
        for reason, (who, what) in by_reason.items()
    ]


def both_captions(context: Context) -> str:
    return f"{label_caption(context.against, context.settings)} {label_caption(context.labels, context.settings)}"


def signed(value: float, digits: int = 2) -> str:
    """Write a number in a sentence, with a true minus."""
    return f"{value:.{digits}f}".replace("-", "−")


def words(names: Sequence[str]) -> str:
    """Join names: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def system_words(names: Iterable[str]) -> str:
    """List systems in a sentence, named as in the literature."""
    return words([shown_name(name) for name in names])


def most_often(wins: Mapping[str, int]) -> str:
    """Say "RotatE is best in 5; ConvE and RESCAL are best in 2 each", the most first; "" for none."""
    by_count: dict[int, list[str]] = {}
    for name, count in wins.items():
        if count:
            by_count.setdefault(count, []).append(shown_name(name))
    return "; ".join(
        f"{words(names)} {'are' if len(names) > 1 else 'is'} best in {count}{' each' if len(names) > 1 else ''}"
        for count, names in sorted(by_count.items(), reverse=True)
    )


def beside(place: int, places: int) -> float:
    """Return how far from its shared tick a point is drawn: between -0.4 and 0.4."""
    return BESIDE / max(places, 1) * (place - (places - 1) / 2)


def named_ticks(names: Sequence[str], divided: bool = False) -> Json:
    """Describe an axis on which 0, 1, … have names; `divided`: with a line between every two."""
    dividers = [i + 0.5 for i in range(len(names) - 1)] if divided else []
    return {
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "range": [-0.5, len(names) - 0.5],
        "showgrid": False,
        "zeroline": False,
        "minor": {"tickmode": "array", "tickvals": dividers, "showgrid": divided},
    }
