"""Answers per question, against sets counted one by one."""

from __future__ import annotations

import statistics
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from evaluation.analyses.multiplicities import ANALYSIS, BIN_LABELS, NO_QUESTION, distribution
from evaluation.sections.section import Section
from evaluation.statistics.answer_counts import answer_counts
from pooling.enums import Split
from pooling.graphs.opening import open_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Pool
from pooling.questions.kernel import questions_of
from tests.evaluation.cases import columns_of, context_of, sections_of, without_positives
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
    """A row for each side and one for both: bins, questions, mean, median, most, deviation."""
    columns = columns_of(section.tables[0])
    keys = [*(f"answers_{label}" for label in BIN_LABELS), "questions", "mean", "median", "most", "sd"]
    return [[round(columns[key][side], 9) for key in keys] for side in ("tail", "head", "both")]


def counted(questions, answers: Answers):
    rows = []
    for sides in ((0,), (1,), (0, 1)):
        numbers = sorted(len(answers.get(q, ())) for q in questions if q[0] in sides)
        bins = [sum(low <= n <= high for n in numbers) for low, high in BOUNDS.values()]
        rows.append(
            [
                *bins,
                sum(n > 50 for n in numbers),
                len(numbers),
                round(sum(numbers) / len(numbers), 9),
                round((numbers[(len(numbers) - 1) // 2] + numbers[len(numbers) // 2]) / 2, 9),
                numbers[-1],
                round(statistics.pstdev(numbers), 9),
            ]
        )
    return rows


def seeds_and_new(pool: Pool):
    seeds = list(pool.seeds.values_list("head", "relation", "tail"))
    new = pool.triples.filter(judgement__verdict="positive").values_list("head", "relation", "tail")
    return answers_of(seeds), answers_of([*seeds, *new])


def test_every_set_is_what_counting_one_by_one_gives(labelled: Pool):
    graph = open_graph(labelled.graph)
    train, test = graph.train.tolist(), graph.test.tolist()
    known = [*train, *graph.valid.tolist()]
    asked, facts, knowns = answers_of(test), answers_of([*known, *test]), answers_of(known)
    seeds, current = seeds_and_new(labelled)
    sections = sections_of(ANALYSIS, context_of(labelled))
    assert {key: told(section) for key, section in sections.items()} == {
        "multiplicities-labels": counted(current, current),
        "multiplicities-against": counted(seeds, seeds),
        "multiplicities-test-train": counted(asked, answers_of(train)),
        "multiplicities-test-all": counted(asked, facts),
        "multiplicities-facts-all": counted(facts, facts),
        "multiplicities-known-known": counted(knowns, knowns),
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
    answers = [sum(row[-5] * row[-4] for row in told(found["multiplicities-labels"])[:2]) for found in (before, after)]
    assert answers[1] - answers[0] == pytest.approx(2)  # one answer on each of its two sides


def test_the_finding_has_the_means_of_both_label_sets(labelled: Pool):
    seeds, current = (counted(answers, answers) for answers in seeds_and_new(labelled))
    found = sections_of(ANALYSIS, context_of(labelled))["multiplicities-labels"].finding
    (old_tail, new_tail), (old_head, new_head) = ((seeds[i][-4], current[i][-4]) for i in (0, 1))
    assert found.endswith(
        f"goes from {old_tail:.2f} to {new_tail:.2f} for tail questions"
        f" and from {old_head:.2f} to {new_head:.2f} for head questions."
    )


def test_the_chart_has_the_shares_of_the_table(labelled: Pool):
    section = sections_of(ANALYSIS, context_of(labelled))["multiplicities-labels"]
    assert section.chart is not None
    for row, series in zip(told(section)[:2], section.chart.data["series"], strict=True):
        assert series["x"] == list(BIN_LABELS)
        assert series["y"] == pytest.approx([n / row[7] for n in row[:7]])


def test_no_question_has_no_mean(labelled: Pool):
    context = context_of(labelled)
    empty = context_of(labelled, without_positives(context.labels))
    section = sections_of(ANALYSIS, empty)["multiplicities-labels"]
    assert section.chart is None and section.finding == ""
    assert [row[9] for row in section.tables[0].rows] == [{"value": None, "reason": NO_QUESTION}] * 3
    assert distribution("head", np.zeros(0, dtype=np.int64)).shares == [None] * len(BIN_LABELS)


@pytest.mark.data
def test_fb15k_237_is_as_in_the_table_of_the_paper():
    """Mei and others 2018, table 1: at most 3,962 answers, 3.73 in the mean, deviation 24.22, 579,300 in all."""
    found = read_tsv(Path(settings.DATA_ROOT) / "fb15k-237")
    known = np.concatenate([found.splits[split].rows for split in (Split.TRAIN, Split.VALID)])
    answers = answer_counts(questions_of(known)[0], known, len(found.keys), len(found.keys))
    both = distribution("both", answers)
    assert (both.largest, answers.sum()) == (3962, 579_300)
    assert (f"{both.mean:.2f}", f"{both.sd:.2f}") == ("3.73", "24.22")
