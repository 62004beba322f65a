"""Build the page Triple classification: which judged triples does each system call true?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.classification.judged import JudgedTriples, Scored, find_runs, judged_triples, left_out, scored_by
from evaluation.classification.kernel import LEAST, Decisions, Thresholds, average_precision, decisions
from evaluation.labels.scored_runs import AGAIN, RunsByState
from evaluation.max_k.stored_runs import scoring_jobs
from evaluation.measures.rank_table import Floats
from evaluation.sections.builders import chart, series_of
from evaluation.sections.relation_names import named_relations
from evaluation.sections.section import (
    Action,
    Analysis,
    Cell,
    Chart,
    Column,
    Context,
    Part,
    Section,
    Table,
    cell,
    seed_columns,
)
from evaluation.sections.wording import named_ticks, system_words, words
from evaluation.statistics.seeds import SeedSpread, spread_over_seeds
from pooling.systems.shown_names import shown_name

SYSTEM = Column("system", "System", "system")
MEASURES = (
    Column("accuracy", "Accuracy", "value", "share of the triples called what people call them"),
    Column("f1", "F1", "value", "harmonic mean of precision and recall of what is called true"),
    Column("precision", "Precision", "value", "share of what is called true that is true"),
    Column("recall", "Recall", "value", "share of the true triples that are called true"),
    Column("ap", "Average precision", "value", "of triples ordered by score less the threshold of their relation"),
)
LONGEST = 30  # relations that the page itself lists


@dataclass(frozen=True)
class Decided:
    """Hold the systems that the page shows, and the margins of these and of the other seeds of their families."""

    context: Context
    judged: JudgedTriples
    scored: Mapping[str, Scored]  # every ready seed

    @property
    def shown(self) -> list[Scored]:
        return [self.scored[name] for name in self.context.systems if name in self.scored]

    @property
    def relations(self) -> int:
        return self.context.table.graph.num_relations

    @cached_property
    def by_validation(self) -> dict[str, Floats]:
        return {name: one.margins(self.judged, self.relations) for name, one in self.scored.items()}

    @cached_property
    def by_halves(self) -> dict[str, Floats]:
        """Return margins [n] by system; every system has the same halves."""
        rng = self.context.rng
        return {name: one.margins_by_halves(self.judged, self.relations, rng()) for name, one in self.scored.items()}

    def spread(self, values: Mapping[str, Sequence[float]]) -> SeedSpread | None:
        """Return the spread over seeds of the rows of the shown systems; `values` by seed. None without families."""
        if not self.context.is_folded:
            return None
        nothing = [np.nan] * len(next(iter(values.values())))
        every = np.array([values.get(name, nothing) for name in self.context.each.systems])
        found = spread_over_seeds(every, self.context.families)
        rows = [self.context.systems.index(one.system) for one in self.shown]
        return SeedSpread(found.mean[rows], found.sd[rows], found.seeds[rows])


def classified(context: Context) -> list[Section]:
    """Show the decisions of every system on the judged triples, by thresholds chosen in two ways."""
    found = find_runs(context.pool, context.each.table, context.settings.systems)
    judged = judged_triples(context.table, context.labels, context.settings.assumed_is_judged)
    runs = [(name, run) for name, run in found.ready if name in context.each.systems]
    if not any(name in context.systems for name, _ in runs):
        return _absent(context, found)
    if judged.truth.all() or not judged.truth.any():
        return [_one_sided(context, judged), *_absent(context, found)]
    decided = Decided(context, judged, {name: scored_by(name, run, judged) for name, run in runs})
    return [_by_validation(decided), _by_halves(decided), _by_relation(decided), *_absent(context, found)]


def _caption(context: Context, judged: JudgedTriples) -> str:
    assumed = "judged and assumed negatives" if context.settings.assumed_is_judged else "judged negatives alone"
    return (
        f"Label set: {context.labels.name}. n = {judged.n:,} triples: {int(judged.truth.sum()):,} true,"
        f" {int((~judged.truth).sum()):,} false ({assumed}). Each triple has one score, that of its tail question."
    )


def _values(judged: JudgedTriples, margin: Floats) -> list[float]:
    """Return the values of MEASURES of one system."""
    found = decisions(margin >= 0, judged.truth)
    return [found.accuracy, found.f1, found.precision, found.recall, average_precision(margin, judged.truth)]


def _table(key: str, title: str, decided: Decided, margins: Mapping[str, Floats]) -> Table:
    values = {name: _values(decided.judged, margin) for name, margin in margins.items()}
    rows: list[list[Cell]] = [[one.system, *values[one.system]] for one in decided.shown]
    table = Table(key, title, [SYSTEM, *MEASURES], rows, _best(rows))
    return seed_columns(table, range(1, len(table.columns)), decided.spread(values))


def _best(rows: Sequence[Sequence[Cell]]) -> list[tuple[int, int]]:
    """Return the highest cells of each column of numbers whose values differ."""
    best = []
    for column in range(1, len(rows[0])):
        values = [row[column] for row in rows]
        numbers = [value for value in values if isinstance(value, float)]
        if numbers and min(numbers) < max(numbers):
            best += [(i, column) for i, value in enumerate(values) if value == max(numbers)]
    return best


def _by_validation(decided: Decided) -> Section:
    context, judged = decided.context, decided.judged
    title = "True or false, by thresholds from validation"
    table = _table("classification", title, decided, decided.by_validation)
    accuracy = {name: [_validation_accuracy(one, decided.relations)] for name, one in decided.scored.items()}
    columns = [
        *table.columns,
        Column("validation", "Validation accuracy", "value", "on the triples that the thresholds were chosen on"),
        Column("own", "Own thresholds", "count", "judged relations with a threshold of their own"),
    ]
    rows = [
        [*row, *map(cell, accuracy[one.system]), _own(one.from_validation(decided.relations), judged)]
        for row, one in zip(table.rows, decided.shown, strict=True)
    ]
    whole = Table(table.key, title, columns, rows, table.best)
    every = decisions(np.ones(judged.n, dtype=bool), judged.truth)
    validation = decided.shown[0].validation
    true = int(validation.positive.sum())
    return Section(
        "classification",
        title,
        "A system calls a triple true if its score reaches the threshold of its relation, and people have said which"
        " triples are true. Unlike ranking, this asks for a decision on one triple at a time.",
        f"{_caption(context, judged)} Thresholds: highest accuracy on {true:,} validation triples and"
        f" {len(validation.positive) - true:,} corrupted ones, by relation; a relation with fewer than {LEAST} of them"
        " takes the threshold of all.",
        [seed_columns(whole, [len(MEASURES) + 1], decided.spread(accuracy))],
        _chart(decided),
        _finding(decided, every),
        [
            "Corrupted triples have a random tail of the right kind, and are easier than the negatives people judged,"
            " which systems ranked high: thresholds from them call too much true. Compare the next table.",
            f"Calling every triple true has an accuracy of {every.accuracy:.3f} and F1 {every.f1:.3f}; calling every"
            f" triple false has {1 - every.accuracy:.3f} and F1 0.",
        ],
    )


def _own(thresholds: Thresholds, judged: JudgedTriples) -> int:
    return int(thresholds.own[np.unique(judged.relation)].sum())


def _validation_accuracy(one: Scored, relations: int) -> float:
    seen = one.validation
    called = seen.score >= one.from_validation(relations).value[seen.triples[:, 1]]
    return decisions(called, seen.positive).accuracy


def _accuracies(decided: Decided, margins: Mapping[str, Floats]) -> list[float]:
    """Return the accuracy of each shown system."""
    return [decisions(margins[one.system] >= 0, decided.judged.truth).accuracy for one in decided.shown]


def _chart(decided: Decided) -> Chart:
    ways = {"from validation": decided.by_validation, "from the other half of the questions": decided.by_halves}
    places = list(range(len(decided.shown)))
    accuracy = {name: _accuracies(decided, margins) for name, margins in ways.items()}
    series = [series_of(name, places, values, measure=i) for i, (name, values) in enumerate(accuracy.items())]
    ticks = named_ticks([one.system for one in decided.shown])
    label = "Accuracy of each system, by where its thresholds come from"
    return chart("points", label, series, y="Accuracy", xaxis=ticks, sorted=True)


def _finding(decided: Decided, every: Decisions) -> str:
    names, accuracy = [shown_name(one.system) for one in decided.shown], _accuracies(decided, decided.by_validation)
    best = int(np.argmax(accuracy))
    blind = max(every.accuracy, 1 - every.accuracy)
    worse = [name for name, value in zip(names, accuracy, strict=True) if value <= blind]
    told = f"{names[best]} decides best: {100 * accuracy[best]:.1f} % of {decided.judged.n:,} triples are right."
    if not worse:
        return told
    who = f"{words(worse)} {'are' if len(worse) > 1 else 'is'} no" if len(worse) < len(names) else "None is"
    answer = "true" if every.accuracy > 0.5 else "false"
    return f"{told} {who} better than calling every triple {answer} ({100 * blind:.1f} %)."


def _by_halves(decided: Decided) -> Section:
    title, context = "True or false, by thresholds from other judged questions", decided.context
    return Section(
        "halves",
        title,
        "The judged questions are divided at random into two halves; the thresholds that are best on one half decide on"
        " the other. So thresholds are chosen on negatives that are as hard, but not on the same triples.",
        f"{_caption(context, decided.judged)} Triples of one question stay together. Seed {context.settings.seed}.",
        [_table("halves", title, decided, decided.by_halves)],
    )


def _by_relation(decided: Decided) -> Section:
    title, context, judged = "Accuracy by relation", decided.context, decided.judged
    rows: list[list[Cell]] = []
    for name in np.unique(judged.relation).tolist():
        here = judged.relation == name
        truth = judged.truth[here]
        called = [decided.by_validation[one.system][here] >= 0 for one in decided.shown]
        counts = [int(truth.sum()), int((~truth).sum())]
        rows.append([context.table.graph.relations[name], *counts, *(decisions(of, truth).accuracy for of in called)])
    columns = [
        Column("relation", "Relation", "text"),
        Column("true", "True", "count"),
        Column("false", "False", "count"),
        *(Column(f"accuracy-{one.system}", shown_name(one.system), "value") for one in decided.shown),
    ]
    table = Table("by-relation", title, columns, rows, in_files=len(rows) > LONGEST)
    return Section(
        "by-relation",
        title,
        "Share of the judged triples of each relation that a system decides as people did. Few triples make a coarse"
        " figure.",
        f"{_caption(context, judged)} Thresholds from validation.",
        [named_relations(table, context.table.graph)],
    )


def _one_sided(context: Context, judged: JudgedTriples) -> Section:
    """Say that there is nothing to tell apart."""
    of = "true" if judged.truth.any() else "false"
    return Section(
        "one-sided",
        "No triples to tell apart",
        "Triple classification needs judged triples of both kinds, true and false. Choose a label set with negatives,"
        " or count assumed negatives.",
        _caption(context, judged),
        [],
        finding=f"All {judged.n:,} triples of this label set are {of}." if judged.n else "No triple is judged.",
    )


def _absent(context: Context, found: RunsByState) -> list[Section]:
    """Show the systems that are left out with their reasons, and the button that scores them."""
    why = left_out(context.pool, found)
    if not why:
        return []
    title, again = "Systems that are not shown", AGAIN if found.missing else ""
    return [
        Section(
            "absent",
            title,
            f"Classification needs the scores of every judged triple and of validation triples.{again}",
            f"Pool {context.pool.name}.",
            [Table("absent", title, [SYSTEM, Column("why", "Why", "text")], list(why.items()))],
            finding=f"Not shown: {system_words(why)}.",
            actions=[Action("Score what is missing", "classification-score", {})] if found.missing else [],
        )
    ]


ANALYSIS = Analysis(
    "classification",
    "Triple classification",
    "Which systems tell a true triple from a false one?",
    "triple-classification",
    ("labels", "assumed", "seed", "seeds"),
    (Part("classification", classified),),
    jobs=scoring_jobs,
    trained_only=True,
)
