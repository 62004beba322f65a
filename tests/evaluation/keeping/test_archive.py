"""Graphs and pools go into the archive and come back."""

from __future__ import annotations

import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.enums import CampaignState
from core.enums import JobState
from core.models import AuditEntry, Job
from evaluation.keeping.archive import KeepingError, archive, take_back
from pooling.enums import PoolingJob
from pooling.models import Graph, Pool
from tests.factories import make_job, make_person


def acts() -> list[tuple[str, str]]:
    return list(AuditEntry.objects.filter(act__contains="archiv").order_by("id").values_list("act", "about"))


@pytest.mark.parametrize(("model", "name", "word"), [(Graph, "town", "graph"), (Pool, "p", "pool")])
def test_there_and_back_once(pool: Pool, model, name: str, word: str):
    subject, boss = model.objects.get(name=name), make_person("boss", "manager")
    for _ in range(2):  # the second time changes nothing
        archive(subject, boss)
    assert (model.objects.get(name=name).archived, subject.archived) == (True, True)
    take_back(subject, boss)
    take_back(subject, boss)
    assert model.objects.get(name=name).archived is False
    found = AuditEntry.objects.filter(person=boss).order_by("id").values_list("act", "about", "pool")
    of = pool.pk if model is Pool else None
    assert list(found) == [(f"{word}-archived", name, of), (f"{word}-restored", name, of)]


def test_not_while_a_job_is_at_work(pool: Pool):
    job = make_job(PoolingJob.SCORE, JobState.RUNNING, pool=pool)
    for subject in (pool, pool.graph):
        with pytest.raises(KeepingError) as caught:
            archive(subject, None)
        assert str(caught.value) == (
            f"Job {job.pk} is at work on {subject.name}: cancel it first, or wait for its end."
        )
        assert type(subject).objects.get(pk=subject.pk).archived is False
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    archive(pool, None)
    assert Pool.objects.get(pk=pool.pk).archived is True


def test_not_while_people_label(pool: Pool):
    campaign = open_campaign(pool)
    with pytest.raises(KeepingError, match=r"^People are labelling p: pause or close its campaign before archiving it"):
        archive(pool, None)
    type(campaign).objects.update(state=CampaignState.PAUSED)
    archive(pool, None)
    assert Pool.objects.get(pk=pool.pk).archived is True
