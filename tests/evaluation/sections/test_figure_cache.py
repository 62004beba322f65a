"""Measures equal a direct computation from the scores; figures are computed once for a version of the labels."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import Job
from evaluation.labels.pool_table import systems_with_runs
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Figure
from evaluation.overview.rankings import overview
from evaluation.pages.registry import get_analysis
from evaluation.sections import figure_cache
from evaluation.sections.figure_cache import (
    FigureBusy,
    current_figure,
    figure_version,
    part_figure,
    part_job,
    part_key,
    start_part,
)
from evaluation.sections.metrics import metrics
from evaluation.sections.settings import Settings
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from tests.evaluation.oracle import Oracle, positives_of, seeds_of
from tests.factories import judge

NAMES = ("micro_mr", "micro_mrr", "micro_hits@3", "macro_mr", "macro_mrr", "macro_hits@3")


@pytest.mark.parametrize("labels", ["seeds", "current", "full-test"])
def test_values_equal_a_direct_computation_from_the_scores(labelled: Pool, labels: str):
    test = set(map(tuple, open_graph(labelled.graph).test.tolist()))
    positives = {"seeds": seeds_of(labelled), "current": positives_of(labelled), "full-test": test}[labels]
    content = metrics(labelled, labels, NAMES)
    assert list(content["systems"]) == ["transe", "distmult", "complex"]
    for system in systems_with_runs(labelled):
        expected = Oracle(labelled, system, full_test=labels == "full-test").measures(positives)
        assert content["systems"][system.name] == pytest.approx(expected, rel=1e-12)
    assert content["n"]["micro_mrr"] == 2 * len(positives)
    assert content["counts"]["positive"] == len(positives)


# -- kept -------------------------------------------------------------------------------------------------------


class Counted:
    """A computation that knows how often it was done, and gives the number."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> dict[str, int]:
        self.times += 1
        return {"number": self.times}


def test_a_figure_is_computed_once_for_a_version(pool: Pool):
    compute = Counted()
    first = current_figure(pool, "k", "v1", compute)
    again = current_figure(pool, "k", "v1", compute)
    assert (again.pk, again.content, again.computed_at) == (first.pk, {"number": 1}, first.computed_at)
    other = current_figure(pool, "k", "v2", compute)
    assert (other.pk, other.content, compute.times) == (first.pk, {"number": 2}, 2)
    assert Figure.objects.get().version == "v2"


def test_a_computation_that_fails_leaves_the_old_figure_and_no_claim(pool: Pool):
    current_figure(pool, "k", "v1", Counted())

    def fail() -> dict[str, int]:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        current_figure(pool, "k", "v2", fail)
    kept = Figure.objects.get()
    assert (kept.version, kept.content, kept.claimed_until) == ("v1", {"number": 1}, None)
    assert current_figure(pool, "k", "v2", Counted()).version == "v2"


def test_a_dead_computation_is_taken_over_and_a_live_one_waited_for(pool: Pool, monkeypatch):
    kept = Figure.objects.create(pool=pool, key="k", content={}, claimed_until=timezone.now() - timedelta(seconds=1))
    assert current_figure(pool, "k", "v1", Counted()).content == {"number": 1}
    Figure.objects.filter(pk=kept.pk).update(version="", claimed_until=timezone.now() + timedelta(minutes=1))

    def done_by_somebody_else(seconds: float) -> None:
        Figure.objects.filter(pk=kept.pk).update(version="v1", content={"by": "other"}, claimed_until=None)

    monkeypatch.setattr(figure_cache.time, "sleep", done_by_somebody_else)
    compute = Counted()
    assert current_figure(pool, "k", "v1", compute).content == {"by": "other"} and compute.times == 0


def test_while_one_viewer_computes_the_others_wait(pool: Pool, monkeypatch):
    class Waits(Exception):  # noqa: N818 - a signal of this test
        pass

    def wait(seconds: float) -> None:
        raise Waits

    monkeypatch.setattr(figure_cache.time, "sleep", wait)
    other = Counted()

    def compute() -> dict[str, int]:
        with pytest.raises(Waits):
            current_figure(pool, "k", "v1", other)
        return {"number": 7}

    assert current_figure(pool, "k", "v1", compute).content == {"number": 7}
    assert current_figure(pool, "k", "v1", other).content == {"number": 7} and other.times == 0


def test_nobody_waits_long_for_somebody_else(pool: Pool, monkeypatch):
    monkeypatch.setattr(figure_cache, "WAIT", 0.1)
    current_figure(pool, "k", "v1", Counted())
    Figure.objects.update(claimed_until=timezone.now() + timedelta(minutes=1))
    compute = Counted()
    assert current_figure(pool, "k", "v2", compute).version == "v1" and compute.times == 0
    Figure.objects.update(version="")
    with pytest.raises(FigureBusy, match="Load the page again"):
        current_figure(pool, "k", "v2", compute)


