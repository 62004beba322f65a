"""Build the page PROBE: the best system by sharpness of the score and by the weight of popular answers."""

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np

from evaluation.measures.rank_table import Floats, Ints
from evaluation.probe.answers import MRR, ROBUSTNESSES, SHARPNESSES, ProbeAnswers, missing_notes, probe_answers
from evaluation.probe.kernel import NOBODY, best_systems, system_places
from evaluation.probe.parameter_sections import by_popularity, by_rank, by_score, by_weight, score_measure
from evaluation.probe.slices import slices
from evaluation.sections.compared import compared_of
from evaluation.sections.relation_groups import caption
from evaluation.sections.section import Analysis, Cell, Chart, Column, Context, Json, Part, Section, Table, number
from evaluation.sections.seed_notes import seed_notes
from evaluation.sections.settings import Settings
from evaluation.sections.wording import best_of, set_notes, signed, words
from pooling.models import Pool
from pooling.systems.shown_names import shown_name

SHOWN = range(0, 41, 10)  # points of both axes in the table on the page
NAMED_FROM = 0.02  # share of the map from which a region has its name written on it
AXES = {"x": "sharpness a", "y": "robustness b"}
MAP: Json = {"x": SHARPNESSES, "y": ROBUSTNESSES, "names": AXES}
AT_MRR = (SHARPNESSES.index(MRR[0]), ROBUSTNESSES.index(MRR[1]))


def everything(context: Context) -> list[Section]:
    new = probe_answers(context, "labels")
    old = probe_answers(context, "against")
    same = context.labels.key == context.against.key
    return [
        _winners(context, old, new),
        surface(context, new),
        *slices(context, *((new,) if same else (new, old))),
        by_popularity(context, old, new),
        by_rank(context, new),
        by_weight(context, new),
        by_score(context),
    ]


def shares(grid: Floats) -> dict[int, float]:
    """Return the share of points at which each system, by index, alone is best; NOBODY: several are."""
    best = best_systems(grid)
    return {i: float((best == i).mean()) for i in (*range(len(grid)), NOBODY)}


def orders(grid: Floats) -> tuple[int, float]:
    """Return the number of different rankings on the map, and the share of points with the ranking of MRR."""
    placed = system_places(grid).reshape(len(grid), -1).T
    counted = Counter(map(tuple, placed.tolist()))
    return len(counted), float((placed == system_places(grid)[:, *AT_MRR]).all(axis=1).mean())


def _winners(context: Context, old: ProbeAnswers, new: ProbeAnswers) -> Section:
    label = f"Map of the best system by sharpness and robustness, {new.name}"
    notes = [
        *set_notes(old.under.labels, new.under.labels),
        *missing_notes(context, new, old),
        *(["One system only: there is nothing to compare."] if len(context.systems) == 1 else []),
    ]
    return Section(
        "winners",
        f"Which system is best where, {new.name}",
        "Each point of the map is one way to score. Further right, an answer that is not at rank 1 counts less"
        " (sharpness); further up, popular answers weigh less (robustness). The lower edge at sharpness 1 is MRR.",
        f"{caption(context, new.under, old.under)} {len(SHARPNESSES)} × {len(ROBUSTNESSES)} points; the map shows"
        f" {new.name}.",
        [_wins_table(context, old, new)],
        Chart("winners", label, _map(context, new)) if new.n else None,
        _says(context, old, new),
        notes,
    )


def _wins_table(context: Context, old: ProbeAnswers, new: ProbeAnswers) -> Table:
    sides, wins = (new, old), [shares(one.grid) if one.n else {} for one in (new, old)]
    placed = system_places(new.grid) if new.n else None

    def won(key: int) -> list[Cell]:
        return [one.cell(of.get(key, np.nan)) for one, of in zip(sides, wins, strict=True)]

    rows: list[list[Cell]] = []
    for i, name in enumerate(context.systems):
        own: list[Cell] = [new.cell(np.nan)] * 3
        if placed is not None:
            own = [int(place) for place in (placed[i][AT_MRR], placed[i].min(), placed[i].max())]
        rows.append([name, *won(i), *own])
    if any(of.get(NOBODY) for of in wins):
        rows.append(["shared", *won(NOBODY), "", "", ""])
    columns = [
        Column("system", "System", "system"),
        Column("labels", f"Best, {new.name}", "share"),
        Column("against", f"Best, {old.name}", "share"),
        Column("at_mrr", "Place by MRR", "count", f"under {new.name}"),
        Column("highest", "Best place", "count", f"anywhere on the map, under {new.name}"),
        Column("lowest", "Worst place", "count", f"anywhere on the map, under {new.name}"),
    ]
    return Table("wins", "Share of the map at which a system is the best", columns, rows)


