"""Build the page Max-k: precision, recall and F1 of systems that may return at most k entities."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import EvaluationError, pool_table
from evaluation.labels.scored_runs import AGAIN, RunsByState, trained_here
from evaluation.max_k.kernel import Goodness
from evaluation.max_k.performance import Performance, RunReader, check_ks, limits, performance
from evaluation.max_k.softmax_sections import contrast, effect
from evaluation.max_k.stored_runs import OUTSIDE, WHICH, find_runs, left_out, right_answers, scoring_jobs, stored_run
from evaluation.max_k.system_sections import (
    SYSTEM,
    RunsUnderLabels,
    best_system,
    conventional,
    models,
    protocols,
    which_of,
)
from evaluation.sections.compared import compared
from evaluation.sections.section import (
    Action,
    Analysis,
    Column,
    Context,
    Json,
    Part,
    Section,
    Table,
    beside,
    evaluated,
    label_caption,
)
from evaluation.sections.wording import set_notes, system_words, words
from pooling.models import Pool


def under_labels(context: Context) -> list[Section]:
    found = find_runs(context.pool, context.each.table, context.settings.systems)
    keys = ["labels"] if context.labels.key == context.against.key else ["labels", "against"]
    sides = runs_under(context, found, keys)
    if not sides[0].stored:
        return absent(context, found)
    if not all(runs.n for runs in sides):
        return [unanswered(context), *absent(context, found)]
    first, *others = _shown(context, sides)
    return [replace(first, notes=set_notes(context.labels, context.against)), *others, *absent(context, found)]


def of_full_test(context: Context) -> list[Section]:
    """Show the published test set, whose answers are taken to be all answers."""
    found = find_runs(context.pool, context.each.table, context.settings.systems)
    (runs,) = runs_under(context, found, ["labels"])
    if not runs.stored:
        return beside(absent(context, found), "full-test")
    if not runs.n:
        return beside([unanswered(context)], "full-test")
    compute(context, runs)
    return beside(_shown(context, [runs]), "full-test")


def compute(context: Context, runs: RunsUnderLabels) -> None:
    """Compute what takes long and tell the progress; sections find it in `runs`."""
    tell = context.progress or (lambda done, total: None)
    for done, name in enumerate(runs.of_seeds):
        for which in WHICH:
            runs.performance(name, which)
        tell(done + 1, len(runs.of_seeds) + 1)


def _shown(context: Context, sides: Sequence[RunsUnderLabels]) -> list[Section]:
    runs = sides[0]
    system = shown_system(context, runs)
    return [
        *(conventional(context, one) for one in sides),
        models(context, sides),
        *protocols(context, runs, system),
        *effect(context, runs, system),
        contrast(context, sides),
    ]


def runs_under(context: Context, found: RunsByState, keys: list[str]) -> list[RunsUnderLabels]:
    """Return the runs that can be shown, under each of the label sets `keys` (labels, against)."""
    check_ks([context.settings.k])
    table = context.table
    of_seeds = {name: stored_run(run, table.graph.num_entities) for name, run in found.ready}
    stored = {name: of_seeds[name] for name in context.systems if name in of_seeds}
    chosen = ((key, getattr(context, key)) for key in keys)
    return [RunsUnderLabels(key, labels, right_answers(table, labels), stored, of_seeds) for key, labels in chosen]


def shown_system(context: Context, runs: RunsUnderLabels) -> str:
    """Return the system whose protocols are drawn: the chosen one, or the best. A seed asks for its family."""
    asked = context.settings.system
    asked = next((name for name, seeds in context.seeds_of.items() if asked in seeds), asked)
    if not asked:
        return best_system(runs, which_of(context), context.settings.k).system
    if asked not in runs.stored:
        raise EvaluationError(f"There is no distribution of a system {asked!r}: choose {words(list(runs.stored))}.")
    return asked


def unanswered(context: Context) -> Section:
    """Say that no question has an answer."""
    return Section(
        "unanswered",
        "No question has an answer",
        "Precision and recall need questions with a right answer, and under one of these label sets there is none.",
        f"{label_caption(context.labels, context.settings)} n = {evaluated(context.labels)}.",
        [],
    )


def absent(context: Context, found: RunsByState) -> list[Section]:
    """Show the systems that are left out with their reasons, and the button that scores them."""
    why = left_out(context.pool, found)
    if not why:
        return []
    columns, title = [SYSTEM, Column("why", "Why", "text")], "Systems that are not shown"
    again = AGAIN if found.missing else ""
    return [
        Section(
            "absent",
            title,
            "Max-k needs the probability of every entity, of which a run keeps a few numbers for each question."
            + again,
            f"Pool {context.pool.name}.",
            [Table("absent", title, columns, list(why.items()))],
            finding=f"Not shown: {system_words(why)}.",
            actions=[Action("Score what is missing", "max-k-score", {})] if found.missing else [],
        )
    ]


def _none_ready(pool: Pool, found: RunsByState) -> str:
    told = f"No system of pool {pool.name} has its distributions"
    if found.missing or not found.imported:
        return f"{told}: run score_runs {pool.name}."
    return (
        f"{told}: {words(found.imported)} came from outside, and {OUTSIDE}. Choose a system that was trained here, or "
        f"train one on graph {pool.graph.name} and run score_runs {pool.name}."
    )


def max_k_json(pool: Pool, labels: str, ks: Sequence[int], questions: str = "grown", names: Sequence[str] = ()) -> Json:
    """Return {labels, name, questions, compared, limits, systems: {name: {alpha, tvd, filtered, raw}}, left_out}.

    `compared` says which systems share the questions; imported runs, which have no distributions, are not among them.
    `filtered` and `raw` are {mass, protocols}. A protocol, or a limit, is {k: {precision, recall, f1}}; Sampling has
    expected_recall too.
    EvaluationError where no system has its distributions, or no question an answer.
    """
    check_ks(ks)
    table = pool_table(pool, trained_here(pool, names), full_test=labels == "full-test")
    chosen, found = label_set(pool, table, labels, questions), find_runs(pool, table, names)
    if not found.ready:
        raise EvaluationError(_none_ready(pool, found))
    right = right_answers(table, chosen)
    if not len(right.keys):
        raise EvaluationError(f"No question has an answer under {chosen.name}.")
    systems: dict[str, Json] = {}
    for name, run in found.ready:
        stored = stored_run(run, table.graph.num_entities)
        both = {which: performance(name, RunReader(stored, right, which)) for which in WHICH}
        worth: Json = {which: _as_json(found, ks) for which, found in both.items()}
        systems[name] = {"alpha": stored.predictive.alpha, "tvd": both["raw"].tvd, **worth}
    bounds = {which: zip(("top-k", "max-k"), limits(right.of(which)), strict=True) for which in WHICH}
    return {
        "labels": labels,
        "name": chosen.name,
        "questions": len(right.keys),
        "compared": compared(table, chosen),
        "limits": {which: {name: _by_k(of, ks) for name, of in pair} for which, pair in bounds.items()},
        "systems": systems,
        "left_out": left_out(pool, found),
    }


def _as_json(one: Performance, ks: Sequence[int]) -> Json:
    protocols = {name: _by_k(found, ks) for name, found in one.protocols.items()}
    for k in ks:
        protocols["Sampling"][str(k)]["expected_recall"] = float(one.expected_recall[k - 1])
    return {"mass": one.mass, "protocols": protocols}


def _by_k(found: Goodness, ks: Sequence[int]) -> dict[str, dict[str, float]]:
    parts = found._asdict()
    return {str(k): {name: float(np.asarray(part)[k - 1]) for name, part in parts.items()} for k in ks}


ANALYSIS = Analysis(
    "max-k",
    "Max-k",
    "How good is what a system returns when it may return fewer than k entities?",
    "max-k",
    ("labels", "against", "questions", "k", "answers", "system", "seeds"),
    (
        Part("figures", under_labels),
        Part("full-test", of_full_test, heavy=True, title="full test beside it", labels="full-test"),
    ),
    docs_page="lenses",
    jobs=scoring_jobs,
    trained_only=True,
    opened=("usual-labels", "models", "protocol-f1", "absent", "unanswered"),
)
