"""What the form says of the size of a pool before anything is scored: counts where runs know, else bounds."""

from __future__ import annotations

import pytest

from pooling.errors import PoolError
from pooling.models import Graph, Pool, Run
from pooling.pools import estimate as module
from pooling.pools.estimate import Gap, PoolSize, estimate_pool
from pooling.pools.kernels.filters import DEFAULT_FILTERS, FILTERS
from pooling.pools.report import pool_counts
from pooling.pools.seeds import seed_array
from pooling.questions.kernel import distinct_questions
from pooling.runs.imports import import_run
from tests.factories import make_pool
from tests.pooling.pools.raw_cases import known_answers, make_old, write_lists

SYSTEMS = ("transe", "distmult", "complex")


def estimated(graph: Graph, systems: tuple[str, ...] = SYSTEMS, depth: int = 5) -> PoolSize:
    return estimate_pool(graph, systems=systems, depth=depth, filters=DEFAULT_FILTERS, sample=0.5, seed=5)


def sizes(found: PoolSize) -> dict[str, tuple[int, int, bool]]:
    return {row.rule.value: tuple(row.size) for row in found.rules}


def free_of(graph: Graph, pool: Pool) -> list[int]:
    """How many entities do not answer each question of the pool's seeds."""
    known = known_answers(graph)
    columns = (column.tolist() for column in distinct_questions(seed_array(pool)))
    return [graph.num_entities - len(known[side, r, given]) for side, given, r in zip(*columns, strict=True)]


def test_where_the_runs_know_all_the_estimate_is_the_pool(trained: Graph, tied):
    built = {rule: pool_counts(make_pool(trained, name=rule, rule=rule)) for rule in ("filtered", "raw")}
    found = estimated(trained)
    assert sizes(found) == {rule: (of["pooled"], of["to_people"], True) for rule, of in built.items()}
    assert (found.seeds, found.questions, found.gaps) == (17, 27, [])
    assert built["raw"]["pooled"] < built["filtered"]["pooled"]


def test_without_runs_it_is_a_bound_and_nothing_is_scored(trained: Graph, tied):
    found = estimated(trained)
    assert (Run.objects.count(), Pool.objects.count()) == (0, 0)
    pool = make_pool(trained)
    bound = sum(min(len(SYSTEMS) * min(5, free), free) for free in free_of(trained, pool))
    to_people = found.of("filtered").to_people
    assert sizes(found) == dict.fromkeys(("filtered", "raw"), (bound, to_people, False))
    real = pool_counts(pool)
    assert real["pooled"] <= bound and real["to_people"] <= to_people < bound  # some categories give people nothing
    asked = sum(free > 0 for free in free_of(trained, pool))
    assert found.gaps == [Gap(name, asked, 0) for name in SYSTEMS]


def test_one_system_that_is_not_scored_adds_at_most_k_a_question(trained: Graph, tied):
    pool = make_pool(trained, systems=["transe", "distmult"])
    found = estimated(trained)
    more = sum(min(5, free) for free in free_of(trained, pool))
    whole = pool_counts(make_pool(trained, name="whole"))
    size = found.of("filtered")
    assert (size.pooled, size.is_exact) == (pool_counts(pool)["pooled"] + more, False)
    assert whole["to_people"] <= size.to_people < size.pooled
    assert [gap.system for gap in found.gaps] == ["complex"]


def test_an_old_run_is_a_gap_of_raw_only(trained: Graph, tied):
    pool = make_pool(trained)
    make_old(Run.objects.get(system__name="transe"))
    found = estimated(trained)
    assert found.gaps == [Gap("transe", 0, 26)]
    assert sizes(found)["filtered"] == (pool_counts(pool)["pooled"], pool_counts(pool)["to_people"], True)
    assert not found.of("raw").is_exact


def test_an_imported_run_gives_what_it_has(trained: Graph, tied, tmp_path):
    own = make_pool(trained, systems=["transe"])
    import_run(trained, write_lists(tmp_path / "run", own, tied["transe"], full=True, first=4), name="theirs")
    found = estimated(trained, ("theirs",))
    pool = make_pool(trained, name="q", systems=["theirs"])
    assert sizes(found)["filtered"] == (pool_counts(pool)["pooled"], pool_counts(pool)["to_people"], True)
    assert sizes(found)["raw"][2] and sizes(found)["raw"][0] <= sizes(found)["filtered"][0]


def test_what_would_take_long_to_count_is_counted_for_a_part_and_multiplied(trained: Graph, tied, monkeypatch):
    whole = pool_counts(make_pool(trained))
    monkeypatch.setattr(module, "MOST_FINDINGS", 27 * 3 * 5 * 6)
    found = estimated(trained)
    assert (found.is_sampled, found.changes_sampled) == (False, False)
    monkeypatch.setattr(module, "MOST_FINDINGS", 27 * 3 * 5)
    found = estimated(trained)
    assert (found.is_sampled, found.changes_sampled) == (False, True)
    assert found.of("filtered").pooled == whole["pooled"]
    monkeypatch.setattr(module, "MOST_FINDINGS", 20 * 3 * 5)
    found = estimated(trained)
    assert (found.is_sampled, found.seeds, found.questions) == (True, 17, 27)
    assert found.of("filtered").pooled != whole["pooled"]
    assert found.of("filtered").pooled == pytest.approx(whole["pooled"], rel=0.3)


def test_each_change_is_the_pool_that_it_would_give(trained: Graph, tied):
    make_pool(trained, depth=10)  # scores what every change needs
    found = estimated(trained)
    base = found.of("filtered").to_people
    options = {
        ("depth", "2"): {"depth": 2},
        ("depth", "10"): {"depth": 10},
        **{("without", name): {"systems": [s for s in SYSTEMS if s != name]} for name in SYSTEMS},
        **{
            ("no-filter" if name in DEFAULT_FILTERS else "filter", rule.label): {
                "filters": [f for f in DEFAULT_FILTERS if f != name]
                if name in DEFAULT_FILTERS
                else [*DEFAULT_FILTERS, name]
            }
            for name, rule in FILTERS.items()
        },
    }
    real = {}
    for i, (key, wanted) in enumerate(options.items()):
        counts = pool_counts(make_pool(trained, name=f"q{i}", **wanted))
        real[key] = (counts["pooled"], counts["to_people"], counts["to_people"] - base)
    told = {(one.kind, one.about): (one.size.pooled, one.size.to_people, one.more_to_people) for one in found.changes}
    assert told == real
    assert len(set(real.values())) > 4


def test_it_refuses_what_building_would_refuse(trained: Graph):
    with pytest.raises(PoolError, match="Depth 101"):
        estimated(trained, depth=101)
    with pytest.raises(PoolError, match="Sample 2"):
        estimate_pool(trained, systems=["transe"], depth=1, filters=[], sample=2.0)