def _says(context: Context, old: ProbeAnswers, new: ProbeAnswers) -> str:
    if len(context.systems) < 2 or not new.n:
        return ""
    won = shares(new.grid)
    shared = won.pop(NOBODY)
    named = [
        (shown_name(context.systems[i]), share) for i, share in sorted(won.items(), key=lambda one: -one[1]) if share
    ]
    if not named:
        return "No system alone is the best anywhere: the best ones tie."
    if named[0][1] == 1:
        first = f"{named[0][0]} is the best at every point of the map."
    else:
        first = f"Best on the map: {words([f'{name} at {100 * share:.1f} %' for name, share in named])} of the points"
        first += f"; several tie at {100 * shared:.1f} %." if shared else "."
    count, same = orders(new.grid)
    told = f"{first} The map has {count} different rankings; {100 * same:.1f} % of the points have the ranking of MRR."
    if count == 1:
        told = f"{first} The order of the systems is the same everywhere."
    if not old.n or old.under.labels.key == new.under.labels.key:
        return told
    moved = float((best_systems(old.grid) != best_systems(new.grid)).mean())
    if not moved:
        return f"{told} Under {old.name} the same systems are the best at the same points."
    return f"{told} Under {old.name} the best system is another at {100 * moved:.1f} % of the points."


def _map(context: Context, answers: ProbeAnswers) -> Json:
    best = best_systems(answers.grid)  # [A, B]
    ordered = np.sort(answers.grid, axis=0)
    lead = ordered[-1] - ordered[-2] if len(ordered) > 1 else np.zeros(best.shape)
    regions: list[Json] = []
    for i, share in shares(answers.grid).items():
        if share:
            name = context.systems[i] if i != NOBODY else "several tie"
            label = _middle(best == i) if share >= NAMED_FROM else None
            regions.append({"system": i if i != NOBODY else None, "name": name, "share": share, "label": label})
    points = [{"name": "MRR", "x": MRR[0], "y": MRR[1]}]
    chosen = (context.settings.sharpness, context.settings.robustness)
    if chosen != MRR and chosen[0] <= SHARPNESSES[-1] and chosen[1] <= ROBUSTNESSES[-1]:
        points.append({"name": "chosen", "x": chosen[0], "y": chosen[1]})
    return {**MAP, "best": best.T.tolist(), "lead": _rounded(lead.T), "regions": regions, "points": points}


def _middle(region: np.ndarray) -> Json:
    """Return the point of a region, bool [A, B], that is furthest from its border and the edge of the map."""
    from scipy.ndimage import distance_transform_edt  # here: few need it, and it takes 8 MiB

    inside = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
    i, j = np.unravel_index(int(inside.argmax()), region.shape)
    return {"x": SHARPNESSES[i], "y": ROBUSTNESSES[j]}


def surface(context: Context, answers: ProbeAnswers) -> Section:
    """Show PROBE of every system at every sharpness and robustness."""
    title = f"PROBE by sharpness and robustness, {answers.name}"
    won = shares(answers.grid) if answers.n else {}
    shown = [i for i in range(len(context.systems)) if won.get(i)]
    if answers.n and len(shown) < 2:  # one surface alone compares nothing
        shown = np.argsort(-answers.grid[:, *AT_MRR], kind="stable")[:2].tolist()
    surfaces = [{"system": i, "name": name, "z": _rounded(answers.grid[i].T)} for i, name in enumerate(context.systems)]
    label = f"PROBE of the chosen systems over sharpness and robustness, {answers.name}"
    drawn = {**MAP, "names": {**AXES, "z": "PROBE"}, "shown": shown, "systems": surfaces}
    return Section(
        "surface",
        title,
        "The value of every system at every sharpness and robustness; choose the systems that are drawn. Their distance"
        " is small beside the slope, so read who is best from the map above and values from the tables.",
        f"{caption(context, answers.under)} PROBE is Σ w · score / Σ w over answers: the score of a rank has the"
        " sharpness, the weight of an answer the robustness. 1 is the best there is, 0 the last rank for every answer.",
        [
            _grid_table(context, answers, "grid", f"{title}, every tenth point", SHOWN),
            _grid_table(context, answers, "grid-all", title, range(41), in_files=True),
        ],
        Chart("surfaces", label, drawn) if answers.n else None,
        _says_surface(context, answers),
        missing_notes(context, answers),
    )


