"""Make the sections of the overview: two rankings, intervals of their places, shares of the top candidates.

They are the first chapter of a report, always of the seeds and the current labels under the usual settings.
"""

from typing import Any

from evaluation.browse.pool_states import LEGEND
from evaluation.measures.registry import Measure
from evaluation.overview.rankings import overview
from evaluation.sections.builders import table_of
from evaluation.sections.section import Analysis, Cell, Chart, Column, Json, Part, Section, Table
from evaluation.sections.settings import RANKING, Settings
from pooling.models import Pool

KEY = "overview"
RANKINGS = "overview-rankings"  # key of its section, and of its chart on the page
_TAUS = (("measure", "Measure", "measure"), ("tau", "Tau", "tau"), ("n", "Questions", "count"))
OVERVIEW = Analysis(
    KEY,
    "Results overview",
    "What the labels change: the systems ranked by the seeds and by the current labels, whatever label sets the rest"
    " of the report is of.",
    "overview",
    ("measures", "seeds", "training"),
    # not kept under its own name: what it shows is kept with the page
    (Part(KEY, lambda context: overview_sections(context.pool, context.settings)[0]),),
)


def measure_of(settings: Settings) -> str:
    """Return the first chosen measure if the overview ranks by it, else the usual one."""
    return settings.measures[0] if settings.measures[0] in RANKING else Settings().measure


def overview_sections(pool: Pool, settings: Settings) -> tuple[list[Section], list[str], list[str]]:
    """Return the sections, the systems in the order of colours, and those left out; UserError where no run is there."""
    found = overview(pool, measure_of(settings), settings)
    systems = [row["system"] for row in found["rows"]]
    return [_rankings(found), _top(found)], systems, found["left_out"]


def _rankings(found: Json) -> Section:
    measure: Measure = found["measure"]
    counts, sure = found["counts"], found["sure"]
    told = "With one system there is nothing to compare."
    if sure["pairs"]:
        told = f"{sure['undecided']:,} of {sure['pairs']:,} pairs of systems are undecided at the level of 95 %."
    places = table_of(
        "overview-places",
        f"Places by {measure.label}",
        [line.change for line in found["lines"]],
        [
            (Column("system", "System", "system"), lambda one: one.system),
            (Column("seeds", "Place, seeds", "count"), lambda one: one.sparse),
            (
                Column("current", "Place, current", "count", "with its 95 % interval"),
                lambda one: {"value": one.completed, "low": one.low, "high": one.high},
            ),
            (
                Column("value_seeds", f"{measure.label}, seeds"),
                lambda one: _value(found, "seeds", one.system, one.sparse_value),
            ),
            (
                Column("value", f"{measure.label}, current"),
                lambda one: _value(found, "current", one.system, one.completed_value),
            ),
            (Column("measure", "Measure", "measure"), lambda one: measure.label),
        ],
    )
    tau_title = "Kendall's tau-b, seeds against labels, with its 95 % bootstrap interval"
    tau_columns = [Column(*names) for names in _TAUS]
    return Section(
        RANKINGS,
        f"Two rankings by {measure.label}",
        "The places of the systems by the seeds alone and by the current labels; systems that tie share a place."
        " In brackets the 95 % interval of a place when the questions are drawn again.",
        f"Labels: seeds only, and current labels ({counts['positive']:,} positive, {counts['negative']:,} negative,"
        f" {counts['assumed_negative']:,} assumed negative counted as judged, {counts['unjudged']:,} unjudged)."
        f" n = {found['n_before'][measure.name]:,} (seeds) and {found['n'][measure.name]:,} (current)"
        f" {'answers' if measure.kind == 'micro' else 'questions'}; 1,000 resamples of {sure['questions']:,} questions,"
        f" seed {found['seed']}.{found['draws_seeds']}",
        [places, Table("overview-taus", tau_title, tau_columns, _taus(found))],
        overview_chart(found) if found["lines"] else None,
        f"{found['sentence']} {told}",
        [*found["compared_notes"], *found["seed_notes"], *found["undefined"]],
    )


def _value(found: Json, key: str, system: str, value: float) -> Cell:
    """Return the value of a system under the seeds or the current labels, with mean and deviation over its seeds."""
    family, name = found["families"][key].get(system), found["measure"].name
    if family is None or family["mean"][name] is None:
        return value
    return {"value": value, "mean": family["mean"][name], "sd": family["sd"][name], "n": len(family["seeds"])}


def _taus(found: Json) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for measure, tau in zip(found["columns"], found["taus"], strict=True):
        if tau is not None:  # those beside the ranking have none
            undefined = {"value": None, "reason": "fewer than two systems are defined, or one side ties them all"}
            value = undefined if tau["tau"] is None else {"value": tau["tau"], "low": tau["low"], "high": tau["high"]}
            rows.append([measure.label, value, tau["questions"]])
    return rows


def overview_chart(found: Json) -> Chart:
    """Return the slope chart of an overview; it needs a line."""
    lines = found["lines"]
    rows = {line.change.system: i for i, line in enumerate(found["left"], 1)}
    drawn = []
    for row, place in enumerate((line.change for line in lines), 1):
        ends = {"left": place.sparse, "right": place.completed, "left_row": rows[place.system], "right_row": row}
        drawn.append({"system": place.series - 1, "name": place.system, **ends})
    label = f"Places by {found['measure'].label}, from seeds only to current labels"
    return Chart("slope", label, {"left": "seeds only", "right": "current labels", "lines": drawn})


def _top(found: Json) -> Section:
    shares: dict[str, Any] = found["shares"]
    reason = "no question has an answer under the current labels"
    rows: list[list[Cell]] = [
        [system, *({"value": None, "reason": reason} if row[one.key] is None else row[one.key] for one in LEGEND)]
        for system, row in shares["systems"].items()
    ]
    kinds = [Column(state.key, state.label.capitalize(), "share") for state in LEGEND]
    columns = [Column("system", "System", "system"), *kinds]
    return Section(
        "overview-top",
        f"Top {shares['k']} candidates",
        f"Shares of the first {shares['k']} candidates of all evaluated questions."
        " Where much is unjudged or not pooled, the labels say little of a system.",
        f"Labels: current labels. n = {shares['positions']:,} places.",
        [Table("overview-shares", f"Shares of the first {shares['k']} candidates", columns, rows)],
    )
