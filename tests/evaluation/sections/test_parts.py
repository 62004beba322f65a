"""Under which settings a part is computed and kept."""

from __future__ import annotations

import pytest

from core.models import Job
from evaluation.analyses.registry import get_analysis
from evaluation.sections.parts import part_job, part_key, start_part
from evaluation.sections.settings import Settings
from pooling.models import Pool

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("key", ["stability", "discriminative"])
def test_full_test_part_is_one_job_for_both_question_sets(labelled: Pool, key: str):
    analysis = get_analysis(key)
    part = analysis.part("full-test")
    job = start_part(labelled, analysis, part, Settings())
    original = Settings(labels="seeds", questions="original")
    assert start_part(labelled, analysis, part, original) == job
    assert part_job(labelled, analysis, part, original) == job
    assert Job.objects.filter(params__part="full-test").count() == 1
    assert part_key(analysis, part, original) == part_key(analysis, part, Settings())


def test_other_parts_are_kept_by_question_set(labelled: Pool):
    analysis = get_analysis("stability")
    part = analysis.part("labels")
    keys = {part_key(analysis, part, Settings(questions=one)) for one in ("grown", "original")}
    assert len(keys) == 2
