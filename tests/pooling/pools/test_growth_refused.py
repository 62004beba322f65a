"""Extensions that cannot be, and pools that are frozen: refused with a reason, and nothing is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.enums import JobState
from core.models import AuditEntry, Job
from pooling.enums import PoolingJob
from pooling.errors import PoolError
from pooling.models import Graph, Pool
from pooling.pools.build import create_pool, freeze_pool
from pooling.pools.growth import extend_pool, grow
from pooling.pools.seeds import seed_array
from pooling.training.train import SystemError_
from tests.factories import names_of, progress_of, town
from tests.pooling.pools.growth_cases import extend

REFUSED = [
        ({}, "Nothing is asked for: give a depth, systems or seeds."),
        ({"depth": 2}, "Depth 2: pool p has depth 2 already; give more."),
    ({"depth": 101}, "Depth 101: a run holds the first 100 candidates of a question; give 1 to 100."),
    ({"systems": ["transe", "rescal"]}, "Pool p has transe already."),
        ({"count": 28}, "Count 28: give 1 to 27, the number of test triples to sample from."),
        ({"count": 0}, "Count 0: give 1 to 27, the number of test triples to sample from."),
        ({"sample": 2.0}, "Sample 2.0: give a share of the test triples above 0 and at most 1."),
        ({"sample": 0.1, "count": 2}, "A sample has a share or a count of the test triples, not both: leave one away."),
        ({"sample": 0.1, "seeds_file": Path("x")}, "Give a sample of seeds or a file of them, not both."),
]  # fmt: skip


def test_an_extension_that_cannot_be_is_refused_and_starts_nothing(small: Pool):
    for asked, message in REFUSED:
        with pytest.raises(PoolError) as caught:
            extend_pool(small, **asked)
        assert str(caught.value) == message
    assert not Job.objects.filter(kind=PoolingJob.EXTEND_POOL).exists()
    assert not AuditEntry.objects.filter(act="pool-extended").exists()


def test_a_system_that_is_not_trained_is_refused(small: Pool):
    with pytest.raises(SystemError_, match=r"^Graph town has no trained system rotate\. Trained: transe, "):
        extend_pool(small, systems=["rotate"])


def test_more_systems_than_findings_can_name_are_refused(small: Pool):
    Pool.objects.update(contributors=[*small.contributors, *(f"s{i}" for i in range(254))])
    with pytest.raises(PoolError) as caught:
        extend_pool(small, systems=["rescal"])
    assert str(caught.value) == "Pool p would have more than 256 systems: add fewer."


def test_seeds_of_a_file_are_those_that_the_pool_lacks(small: Pool, tmp_path: Path):
    old = [names_of(small.graph, seed) for seed in seed_array(small).tolist()]
    new = [row for row in town()["test"] if row not in old][:2]
    file = tmp_path / "more.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in [old[0], *new]))
    small = extend(small, seeds_file=file)
    assert [names_of(small.graph, seed) for seed in seed_array(small).tolist()] == [*old, *new]
    assert small.growth[0]["what"] == "2 seeds (more.tsv)"
    with pytest.raises(PoolError) as caught:
        extend_pool(small, seeds_file=file)
    assert str(caught.value) == "more.tsv: pool p has all of these seeds already."


def test_when_all_test_triples_are_seeds_there_is_none_to_add(small: Pool):
    small = extend(small, count=27)
    assert small.seeds.count() == 34
    with pytest.raises(PoolError) as caught:
        extend_pool(small, sample=0.1)
    assert str(caught.value) == "All test triples of town are seeds of pool p already."


def test_a_pool_that_is_not_ready_is_refused(trained: Graph):
    pool = create_pool(trained, name="p")
    for act in (lambda: extend_pool(pool, depth=20), lambda: freeze_pool(pool)):
        with pytest.raises(PoolError, match=r"^Pool p is Building: (extend|freeze) it when it is ready\.$"):
            act()


def test_what_another_job_has_changed_since_it_was_asked_is_checked_again(small: Pool):
    Pool.objects.filter(pk=small.pk).update(depth=200)  # as imported runs alone allow
    asked = {"depth": None, "systems": ["rescal"], "seeds": [], "seed_source": ""}
    with pytest.raises(PoolError) as caught:
        grow(small, asked, progress_of(small))
    assert str(caught.value) == (
        "Another job has extended pool p since this was asked. "
        "Depth 200: a run holds the first 100 candidates of a question; give 1 to 100."
    )
    assert Pool.objects.get().growth == []


# -- frozen -----------------------------------------------------------------------------------------------------


def test_a_frozen_pool_stays_as_it_is(small: Pool):
    asked = {"depth": 4, "systems": [], "seeds": [], "seed_source": ""}
    freeze_pool(small)
    day = f"{Pool.objects.get().frozen_at:%Y-%m-%d}"
    for act in (lambda: extend_pool(small, depth=4), lambda: grow(small, asked, progress_of(small))):
        with pytest.raises(PoolError) as caught:
            act()
        assert str(caught.value) == f"Pool p was frozen on {day} and does not grow: build another pool."
    with pytest.raises(PoolError) as caught:
        freeze_pool(small)
    assert str(caught.value) == f"Pool p was frozen on {day} already."
    assert (Pool.objects.get().depth, AuditEntry.objects.filter(act="pool-frozen").count()) == (2, 1)


def test_a_pool_is_not_frozen_while_it_grows(small: Pool):
    job = extend_pool(small, depth=4)
    with pytest.raises(PoolError) as caught:
        freeze_pool(small)
    assert str(caught.value) == f"Pool p is being extended (job {job.pk}): wait for its end, or cancel it."
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    freeze_pool(small)
    assert Pool.objects.get().frozen_at is not None