def _grid_table(
    context: Context, answers: ProbeAnswers, key: str, title: str, points: Sequence[int], *, in_files: bool = False
) -> Table:
    best = best_systems(answers.grid)
    measure = score_measure(MRR[0])
    rows: list[list[Cell]] = []
    bold = []
    for i, j in product(points, points):
        winner = context.systems[best[i, j]] if best[i, j] != NOBODY else "–"
        bold += [(len(rows), s + 3) for s in best_of(answers.grid[:, i, j], measure)] if not in_files else []
        values = [answers.cell(value) for value in answers.grid[:, i, j]]
        rows.append([f"{SHARPNESSES[i]:g}", f"{ROBUSTNESSES[j]:g}", winner, *values])
    columns = [
        Column("sharpness", "Sharpness a", "text"),
        Column("robustness", "Robustness b", "text"),
        Column("best", "Best", "system"),
        *(Column(name, shown_name(name)) for name in context.systems),
    ]
    return Table(key, title, columns, rows, bold, in_files=in_files)


def _says_surface(context: Context, answers: ProbeAnswers) -> str:
    """Say which system has the highest value at the chosen point."""
    if not answers.n:
        return ""
    a, b = chosen = (context.settings.sharpness, context.settings.robustness)
    own = answers.surface([a], [b])[:, 0, 0]
    where = f"At sharpness {a:g} and robustness {b:g}{' (MRR, rescaled)' if chosen == MRR else ''}"
    return f"{where} the highest value is {signed(own.max(), 4)}, of {shown_name(context.systems[int(own.argmax())])}."


def _rounded(values: Floats | Ints) -> list[list[float | None]]:
    return [[number(value) for value in row] for row in np.round(values, 5)]


def probe_json(pool: Pool, settings: Settings) -> Json:
    """Return values at the chosen point and shares of the map for scripts; null without an answer."""
    context = Context(pool, settings)
    answers = probe_answers(context, "labels")
    point = answers.surface([settings.sharpness], [settings.robustness])[:, 0, 0]
    won = shares(answers.grid) if answers.n else {}
    count, same = orders(answers.grid) if answers.n else (None, None)
    return {
        "pool": pool.name,
        "labels": answers.name,
        "n": answers.n,
        "entities": answers.entities,
        "sharpness": settings.sharpness,
        "robustness": settings.robustness,
        "systems": {name: number(value) for name, value in zip(context.systems, point, strict=True)},
        "best": {name: won.get(i) for i, name in enumerate(context.systems)},
        "several_best": won.get(NOBODY),
        "orders": count,
        "order_of_mrr": same,
        "left_out": context.table.left_out,
        "compared": compared_of(context),
        **(_families(context, answers) if settings.by_family else {}),
    }


def _families(context: Context, answers: ProbeAnswers) -> Json:
    """Return mean and standard deviation at the chosen point over the seeds of each family of several, and notes."""
    point = [context.settings.sharpness], [context.settings.robustness]
    found = answers.spread(lambda one: one.surface(*point)[:, 0, 0])
    several = {
        name: {"seeds": seeds, "mean": number(found.mean[i]), "sd": number(found.sd[i])}
        for i, (name, seeds) in enumerate(context.seeds_of.items())
        if found and len(seeds) > 1
    }
    return {"families": several, "notes": seed_notes(context)}


ANALYSIS = Analysis(
    "probe",
    "PROBE",
    "Which system is best when ranks are scored more or less sharply, and when popular answers count less?",
    "probe",
    ("labels", "against", "questions", "sharpness", "robustness", "seeds"),
    (Part("probe", everything),),
    docs_page="lenses",
)
