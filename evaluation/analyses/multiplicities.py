"""Build the page Answers per question, for the graph's files and for two label sets of the pool."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.labels.label_sets import LabelSet
from evaluation.labels.pool_table import remembered
from evaluation.measures.label_state import positive
from evaluation.sections.builders import chart, series_of, table_of
from evaluation.sections.section import Analysis, Cell, Column, Context, Part, Section, evaluated, label_caption
from evaluation.statistics.answer_counts import BINS, answer_counts, bin_counts, label_of_bin
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.questions.kernel import Questions, questions_of
from pooling.runs.files import SIDES

BIN_LABELS = tuple(label_of_bin(i) for i in range(len(BINS)))
NO_QUESTION = "no question of this side has an answer"


@dataclass(frozen=True)
class Distribution:
    """Count the questions of a side, or of both, by their number of answers; `counts` has one entry per BIN_LABELS."""

    side: str
    counts: tuple[int, ...]
    questions: int
    mean: float | None  # None: no question
    sd: float | None  # of the questions themselves, not of a population that they stand for
    median: float | None
    largest: int

    @property
    def shares(self) -> list[float | None]:
        """Return each bin's share of the questions of the side."""
        return [count / self.questions if self.questions else None for count in self.counts]


Sides = tuple[Distribution, Distribution, Distribution]  # tail questions, head questions, both
OfGraph = tuple[str, str, str, Sides]  # key, name, what it is, the numbers
_graphs: OrderedDict[str, tuple[OfGraph, ...]] = OrderedDict()  # by checksum: files never change


def distribution(side: str, answers: np.ndarray) -> Distribution:
    """Summarise the numbers of answers int[n] of questions that mask one side, or of all."""
    n = len(answers)
    mean, sd, median = (float(answers.mean()), float(answers.std()), float(np.median(answers))) if n else (None,) * 3
    return Distribution(side, tuple(bin_counts(answers).tolist()), n, mean, sd, median, int(answers.max(initial=0)))


def both_sides(side: np.ndarray, answers: np.ndarray) -> Sides:
    tail, head = (distribution(name, answers[side == i]) for i, name in enumerate(SIDES))
    return tail, head, distribution("both", answers)


def under_labels(chosen: LabelSet) -> Sides:
    """Count answers under a label set, for questions that have one; known facts are no answers of a pool."""
    table = chosen.prepared.table
    answers = positive(chosen.state)[table.triple]
    if chosen.asked is not None:
        answers &= chosen.asked[table.question]
    counts = np.bincount(table.question[answers], minlength=len(table.side))
    asked = counts > 0
    return both_sides(table.side[asked], counts[asked])


def in_graph(graph: GraphArrays) -> tuple[OfGraph, ...]:
    """Count answers in the splits of a graph, independent of labels."""
    known = np.concatenate([graph.train, graph.valid])
    every = np.concatenate([known, graph.test])
    tests, facts, knowns = (questions_of(triples)[0] for triples in (graph.test, every, known))

    def count(questions: Questions, triples: np.ndarray) -> Sides:
        answers = answer_counts(questions, triples, graph.num_entities, graph.num_relations)
        return both_sides(questions.side, answers)

    seen = "Both questions of every test triple; how many answers a system could see."
    same = "The same questions with every answer that the graph knows."
    all_facts = "Both questions of every triple of train, valid and test."
    paper = (
        "Both questions of every triple of train and valid, and what answers them there (table 1 of Mei and others"
        " 2018)."
    )
    return (
        ("test-train", "Test questions, answers in train", seen, count(tests, graph.train)),
        ("test-all", "Test questions, answers in all splits", same, count(tests, every)),
        ("facts-all", "Questions of all facts, answers in all splits", all_facts, count(facts, every)),
        ("known-known", "Questions and answers of train and valid", paper, count(knowns, known)),
    )


def answers_per_question(context: Context) -> list[Section]:
    sets = {"labels": context.labels, "against": context.against}
    found = {key: under_labels(chosen) for key, chosen in sets.items()}
    sections = [
        _section(
            key,
            f"Pool: {chosen.name}",
            "The questions that have an answer under these labels, by how many they have.",
            f"{label_caption(chosen, context.settings)} n = {evaluated(chosen)}.",
            found[key],
            _grown(sets, found) if key == "labels" else "",
        )
        for key, chosen in sets.items()
    ]
    stored, graph = context.pool.graph, context.table.graph
    for key, name, about, sides in remembered(_graphs, stored.sha256, lambda: in_graph(graph)):
        caption = f"Graph {stored.name}, whatever the labels. n = {sides[-1].questions:,} questions."
        sections.append(_section(key, f"Graph: {name[:1].lower()}{name[1:]}", about, caption, sides))
    return sections


def _grown(sets: dict[str, LabelSet], found: dict[str, Sides]) -> str:
    """Say how the mean number of answers differs between the two label sets."""
    old, new = sets["against"], sets["labels"]
    said = [
        f"{before.mean:.2f} to {after.mean:.2f} for {after.side} questions"
        for before, after in zip(found["against"][:2], found["labels"][:2], strict=True)
        if before.mean is not None and after.mean is not None
    ]
    if old.key == new.key or not said:
        return ""
    return f"From {old.name} to {new.name} the mean number of answers goes from {' and from '.join(said)}."


def _section(key: str, title: str, text: str, caption: str, sides: Sides, finding: str = "") -> Section:
    def or_none(value: float | None) -> Cell:
        return {"value": None, "reason": NO_QUESTION} if value is None else value

    def in_bin(i: int, label: str) -> tuple[Column, Callable[[Distribution], Cell]]:
        column = Column(f"answers_{label}", f"{label} answer{'' if label == '1' else 's'}", "count")
        return column, lambda one: one.counts[i]

    table = table_of(
        f"multiplicities-{key}",
        title,
        sides,
        [
            (Column("asks_for", "Asks for", "text"), lambda one: one.side),
            *(in_bin(i, label) for i, label in enumerate(BIN_LABELS)),
            (Column("questions", "Questions", "count"), lambda one: one.questions),
            (Column("mean", "Mean"), lambda one: or_none(one.mean)),
            (Column("sd", "Deviation", note="standard deviation"), lambda one: or_none(one.sd)),
            (Column("median", "Median"), lambda one: or_none(one.median)),
            (Column("most", "Most", "count"), lambda one: one.largest),
        ],
    )
    drawn = [
        series_of(f"asks for the {one.side}", list(BIN_LABELS), one.shares, measure=i)
        for i, one in enumerate(sides[:2])
        if one.questions
    ]
    label = f"{title}: share of the questions of each side by number of answers"
    axes = {"xaxis": {"type": "category"}, "yaxis": {"tickformat": ".0%"}}
    bars = chart("bars", label, drawn, x="answers of a question", y="share of the questions", **axes)
    return Section(table.key, title, text, caption, [table], bars if drawn else None, finding)


ANALYSIS = Analysis(
    "multiplicities",
    "Answers per question",
    "How many entities answer a question, and how many more once the pool is labelled?",
    "multiplicities",
    ("labels", "against", "questions"),
    (Part("multiplicities", answers_per_question),),
    group="Coverage",
)
