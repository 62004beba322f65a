"""The evaluation overview: figures of a pool put into the words, ranks and series that its page shows."""

from dataclasses import dataclass
from typing import Any

from evaluation.domain import figures
from evaluation.domain.table import version
from evaluation.measures import Measure, parse_measure
from evaluation.models import Figure
from pooling.models import Pool

RANKED = ("micro_mrr", "macro_mrr", "micro_hits@10", "macro_hits@10", "map@20", "ndcg@20")


@dataclass(frozen=True)
class Place:
    """A system in the two rankings: places from 1 (ties share one), values, series number for its colour."""

    system: str
    series: int
    sparse: int
    completed: int
    sparse_value: float
    completed_value: float

    @property
    def moved(self) -> int:
        """Places gained (positive) or lost."""
        return self.sparse - self.completed

    @property
    def down(self) -> int:
        return -self.moved


@dataclass(frozen=True)
class Line:
    """One line of the slope chart, in its 0-100 × 0-100 picture."""

    place: Place
    y1: float
    y2: float


def places(sparse: dict[str, Any], completed: dict[str, Any], measure: Measure) -> list[Place]:
    """Systems in the order of the completed labels. Values are compared at 1e-12, so ties stay ties."""
    found = []
    names = [
        n for n in sparse if sparse[n][measure.name] is not None and completed[n][measure.name] is not None
    ]
    sign = 1 if measure.higher_is_better else -1

    def place(values: dict[str, Any], name: str) -> int:
        own = round(values[name][measure.name], 12)
        return 1 + sum(sign * (round(values[other][measure.name], 12) - own) > 0 for other in names)

    for series, name in enumerate(sparse, 1):
        if name in names:
            found.append(
                Place(
                    name, series, place(sparse, name), place(completed, name),
                    sparse[name][measure.name], completed[name][measure.name],
                )
            )  # fmt: skip
    return sorted(found, key=lambda p: (p.completed, p.sparse, p.system))


def slopes(found: list[Place], step: float = 40) -> list[Line]:
    """Lines from each system's place on the left to its place on the right; systems that tie stand beneath
    each other."""
    left = sorted(found, key=lambda p: (p.sparse, p.completed, p.system))
    row = {p.system: i for i, p in enumerate(left)}
    return [Line(p, (row[p.system] + 0.5) * step, (i + 0.5) * step) for i, p in enumerate(found)]


def ordinal(n: int) -> str:
    suffix = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"


def sentence(found: list[Place], measure: Measure, tau: dict[str, Any], new_positives: int) -> str:
    """What the new labels changed, in words."""
    if not new_positives:
        return "No new positive triple yet: the completed ranking is the sparse one."
    movers = [p for p in found if p.moved]
    if not movers:
        return f"{new_positives:,} new positive triples leave the order by {measure.label} as it was."
    most = max(movers, key=lambda p: abs(p.moved))
    verb = "rises" if most.moved > 0 else "falls"
    text = f"{most.system} {verb} from {ordinal(most.sparse)} to {ordinal(most.completed)} by {measure.label}"
    others = len(movers) - 1
    text += (
        f"; {others} other system{'s' if others != 1 else ''} move{'s' if others == 1 else ''}."
        if others
        else "."
    )
    if tau["tau"] is None:
        return f"{text} Tau is undefined."
    how_sure = f", 95 % interval {tau['low']:.2f} to {tau['high']:.2f}" if tau["low"] is not None else ""
    return f"{text} Tau between the two orders is {tau['tau']:.2f}{how_sure} (n = {tau['questions']:,} questions)."


def page_version(pool: Pool) -> str:
    """Changes with the labels, with the ranks, and when a newer stability curve is there."""
    return _page_version(version(pool), figures.kept_figure(pool, "stability:current"))


def _page_version(now: str, stability: Figure | None) -> str:
    return f"{now} {stability.version if stability else ''}"


def overview(pool: Pool, measure_name: str) -> dict[str, Any]:
    """Everything on the page; raises UserError (RunError) where there is no run to evaluate."""
    measure = parse_measure(measure_name)
    now = version(pool)  # first: a label that comes while this computes makes the page fetch again
    content = {key: figures.figure(pool, key).content for key in figures.QUICK}
    sparse, completed = content["metrics:seeds"], content["metrics:current"]
    found = places(sparse["systems"], completed["systems"], measure)
    taus = content["correlations:seeds:current"]["measures"]
    full_test = content["correlations:seeds:full-test"]["measures"]
    tests = content["t_tests:current"]["measures"]
    new = completed["counts"]["positive"] - sparse["counts"]["positive"]
    stability = figures.kept_figure(pool, "stability:current")
    lines = slopes(found)
    return {
        "version": _page_version(now, stability),
        "measure": measure, "measures": [parse_measure(name) for name in RANKED],
        "lines": lines, "left": sorted(lines, key=lambda line: line.y1), "height": 40 * max(len(found), 1),
        "sentence": sentence(found, measure, taus[measure.name], new), "new_positives": new,
        "tables": [_table(content[f"metrics:{key}"]) for key in figures.LABEL_SETS],
        "taus": [
            {"measure": parse_measure(name), "complete": row, "full_test": full_test[name]}
            for name, row in taus.items()
        ],
        "shares": content["shares"], "left_out": completed["left_out"],
        "depth_rows": _depth_rows(content["depth"]),
        "curve_measures": [parse_measure(n) for n in figures.CURVE_MEASURES],
        "test_rows": [(parse_measure(name), row) for name, row in tests.items()],
        "stability": stability, "stability_old": stability is not None and stability.version != now,
        "stability_rows": _stability_rows(stability),
        "charts": {
            "depth": content["depth"], "tests": content["t_tests:current"],
            "stability": stability.content if stability else None,
            "labels": {name: parse_measure(name).label for name in figures.CURVE_MEASURES},
        },
    }  # fmt: skip


def _table(content: dict[str, Any]) -> dict[str, Any]:
    """Rows of a metrics table; the best value of each column is marked."""
    measures = [parse_measure(name) for name in content["n"]]
    best = {}
    for measure in measures:
        values = [row[measure.name] for row in content["systems"].values() if row[measure.name] is not None]
        ranks = measure.name in figures.RANKING_MEASURES
        best[measure.name] = (max if measure.higher_is_better else min)(values) if values and ranks else None
    return {
        "key": content["labels"], "name": content["name"], "counts": content["counts"],
        "measures": [(measure, content["n"][measure.name]) for measure in measures],
        "rows": [
            (system, [(row[m.name], row[m.name] is not None and row[m.name] == best[m.name]) for m in measures])
            for system, row in content["systems"].items()
        ],
    }  # fmt: skip


def _depth_rows(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "depth": depth, "positives": content["positives"][i], "questions": content["questions"][i],
            "taus": [content["tau_to_seeds"][name][i] for name in figures.CURVE_MEASURES],
        }
        for i, depth in enumerate(content["depths"])
    ]  # fmt: skip


def _stability_rows(stability: Figure | None) -> list[dict[str, Any]]:
    if stability is None:
        return []
    content = stability.content
    return [
        {
            "percent": round(size * 100),
            "values": [(content["mean"][n][i], content["sd"][n][i]) for n in figures.CURVE_MEASURES],
        }
        for i, size in enumerate(content["sizes"])
    ]
