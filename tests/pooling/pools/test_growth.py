"""Pools that grow: in any order the pool that is built at once, without a change to what people did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from django.db import connection

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Judgement
from core.jobs.progress import JobCancelled, Progress
from core.models import AuditEntry, Job
from pooling.errors import PoolError
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, PooledTriple, Run, System
from pooling.pools import growth as pool_growth
from pooling.pools.filtering import refilter_pool
from pooling.pools.growth import extend_pool, run_extend_pool
from pooling.pools.kernels.gathering import PROVENANCE
from pooling.pools.seeds import seed_array
from pooling.runs.distributions import has_predictive
from pooling.runs.files import read_ranks
from pooling.runs.score import score_for_pool, wanted_triples
from pooling.scoring.rank_rows import row_keys, rows_of
from pooling.signals import pool_grew
from pooling.training.train import systems_with_runs
from tests.factories import judge_all, make_pool, names_of, progress_of
from tests.pooling.pools.growth_cases import content, extend

STEPS = {"depth": {"depth": 6}, "systems": {"systems": ["complex", "rescal"]}, "seeds": {"count": 9, "seed": 3}}
ORDERS = [
    ("depth", "systems", "seeds"), ("seeds", "systems", "depth"), ("systems", "depth+seeds"), ("depth+systems+seeds",)
]  # fmt: skip


def rows(pool: Pool) -> list[dict]:
    return list(pool.triples.order_by("id").values("id", "head", "relation", "tail", "reason"))


def ranked(system: System) -> set[int]:
    return set(read_ranks(Run.objects.get(system=system)).keys.tolist())


# -- what it becomes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_grown_in_any_order_it_is_the_pool_built_at_once(small: Pool, tmp_path: Path, order):
    for step in order:
        small = extend(small, **{k: v for part in step.split("+") for k, v in STEPS[part].items()})
    seeds = [names_of(small.graph, seed) for seed in seed_array(small).tolist()]
    (tmp_path / "seeds.tsv").write_text("".join("\t".join(seed) + "\n" for seed in seeds))
    whole = make_pool(
        small.graph,
        "whole",
        sample=None,
        seed=None,
        seeds_file=tmp_path / "seeds.tsv",
        depth=6,
        systems=["distmult", "transe", "complex", "rescal"],
    )
    assert content(small) == content(whole)
    assert len(set(seeds)) == 7 + 9
    assert (small.depth, small.contributors) == (6, ["distmult", "transe", "complex", "rescal"])
    assert set(small.systems.all()) == set(whole.systems.all())
    e, r = small.graph.num_entities, small.graph.num_relations
    triples = [(t["head"], t["relation"], t["tail"]) for t in rows(small)]
    wanted = row_keys(rows_of(np.concatenate([np.array(triples), open_graph(small.graph).test])), e, r)
    assert all(set(wanted.tolist()) <= ranked(system) for system in small.systems.all())


def test_rows_and_labels_stay_and_what_is_new_comes_after_them(small: Pool):
    before, given = rows(small), judge_all(small)
    judgements = list(Judgement.objects.order_by("pk").values())
    small = extend(small, depth=6, systems=["complex"], count=5)
    after = rows(small)
    assert [row["id"] for row in after[: len(before)]] == [row["id"] for row in before]
    assert len(after) > len(before)
    assert list(Judgement.objects.order_by("pk").values()) == judgements
    assert {judgement["triple_id"] for judgement in judgements} == set(given)


@pytest.mark.parametrize("judged", [True, False])
def test_a_reason_stays_under_a_campaign_and_follows_the_filters_without_one(trained: Graph, judged: bool):
    """A triple of `lives in` that only a head question found is for people; a tail question makes it trivial."""
    pool = make_pool(trained, sample=1.0, depth=30, systems=["transe"])  # deep enough to find everything
    row = next(row for row in pool.triples.filter(reason="category-tail") if sides(row) == {0, 1})
    whole = bytes(row.provenance)
    row.provenance = b"".join(f.tobytes() for f in np.frombuffer(whole, dtype=PROVENANCE) if f["side"] == 1)
    row.reason = ""  # as if the tail question were no seed's yet
    row.save()
    if judged:
        open_campaign(pool)
    extend(pool, depth=31)
    row.refresh_from_db()
    assert (bytes(row.provenance), row.reason) == (whole, "" if judged else "category-tail")


def sides(row: PooledTriple) -> set[int]:
    return set(np.frombuffer(bytes(row.provenance), dtype=PROVENANCE)["side"].tolist())


@pytest.mark.parametrize("predictive", [True, False])
def test_distributions_of_what_is_new_are_made_last_unless_they_are_unwanted(
    small: Pool, monkeypatch, predictive: bool
):
    rescal = System.objects.get(name="rescal")  # none of the pool's, but ranked
    score_for_pool(rescal, small, progress_of(small))
    sizes, predict = [], pool_growth.predict_for_pool

    def when_it_has_grown(system: System, pool: Pool, progress: Progress) -> None:
        sizes.append(pool.triples.count())
        if system == rescal:
            raise PoolError("no model here")
        predict(system, pool, progress)

    monkeypatch.setattr(pool_growth, "predict_for_pool", when_it_has_grown)
    small = extend(small, depth=4, systems=["complex"], predictive=predictive)
    assert sizes == [small.triples.count()] * (4 if predictive else 0)
    wanted = wanted_triples(small, open_graph(small.graph))
    held = {system.name for system in systems_with_runs(small) if has_predictive(system.run, wanted)}
    assert held == ({"distmult", "transe", "complex"} if predictive else set())
    said = "rescal has no predictive distributions of the new triples: no model here" in last_log(small)
    assert said == predictive


def test_distributions_that_fail_for_a_system_of_the_pool_fail_the_job(small: Pool, monkeypatch):
    def fail(*args: object) -> None:
        raise PoolError("no model here")

    monkeypatch.setattr(pool_growth, "predict_for_pool", fail)
    with pytest.raises(PoolError, match="no model here"):
        extend(small, depth=3, predictive=True)
    assert Pool.objects.get(pk=small.pk).depth == 3  # it has grown all the same


def last_log(pool: Pool) -> str:
    return str(pool.jobs.order_by("pk").last().log)  # type: ignore[union-attr]


def test_what_was_added_is_noted(small: Pool):
    before = {row["id"] for row in rows(small)}
    small = extend(small, depth=4, systems=["rescal"], sample=0.1, seed=8)
    new = [row for row in rows(small) if row["id"] not in before]
    assert [list(entry) for entry in small.growth] == [["when", "what", "triples", "job", "to_people"]]
    words = "depth 2 to 4; system rescal; 3 seeds (sample 0.1 of test, seed 8)"
    assert small.growth[0]["what"] == words
    assert small.growth[0]["triples"] == len(new) > small.growth[0]["to_people"]
    assert small.growth[0]["to_people"] == sum(row["reason"] == "" for row in new)
    assert small.seed_source == "sample 0.2 of test, seed 5; sample 0.1 of test, seed 8"
    entry = AuditEntry.objects.get(act="pool-extended")
    assert (entry.pool, entry.about, entry.details) == (small, f"p: {words}", {"job": Job.objects.latest("id").pk})


def test_what_is_to_people_of_each_addition_follows_the_filters(small: Pool):
    """So that the page, which gives the first row the rest, never shows less than none."""
    first = small.triples.count()
    small = extend(extend(small, systems=["rescal"]), depth=6)
    ends = np.cumsum([first, *(entry["triples"] for entry in small.growth)])

    def shown() -> list[int]:
        reason = np.array(small.triples.order_by("id").values_list("reason", flat=True), dtype=object)
        return [int((part == "").sum()) for part in np.split(reason, ends)[1:-1]]

    before = shown()
    assert [entry["to_people"] for entry in small.growth] == before
    refilter_pool(small, [])
    small.refresh_from_db()
    assert [entry["to_people"] for entry in small.growth] == shown() != before
    assert shown() == [entry["triples"] for entry in small.growth]


def test_an_extension_that_is_asked_for_twice_is_recorded_once(small: Pool):
    """Others that are asked for at the same time have a job and a line of their own."""
    jobs = [extend_pool(small, depth=depth, predictive=False) for depth in (6, 6, 7)]
    assert jobs[0] == jobs[1] != jobs[2]
    told = AuditEntry.objects.filter(act="pool-extended").order_by("pk")
    assert [entry.details for entry in told] == [{"job": jobs[0].pk}, {"job": jobs[2].pk}]


def test_others_hear_of_it_when_it_is_stored_and_again_of_the_next_attempt(small: Pool):
    heard = []

    def hear(sender: type, pool: Pool, tell: Callable[[int, int], None], **kwargs: object) -> None:
        tell(3, 4)
        heard.append((sender, Pool.objects.get(pk=pool.pk).depth, len(pool.triples.all())))
        if len(heard) == 1:
            raise ValueError("the disk is full")

    pool_grew.connect(hear)
    job = extend_pool(small, depth=6, count=3, predictive=False)
    try:
        with pytest.raises(ValueError, match="the disk is full"):
            run_extend_pool(job, Progress(job))
        grown = content(Pool.objects.get(pk=small.pk))
        run_extend_pool(job, Progress(job))
    finally:
        pool_grew.disconnect(hear)
    assert heard == [(Pool, 6, len(grown))] * 2
    job.refresh_from_db()
    assert (job.stage, job.done, job.total) == ("giving new triples to people", 3, 4)
    small = Pool.objects.get(pk=small.pk)
    assert (content(small), len(small.growth)) == (grown, 1)


def test_nobody_hears_of_a_pool_before_it_is_committed(small: Pool):
    heard = []

    def hear(sender: type, **kwargs: object) -> None:
        heard.append(len(connection.savepoint_ids))

    pool_grew.connect(hear)
    outside = len(connection.savepoint_ids)
    try:
        extend(small, depth=6)
    finally:
        pool_grew.disconnect(hear)
    assert heard == [outside]  # what one transaction does holds the database: who listens may have much to write


def test_systems_outside_the_pool_get_rank_rows_of_what_is_new(small: Pool):
    outside = System.objects.get(name="rescal")
    score_for_pool(outside, small, progress_of(small))
    small = extend(small, depth=6)
    e, r = small.graph.num_entities, small.graph.num_relations
    triples = np.array([(t["head"], t["relation"], t["tail"]) for t in rows(small)])
    assert set(row_keys(rows_of(triples), e, r).tolist()) <= ranked(outside)
    assert not Run.objects.filter(system__name="complex").exists()  # never ranked: nobody asked for it


def test_a_system_outside_the_pool_that_cannot_be_ranked_is_named_and_in_nobodys_way(small: Pool):
    score_for_pool(System.objects.get(name="rescal"), small, progress_of(small))
    System.objects.filter(name="rescal").update(sha256="0" * 64)
    job = extend_pool(small, depth=6)
    run_extend_pool(job, Progress(job))
    job.refresh_from_db()
    assert "rescal has no rank rows of the new triples: " in job.log
    assert Pool.objects.get(pk=small.pk).depth == 6


# -- interrupted ------------------------------------------------------------------------------------------------


def test_a_job_that_is_done_twice_adds_nothing_the_second_time(small: Pool):
    job = extend_pool(small, depth=4, systems=["complex"], count=3)
    run_extend_pool(job, Progress(job))
    once = content(Pool.objects.get(pk=small.pk))
    run_extend_pool(job, Progress(job))
    small = Pool.objects.get(pk=small.pk)
    assert (content(small), len(small.growth), small.seeds.count()) == (once, 1, 10)
    job.refresh_from_db()
    assert job.log.splitlines()[-1].endswith(" pool p has all of it")


@pytest.mark.parametrize("place", ["gather_runs", "merge", "_score_everywhere", "write_rows", "store_seeds"])
def test_killed_anywhere_it_is_as_it_was_and_goes_on(small: Pool, monkeypatch, place: str):
    class KilledError(BaseException):
        """Nothing catches it."""

    def die(*args: object) -> None:
        raise KilledError

    before = content(small)
    job = extend_pool(small, depth=4, systems=["complex"], count=3)
    with monkeypatch.context() as patch:
        patch.setattr(pool_growth, place, die)
        with pytest.raises(KilledError):
            run_extend_pool(job, Progress(job))
    small = Pool.objects.get(pk=small.pk)
    assert (content(small), small.depth, small.systems.count(), small.seeds.count()) == (before, 2, 2, 7)
    run_extend_pool(job, Progress(job))
    twin = make_pool(small.graph, "twin", sample=0.2, depth=2, systems=["distmult", "transe"])
    assert content(Pool.objects.get(pk=small.pk)) == content(extend(twin, depth=4, systems=["complex"], count=3))


@pytest.mark.parametrize("place", ["score_triples", "_score_everywhere"])
def test_cancelled_it_leaves_the_pool_as_it_was(small: Pool, monkeypatch, place: str):
    before = content(small)
    job = extend_pool(small, depth=4, systems=["complex"], count=3)
    progress = Progress(job)
    real = getattr(pool_growth, place)

    def cancelled(*args: object, **options: object) -> None:
        real(*args, **options)
        progress.stop()

    monkeypatch.setattr(pool_growth, place, cancelled)
    with pytest.raises(JobCancelled):
        run_extend_pool(job, progress)
    small = Pool.objects.get(pk=small.pk)
    assert (content(small), small.depth, small.growth, small.seeds.count()) == (before, 2, [], 7)


def test_what_another_job_adds_in_the_meantime_is_kept(small: Pool, monkeypatch):
    real, calls = pool_growth._score_everywhere, []

    def meanwhile(*args: object) -> None:
        calls.append(1)
        if len(calls) == 1:
            extend(small, systems=["complex"])
        real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(pool_growth, "_score_everywhere", meanwhile)
    both = extend(small, depth=4)
    monkeypatch.undo()
    assert len(calls) == 3  # the first try, the other job, the second try
    assert [entry["what"] for entry in both.growth] == ["system complex", "depth 2 to 4"]
    twin = make_pool(small.graph, "twin", sample=0.2, depth=2, systems=["distmult", "transe"])
    assert content(both) == content(extend(twin, depth=4, systems=["complex"]))


def test_a_pool_that_never_stands_still_ends_the_job_with_a_word(small: Pool, monkeypatch):
    def meanwhile(*args: object) -> None:
        pool = Pool.objects.get(pk=small.pk)
        pool.growth = [*pool.growth, {"what": "more"}]
        pool.save()

    monkeypatch.setattr(pool_growth, "_score_everywhere", meanwhile)
    with pytest.raises(PoolError) as caught:
        extend(small, depth=4)
    assert str(caught.value) == "Others keep changing pool p; start this job again when they are done."