def test_a_job_waits_for_nobody(pool: Pool):
    Figure.objects.create(
        pool=pool, key="k", content={}, heavy=True, claimed_until=timezone.now() + timedelta(minutes=1)
    )
    assert current_figure(pool, "k", "v1", Counted(), heavy=True).content == {"number": 1}


def test_a_figure_that_goes_while_it_is_computed_is_no_error(pool: Pool):
    def compute() -> dict[str, int]:
        Figure.objects.all().delete()
        return {"number": 3}

    assert current_figure(pool, "k", "v1", compute).content == {"number": 3}


def test_the_oldest_figures_of_a_pool_go(pool: Pool, monkeypatch):
    monkeypatch.setattr(figure_cache, "KEPT", 3)
    for i in range(5):
        current_figure(pool, f"k{i}", "v", Counted())
    assert sorted(Figure.objects.values_list("key", flat=True)) == ["k2", "k3", "k4"]
    Figure.objects.update(heavy=True)  # what a job computed stays
    current_figure(pool, "k5", "v", Counted())
    assert Figure.objects.count() == 4


def test_the_version_follows_what_the_label_sets_rest_on(labelled: Pool):
    freeze_qrels(labelled, "v1")
    fixed, moving = ("seeds", "full-test", "qrels:v1"), ("current", "depth:2")
    before = {key: figure_version(labelled, [key]) for key in (*fixed, *moving)}
    assert figure_version(labelled, ["seeds", "current"]) == before["current"] != before["seeds"]
    judge(labelled.triples.filter(judgement=None)[0], "positive")
    after = {key: figure_version(labelled, [key]) for key in (*fixed, *moving)}
    assert [key for key in before if after[key] != before[key]] == list(moving)


def test_a_label_of_another_pool_changes_no_version_here(labelled: Pool):
    from tests.factories import make_pool

    other = make_pool(labelled.graph, name="other")  # the same seeds: no run is extended
    before = figure_version(labelled)
    judge(other.triples.all()[0], "positive")
    assert figure_version(labelled) == before


def test_undefined_values_have_a_reason(labelled: Pool):
    labelled.seeds.all().delete()
    content = metrics(labelled, "seeds", ["micro_mrr", "judged@10"])
    for system in content["systems"]:
        assert content["systems"][system] == {"micro_mrr": None, "judged@10": None}
        assert content["reasons"][system]["micro_mrr"] == "no question has an answer under these labels"


# -- parts of pages ---------------------------------------------------------------------------------------------


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


# -- colours ----------------------------------------------------------------------------------------------------


def numbers_by_name(found, systems: list[str]) -> dict[str, set[int]]:
    """Collect the number of each system in charts, however deep."""
    if isinstance(found, list):
        parts = found
    elif isinstance(found, dict):
        parts = list(found.values())
        if found.get("name") in systems and isinstance(found.get("system"), int):
            parts.append({"one": (found["name"], found["system"])})
    else:
        return {found[0]: {found[1]}} if isinstance(found, tuple) and len(found) == 2 else {}
    merged: dict[str, set[int]] = {}
    for part in parts:
        for name, numbers in numbers_by_name(part, systems).items():
            merged.setdefault(name, set()).update(numbers)
    return merged


@pytest.mark.parametrize("analysis", ["depth", "probe", "measures"])
def test_system_keeps_its_colour_when_others_are_left_out(labelled: Pool, analysis: str):
    every = ["transe", "distmult", "complex"]
    found = get_analysis(analysis)
    for chosen in ((), ("distmult", "complex"), ("transe", "complex")):
        charts = []
        for part in found.parts:
            figure = part_figure(labelled, found, part, Settings(systems=chosen))
            charts += [section["chart"] for section in figure.content["sections"] if section["chart"]]
        numbers = numbers_by_name(charts, every)
        assert numbers and all(numbers[name] == {every.index(name)} for name in numbers)
        for chart in charts:
            if chart["kind"] == "winners":
                assert {i for row in chart["data"]["best"] for i in row} - {-1} == {
                    one["system"] for one in chart["data"]["regions"]
                } - {None}


def test_overview_keeps_colours_when_systems_are_left_out(labelled: Pool):
    all_of_them = {line.change.system: line.change.colour for line in overview(labelled, "micro_mrr")["lines"]}
    two = overview(labelled, "micro_mrr", Settings(systems=("distmult", "complex")))
    assert {line.change.system: line.change.colour for line in two["lines"]} == {
        name: all_of_them[name] for name in ("distmult", "complex")
    }
    assert {row["system"]: row["colour"] for row in two["rows"]} == {
        name: all_of_them[name] for name in ("distmult", "complex")
    }
