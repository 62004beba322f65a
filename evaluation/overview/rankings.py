"""Rank the systems of a pool by its seeds and by its current labels, and put the change into figures and words."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from core.charts.marks import look
from core.charts.scales import minus
from evaluation.browse.pool_states import LEGEND
from evaluation.enums import EvaluationJob
from evaluation.labels.pool_table import version, whole_table
from evaluation.measures.judged import top_shares
from evaluation.measures.registry import Measure, parse_measure
from evaluation.sections.compared import compared_notes
from evaluation.sections.figure_cache import current_figure, figure_key, figure_version, last_heavy
from evaluation.sections.metrics import metrics
from evaluation.sections.section import Context, number, numbers
from evaluation.sections.seed_notes import draws_seeds, seed_notes
from evaluation.sections.settings import RANKING, Settings
from evaluation.sections.wording import system_words
from evaluation.statistics.bootstrap import Interval, PlaceIntervals, bootstrap_correlations, bootstrap_places
from pooling.models import Pool
from pooling.systems.shown_names import shown_name

COVERAGE = "judged@10"  # more of it is no better system
BESIDE = (COVERAGE, "bpref")
TOP = 10
SHARES = tuple(state.key for state in LEGEND)
TAKEN = ("seeds", "training", "systems")  # the settings that the overview takes beside its measure
WAITING = " waiting"  # of a page whose figures are older than its labels


@dataclass(frozen=True)
class RankChange:
    """Hold a system in both rankings: places from 1 (ties share one), values, series number for its colour."""

    system: str
    series: int
    sparse: int
    completed: int
    sparse_value: float
    completed_value: float
    low: float | None = None  # 95 % interval of the completed place, questions drawn again
    high: float | None = None

    @property
    def colour(self) -> str:
        """Return the class of its colour on every page."""
        return look({"system": self.series - 1})

    @property
    def moved(self) -> int:
        """Return the places gained (positive) or lost (negative)."""
        return self.sparse - self.completed

    @property
    def down(self) -> int:
        return -self.moved


class SlopeLine(NamedTuple):
    """Hold one line of the slope chart: its heights at the left and the right, in pixels."""

    change: RankChange
    y1: float
    y2: float


def rank_changes(
    sparse: dict[str, Any],
    completed: dict[str, Any],
    measure: Measure,
    sure: dict[str, Any] | None = None,
    series: dict[str, int] | None = None,
) -> list[RankChange]:
    """Return the systems in the order of the completed labels. Values are compared at 1e-12, so ties stay ties.

    `series` numbers their colours; without it they are numbered as they come.
    """
    series = series or {name: i for i, name in enumerate(sparse, 1)}
    found = []
    spans = dict(zip(sparse, zip(sure["low"], sure["high"], strict=True), strict=True)) if sure else {}
    names = [n for n in sparse if sparse[n][measure.name] is not None and completed[n][measure.name] is not None]
    sign = 1 if measure.higher_is_better else -1

    def place(values: dict[str, Any], name: str) -> int:
        own = round(values[name][measure.name], 12)
        return 1 + sum(sign * (round(values[other][measure.name], 12) - own) > 0 for other in names)

    for name in sparse:
        if name in names:
            by_seeds, now = sparse[name][measure.name], completed[name][measure.name]
            span = spans.get(name, (None, None))
            places = place(sparse, name), place(completed, name)
            found.append(RankChange(name, series[name], *places, by_seeds, now, *span))
    return sorted(found, key=lambda p: (p.completed, p.sparse, p.system))


def slope_lines(found: list[RankChange], step: float = 40) -> list[SlopeLine]:
    """Return a line for each system, `step` pixels apart; systems that tie are drawn below each other."""
    left = sorted(found, key=lambda p: (p.sparse, p.completed, p.system))
    row = {p.system: i for i, p in enumerate(left)}
    return [SlopeLine(p, (row[p.system] + 0.5) * step, (i + 0.5) * step) for i, p in enumerate(found)]


def ordinal(n: int) -> str:
    return f"{n}{'th' if 10 <= n % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def leader(found: list[RankChange], measure: Measure) -> str:
    """Say which system is best under the current labels, and whether that is decided; "" if no value is defined."""
    first = [p for p in found if p.completed == 1]
    if len(first) != 1:
        return f"{system_words(p.system for p in first)} tie as best by {measure.label}." if first else ""
    best = first[0]
    told = f"{shown_name(best.system)} is best by {measure.label} ({best.completed_value:.4f})"
    if best.low is None or best.high is None or best.high <= 1:
        return f"{told}."
    span = f"{ordinal(round(best.low))} to {ordinal(round(best.high))}"
    return f"{told}. Its place is not certain: {span} if other questions were drawn (95 % interval)."


def sentence(found: list[RankChange], measure: Measure, tau: dict[str, Any], new_positives: int) -> str:
    """Say in words what the new labels changed."""
    if not new_positives:
        return "No new positive triple yet: the completed ranking is the sparse one."
    movers = [p for p in found if p.moved]
    if not movers:
        return f"{new_positives:,} new positive triples leave the order by {measure.label} as it was."
    most = max(movers, key=lambda p: abs(p.moved))
    verb = "rises" if most.moved > 0 else "falls"
    name = shown_name(most.system)
    text = f"{name} {verb} from {ordinal(most.sparse)} to {ordinal(most.completed)} by {measure.label}"
    others = len(movers) - 1
    text += f"; {others} other system{'s' if others != 1 else ''} move{'s' if others == 1 else ''}." if others else "."
    if tau["tau"] is None:
        return f"{text} Tau is undefined."
    value, *ends = (minus(f"{tau[name]:.2f}") for name in ("tau", "low", "high") if tau[name] is not None)
    how_sure = f"95 % interval {ends[0]} to {ends[1]}; " if ends else ""
    return f"{text} Tau, seeds against labels, is {value} ({how_sure}n = {tau['questions']:,} questions)."


def page_version(pool: Pool) -> str:
    """Return a text that changes with the labels and ranks, and when a job begins, ends or keeps a figure."""
    jobs = pool.jobs.filter(kind=EvaluationJob.EVALUATE).order_by("-pk").values_list("pk", "state")[:3]
    return f"{version(pool)} {last_heavy(pool)} {' '.join(f'{pk}-{state}' for pk, state in jobs)}".strip()


def overview(pool: Pool, measure_name: str, settings: Settings = Settings()) -> dict[str, Any]:  # noqa: B008 - frozen
    """Return everything on the page; raise UserError (RunError) where there is no run to evaluate.

    Of the settings it takes `seeds`, `training` and `systems`.
    """
    measure = parse_measure(measure_name)
    now = page_version(pool)  # first: a label that comes while this computes makes the page fetch again
    at = figure_version(pool)
    asked = settings.query(TAKEN)
    key = figure_key("overview", asked) if asked else "overview"
    kept = current_figure(pool, key, at, lambda: _compute(pool, settings))
    if kept.version != at:  # it is being computed: show the kept one, and let the page ask again
        now += WAITING
    content = kept.content
    sparse, completed = content["seeds"], content["current"]
    sure = _sure(content["places"][measure.name], list(sparse["systems"]))
    found = rank_changes(sparse["systems"], completed["systems"], measure, sure, content["series"])
    new = completed["counts"]["positive"] - sparse["counts"]["positive"]
    lines, rows = slope_lines(found), _rows(content)
    places = {line.change.system: place for place, line in enumerate(lines)}
    return {
        "version": now,
        "older": kept.version if kept.version != at else "",  # what the shown figures are of, while newer ones come
        "measure": measure,
        "measures": [parse_measure(name) for name in RANKING],
        "lines": lines,
        "left": sorted(lines, key=lambda line: line.y1),
        "height": 40 * max(len(found), 1),
        "leader": leader(found, measure),
        "sentence": sentence(found, measure, content["taus"][measure.name], new),
        "new_positives": new,
        "sure": sure,
        "undefined": _undefined(content, measure),
        "left_out": completed["left_out"],
        "compared_notes": [*compared_notes(completed["compared"])],
        "counts": completed["counts"],
        "seed": Settings().seed,
        "rows": rows,
        "ranked_rows": list(_ranked({row["system"]: row for row in rows}, places).values()),
        "columns": [parse_measure(n) for n in (*RANKING, *BESIDE)],
        "taus": [content["taus"].get(name) for name in (*RANKING, *BESIDE)],
        "n": completed["n"],
        "n_before": sparse["n"],
        "shares": content["shares"] | {"systems": _ranked(content["shares"]["systems"], places)},
        "top": _top(content["shares"]),
        "families": {key: content[key].get("families", {}) for key in ("seeds", "current")},
        "seed_notes": content["seed_notes"],
        "draws_seeds": content["draws_seeds"],
    }


def _ranked(by_system: dict[str, Any], places: dict[str, int]) -> dict[str, Any]:
    """Return what is known by system in the order of the ranking; undefined ones are last."""
    return dict(sorted(by_system.items(), key=lambda entry: places.get(entry[0], len(places))))


def _top(shares: dict[str, Any]) -> dict[str, float]:
    """Return the judged, unjudged and not pooled shares of the top candidates, means over systems; {} without any."""
    rows = list(shares["systems"].values())
    if not shares["positions"] or not rows:
        return {}
    found = {kind: sum(row[kind] for row in rows) / len(rows) for kind in SHARES}
    kept = {kind: found.pop(kind) for kind in ("unjudged", "not_pooled")}
    return {"judged": sum(found.values()), **kept}


def _compute(pool: Pool, settings: Settings) -> dict[str, Any]:
    # of the seeds and "current"
    chosen = Settings(seeds=settings.seeds, training=settings.training, systems=settings.systems)
    context = Context(pool, chosen)
    table, families = context.table, context.drawn_families
    names = (*RANKING, *BESIDE)
    drawn = context.each if families else context
    sparse, current = drawn.against.sums(RANKING), drawn.labels.sums(RANKING)
    # drawn as the page Correlation draws, so that one quantity has one interval
    taus = bootstrap_correlations(sparse, current, context.rng(1), correlations=["tau_b"], families=families)
    spans = bootstrap_places(current, np.random.default_rng(Settings().seed), families=families)
    found = top_shares(context.labels.prepared, context.labels.state, table.is_seed, TOP)
    shares = {s: {kind: number(getattr(found, kind)[i]) for kind in SHARES} for i, s in enumerate(table.systems)}
    return {
        **{
            key: metrics(pool, key, names, seeds=settings.seeds, systems=settings.systems)
            for key in ("seeds", "current")
        },
        "series": {name: i for i, name in enumerate(whole_table(pool).systems, 1) if name in table.systems},
        "seed_notes": seed_notes(context),
        "draws_seeds": draws_seeds(context),
        "taus": {name: _tau(row["tau_b"]) for name, row in taus.items()},
        "places": {name: _intervals(span) for name, span in spans.items()},
        "shares": {"k": TOP, "positions": found.positions, "systems": shares},
    }


def _tau(found: Interval) -> dict[str, Any]:
    ends = {"low": number(found.low), "high": number(found.high)}
    return {"tau": number(found.value), **ends, "questions": found.questions}


def _intervals(span: PlaceIntervals) -> dict[str, Any]:
    counts = {"open_pairs": span.open_pairs, "pairs": span.pairs, "questions": span.questions}
    return {"low": numbers(span.low), "high": numbers(span.high), **counts}


def _sure(span: dict[str, Any], systems: list[str]) -> dict[str, Any]:
    """Return the intervals of places with the undecided pairs by name, the least decided first."""
    pairs = sorted(span["open_pairs"], key=lambda pair: pair[2])
    named = [{"first": systems[one], "second": systems[other], "share": share} for one, other, share in pairs]
    return span | {"open_pairs": named, "undecided": len(named)}


def _rows(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return for each system its values by the current labels and by the seeds, the best marked."""
    sparse, current = content["seeds"]["systems"], content["current"]
    completed, reasons = current["systems"], current["reasons"]
    best = {}
    for name in {*RANKING, *BESIDE} - {COVERAGE}:
        values = [row[name] for row in completed.values() if row[name] is not None]
        best[name] = (max if parse_measure(name).higher_is_better else min)(values) if values else None

    def cell(system: str, name: str) -> dict[str, Any]:
        value, before, reason = completed[system][name], sparse[system][name], reasons[system].get(name, "")
        is_best = value is not None and value == best.get(name)
        found = {"value": value, "before": before, "reason": reason, "best": is_best}
        family = current.get("families", {}).get(system)
        return found | {part: family[part][name] for part in ("mean", "sd")} if family else found

    shown = (*RANKING, *BESIDE)
    return [
        {
            "system": system,
            "colour": look({"system": content["series"][system] - 1}),
            "cells": [cell(system, name) for name in shown],
        }
        for system in completed
    ]


def _undefined(content: dict[str, Any], measure: Measure) -> list[str]:
    """Name the systems without a place, and say why."""
    return [
        f"{system} ({content[key]['name']}): {content[key]['reasons'][system][measure.name]}"
        for key in ("seeds", "current")
        for system in content[key]["systems"]
        if content[key]["systems"][system][measure.name] is None
    ]
