"""The rule that stops the release of triples: read from what was kept, never computed while people wait."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Campaign
from annotation.release.next_batch import stop_reason
from annotation.signals import batch_wanted
from core.jobs.execution import execute
from core.models import Job, Worker
from evaluation.enums import EvaluationJob
from evaluation.models import Figure
from evaluation.pages.registry import get_analysis
from evaluation.planning import work_left
from evaluation.planning.work_left import order_figure
from evaluation.sections.figure_cache import REST, part_figure
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.factories import judge


@pytest.fixture
def campaign(labelled: Pool) -> Campaign:
    found = open_campaign(labelled)
    found.target_tau = 0.9
    found.save()
    return found


def keep(campaign: Campaign, low: float | None, **unsure: int) -> None:
    """The figure of the target as it is now, with another lower end, and every pair decided."""
    kept = order_figure(campaign.pool, campaign.target_measure)
    kept.content |= {"low": low, "tau": low, "undecided": 0, "undefined": 0, **unsure}
    kept.save()


def asked(campaign: Campaign) -> list[str]:
    return [reason for _, reason in batch_wanted.send(sender=Campaign, campaign=campaign)]


def test_nothing_stops_without_a_target_or_a_figure(campaign: Campaign):
    assert asked(campaign) == [""]
    keep(campaign, 1.0)
    campaign.target_tau = None
    assert asked(campaign) == [""]


@pytest.mark.parametrize(("low", "stops"), [(0.9, True), (1.0, True), (0.89, False), (None, False)])
def test_it_stops_when_the_interval_begins_at_the_target(campaign: Campaign, low: float | None, stops: bool):
    keep(campaign, low)
    said = (
        f"The target is reached: by Micro MRR the 95 % interval of tau, now against resampled, begins at {low:.2f},"
        " and 0.90 was asked for."
        if low
        else ""
    )
    assert asked(campaign) == [said if stops else ""]
    assert stop_reason(campaign) == (said if stops else "")


@pytest.mark.parametrize("unsure", ["undecided", "undefined"])
def test_it_goes_on_while_a_pair_is_undecided_or_a_resample_ties_all(campaign: Campaign, unsure: str):
    keep(campaign, 1.0, **{unsure: 1})
    assert asked(campaign) == [""]


def test_a_figure_older_than_the_labels_says_so(campaign: Campaign):
    keep(campaign, 0.95)
    judged = campaign.pool.judgements.count()
    judge(campaign.pool.triples.filter(judgement=None)[0], "positive")
    (said,) = asked(campaign)
    assert said.endswith(f"0.90 was asked for. This is of the first {judged} judgements; later ones wait for a job.")


def test_it_is_of_the_measure_of_the_target(campaign: Campaign):
    keep(campaign, 0.95)
    campaign.target_measure = "map@20"
    assert asked(campaign) == [""]


def test_it_never_computes(campaign: Campaign, monkeypatch, django_assert_num_queries):
    keep(campaign, 0.5)
    monkeypatch.setattr(work_left, "bootstrap_order", None)
    with django_assert_num_queries(4):  # the figure, and the versions of labels, of runs and of the pool
        assert asked(campaign) == [""]
    judge(campaign.pool.triples.filter(judgement=None)[0], "positive")
    assert asked(campaign) == [""]


@pytest.mark.django_db(transaction=True)
def test_a_job_is_asked_once_for_what_is_missing_or_old(campaign: Campaign):
    jobs = Job.objects.filter(kind=EvaluationJob.EVALUATE)
    assert asked(campaign) == [""] and not jobs.exists()  # nobody would do it
    Worker.objects.create(name="w", queues="cpu", seen_at=timezone.now())
    asked(campaign)
    asked(campaign)
    job = jobs.get()
    assert job.params == {"analysis": "planning", "part": "order", "settings": ""}
    execute(job.pk, "w")
    assert Figure.objects.filter(pool=campaign.pool, key="stopping?micro_mrr").count() == 1
    asked(campaign)
    judge(campaign.pool.triples.filter(judgement=None)[0], "positive")
    asked(campaign)
    assert jobs.count() == 1  # not at every label
    jobs.update(finished_at=timezone.now() - REST)
    asked(campaign)
    assert jobs.count() == 2


def test_one_system_never_stops(campaign: Campaign):
    for system in list(campaign.pool.systems.all())[1:]:
        system.run.delete()
    analysis = get_analysis("planning")
    part_figure(campaign.pool, analysis, analysis.part("order"), Settings())
    kept = Figure.objects.get(key="stopping?micro_mrr")
    assert kept.content["low"] is None
    assert asked(campaign) == [""]
