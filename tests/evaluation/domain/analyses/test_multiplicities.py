"""Answers per question, against sets counted one by one."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from evaluation.domain.analyses.multiplicities import ANALYSIS, BIN_LABELS, NO_QUESTION, distribution
from evaluation.domain.analysis import Section
from pooling.domain.graph import open_graph
from pooling.models import Pool
from tests.evaluation.domain.analyses.cases import columns_of, context_of, sections_of, without_positives
from tests.factories import judge

Answers = dict[tuple[int, int, int], set[int]]
BOUNDS = {"0": (0, 0), "1": (1, 1), "2": (2, 2), "3–5": (3, 5), "6–10": (6, 10), "11–50": (11, 50)}


def answers_of(triples) -> Answers:
    """(side, relation, given entity) to the entities that answer it."""
    found: Answers = defaultdict(set)
    for h, r, t in triples:
        found[0, r, h].add(t)
        found[1, r, t].add(h)
    return found


def told(section: Section):
    """A row for each side: bins, questions, mean, median, most."""
    columns = columns_of(section.tables[0])
    keys = [*(f"answers_{label}" for label in BIN_LABELS), "questions", "mean", "median", "most"]
    return [[round(columns[key][side], 9) for key in keys] for side in ("tail", "head")]


def counted(questions, answers: Answers):
    rows = []
    for side in (0, 1):
        numbers = sorted(len(answers.get(q, ())) for q in questions if q[0] == side)
        bins = [sum(low <= n <= high for n in numbers) for low, high in BOUNDS.values()]
        rows.append([
            *bins, sum(n > 50 for n in numbers), len(numbers), round(sum(numbers) / len(numbers), 9),
            round((numbers[(len(numbers) - 1) // 2] + numbers[len(numbers) // 2]) / 2, 9), numbers[-1],
        ])  # fmt: skip
    return rows


def seeds_and_new(pool: Pool):
    seeds = list(pool.seeds.values_list("head", "relation", "tail"))
    new = pool.triples.filter(judgement__verdict="positive").values_list("head", "relation", "tail")
    return answers_of(seeds), answers_of([*seeds, *new])


def test_every_set_is_what_counting_one_by_one_gives(labelled: Pool):
    graph = open_graph(labelled.graph)
    train, test = graph.train.tolist(), graph.test.tolist()
    every = [*train, *graph.valid.tolist(), *test]
    asked, facts = answers_of(test), answers_of(every)
    seeds, current = seeds_and_new(labelled)
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert {key: told(section) for key, section in sections.items()} == {
        "multiplicities-labels": counted(current, current),
        "multiplicities-against": counted(seeds, seeds),
        "multiplicities-test-train": counted(asked, answers_of(train)),
        "multiplicities-test-all": counted(asked, facts),
        "multiplicities-facts-all": counted(facts, facts),
    }
    assert counted(asked, answers_of(train))[0][0] + counted(asked, answers_of(train))[1][0] > 0


def test_questions_of_the_seeds_only_leave_out_those_that_labels_opened(labelled: Pool):
    seeds, current = seeds_and_new(labelled)
    asked = {q: current[q] for q in seeds}
    found = sections_of(ANALYSIS, context_of(labelled, questions="original"))["multiplicities-labels"]
    assert told(found) == counted(asked, asked) != counted(current, current)


def test_a_label_changes_the_pool_and_nothing_of_the_graph(pool: Pool):
    before = sections_of(ANALYSIS, context_of(pool))
    judge(pool.triples.order_by("id")[0], "positive")
    after = sections_of(ANALYSIS, context_of(pool))
    changed = {key for key in before if told(before[key]) != told(after[key])}
    assert changed == {"multiplicities-labels"}
    answers = [
        sum(row[-4] * row[-3] for row in told(found["multiplicities-labels"])) for found in (before, after)
    ]
    assert answers[1] - answers[0] == pytest.approx(2)  # one answer on each of its two sides


def test_the_finding_has_the_means_of_both_label_sets(labelled: Pool):
    seeds, current = (counted(answers, answers) for answers in seeds_and_new(labelled))
    found = sections_of(ANALYSIS, context_of(labelled))["multiplicities-labels"].finding
    (old_tail, new_tail), (old_head, new_head) = ((seeds[i][-3], current[i][-3]) for i in (0, 1))
    assert found.endswith(
        f"goes from {old_tail:.2f} to {new_tail:.2f} for tail questions"
        f" and from {old_head:.2f} to {new_head:.2f} for head questions."
    )


def test_the_chart_has_the_shares_of_the_table(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled))["multiplicities-labels"]
    assert section.chart is not None
    for row, series in zip(told(section), section.chart.data["series"], strict=True):
        assert series["x"] == list(BIN_LABELS)
        assert series["y"] == pytest.approx([n / row[7] for n in row[:7]])


def test_no_question_has_no_mean(labelled: Pool):
    context = context_of(labelled)
    empty = context_of(labelled, without_positives(context.labels))
    section = sections_of(ANALYSIS, empty)["multiplicities-labels"]
    assert section.chart is None and section.finding == ""
    assert [row[9] for row in section.tables[0].rows] == [{"value": None, "reason": NO_QUESTION}] * 2
    assert distribution(1, np.zeros(0, dtype=np.int64)).shares == [None] * len(BIN_LABELS)
