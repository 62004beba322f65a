"""What a caption says of a label set."""

from __future__ import annotations

import pytest

from evaluation.sections.section import Column, Section, Table, beside, evaluated, label_caption
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.evaluation.cases import context_of

SEEDS_ONLY = "questions of the seeds only"


def test_caption_names_the_questions_that_are_evaluated(labelled: Pool):
    """Full test has its own questions, all of which are asked under either setting."""
    original = Settings(questions="original")
    context = context_of(labelled, labels="full-test", against="current", questions="original")
    assert SEEDS_ONLY not in label_caption(context.labels, original)
    assert SEEDS_ONLY in label_caption(context.against, original)
    assert SEEDS_ONLY not in label_caption(context_of(labelled).labels, Settings())


@pytest.mark.parametrize("key", ["seeds", "current", "full-test"])
@pytest.mark.parametrize("questions", ["grown", "original"])
def test_n_of_a_caption_is_that_of_the_values(labelled: Pool, key: str, questions: str):
    chosen = context_of(labelled, labels=key, questions=questions).labels
    answers, asked = chosen.values(["micro_mrr", "map"]).values()
    assert evaluated(chosen) == f"{answers.n} answers to {asked.n} questions"


def test_sections_and_tables_of_a_label_set_beside_the_chosen_one_name_it():
    table = Table("pairs", "Pairs by Micro MRR", [Column("pair", "Pair", "text")], [])
    [found] = beside([Section("curve", "p-values", "All pairs.", "caption", [table], None)], "full-test")
    assert (found.key, found.title) == ("curve-full-test", "p-values: full test")
    assert [(one.key, one.title) for one in found.tables] == [("pairs-full-test", "Pairs by Micro MRR: full test")]
    assert found.text == "For comparison only: full test, whatever labels are chosen above. All pairs."
