"""The page Accumulation: the judgements one after another, as they were decided."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy.stats import kendalltau

from annotation.models import Judgement
from evaluation.analyses.accumulation import ANALYSIS
from evaluation.labels.decision_order import order_of_decision
from evaluation.labels.label_sets import state_of
from evaluation.labels.pool_table import pool_table
from evaluation.measures.values import means
from evaluation.sections.figure_cache import part_figure
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.evaluation.cases import columns_of, context_of, sections_of
from tests.factories import judge

START = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def in_time(labelled: Pool) -> list[Judgement]:
    """The judgements of the pool, one a minute in a random order; as they were decided."""
    judgements = list(labelled.judgements.order_by("triple_id"))
    np.random.default_rng(3).shuffle(judgements)  # type: ignore[arg-type]  # a list
    for minute, judgement in enumerate(judgements):
        judgement.decided_at = START + timedelta(minutes=minute)
    Judgement.objects.bulk_update(judgements, ["decided_at"])
    return judgements


def test_order_is_that_of_decision_and_of_triples_within_a_moment(labelled: Pool, in_time: list[Judgement]):
    together = in_time[4:7]
    Judgement.objects.filter(pk__in=[one.pk for one in together]).update(decided_at=in_time[4].decided_at)
    expected = [*in_time[:4], *sorted(together, key=lambda one: one.triple_id), *in_time[7:]]
    table = pool_table(labelled)
    decided, shared = order_of_decision(labelled, len(table.triples), table.position_of)
    places = [table.position_of[one.triple_id] for one in expected]
    assert decided[places].tolist() == list(range(1, len(expected) + 1))
    assert np.count_nonzero(decided) == len(expected)
    assert shared == 3


def test_each_step_is_the_labels_until_then(labelled: Pool, in_time: list[Judgement]):
    names = ("micro_mrr", "macro_hits@10")
    sections = sections_of(ANALYSIS, context_of(labelled, measures=names))
    table = pool_table(labelled)
    columns = columns_of(sections["accumulation-values"].tables[0])
    steps = list(columns["judgements"])
    assert steps[0] == 0 and steps[-1] == len(in_time) and len(steps) == 40
    states = [
        state_of(table, [one.triple_id for one in in_time[:n]], [one.verdict for one in in_time[:n]]) for n in steps
    ]
    found = {name: np.array([means(table.pool, state, [name])[name] for state in states]) for name in names}
    for s, system in enumerate(table.systems):
        assert list(columns[system].values()) == pytest.approx(found["micro_mrr"][:, s].tolist(), abs=1e-12)
    taus = columns_of(sections["accumulation-tau"].tables[0])
    for name in names:
        expected = [kendalltau(row, found[name][-1]).statistic for row in found[name]]
        assert list(taus[name].values()) == pytest.approx(expected, abs=1e-12)
    assert len(set(taus["micro_mrr"].values())) > 1  # it can tell


def test_yield_counts_the_positives_that_the_judgements_brought(labelled: Pool, in_time: list[Judgement]):
    section = sections_of(ANALYSIS, context_of(labelled))["accumulation-yield"]
    columns = columns_of(section.tables[0])
    before = 0
    for n, new in columns["new"].items():
        assert new == sum(one.verdict == "positive" for one in in_time[:n])
        step = [one.verdict == "positive" for one in in_time[before:n]]
        assert columns["yield"][n] == (pytest.approx(sum(step) / len(step)) if step else "")
        before = n
    assert columns["positives"][0] == labelled.seeds.count()
    total = columns["new"][len(in_time)]
    share = 100 * total / len(in_time)
    assert section.finding == f"{len(in_time)} judgements found {total} new positives: {share:.1f} %."


def test_last_step_is_the_current_labels_also_for_the_questions_of_the_seeds(labelled: Pool):
    context = context_of(labelled, questions="original", assumed="unjudged", measures=("bpref",))
    columns = columns_of(sections_of(ANALYSIS, context)["accumulation-values"].tables[0])
    expected = context.labels.values(["bpref"], False)["bpref"].mean()
    found = [list(columns[system].values())[-1] for system in context.systems]
    assert found == pytest.approx(expected.tolist(), abs=1e-12)
    assert list(columns["questions"].values())[-1] == context.labels.question_counts().answered


def test_caption_says_what_no_judgement_is_and_n_of_all(labelled: Pool):
    context = context_of(labelled, questions="original")
    sections = sections_of(ANALYSIS, context)
    answers, questions = context.labels.values(["micro_mrr", "macro_mrr"]).values()
    for section in sections.values():
        assert "0 is no judgement yet: seeds and filters only" in section.caption
        assert section.caption.count(f"At the end n = {answers.n} answers to {questions.n} questions.") == 1


def test_imported_judgements_of_one_moment_are_told(labelled: Pool):
    labelled.judgements.update(decided_at=START)
    n = labelled.judgements.count()
    notes = sections_of(ANALYSIS, context_of(labelled))["accumulation-values"].notes
    assert len(notes) == 1
    assert notes[0].startswith(f"{n} of {n} judgements share their time with others")


def test_without_judgements_there_are_the_seeds(pool: Pool):
    sections = sections_of(ANALYSIS, context_of(pool))
    assert list(columns_of(sections["accumulation-values"].tables[0])["judgements"]) == [0]
    assert sections["accumulation-values"].finding == "Nothing is judged yet: there are seeds and filters only."
    assert sections["accumulation-tau"].finding == sections["accumulation-yield"].finding == ""


def test_a_new_judgement_is_on_the_page(labelled: Pool):
    part = ANALYSIS.parts[0]

    def last() -> list[object]:
        content = part_figure(labelled, ANALYSIS, part, Settings()).content
        return content["sections"][0]["tables"][0]["rows"][-1][:2]

    judged, positives = last()
    waiting = labelled.triples.filter(reason="", judgement=None).first()
    assert waiting is not None and isinstance(judged, int) and isinstance(positives, int)
    judge(waiting, "positive")
    assert last() == [judged + 1, positives + 1]
