"""Which systems differ only in the seed, which of them is the chosen one, and which only look like a family."""

from __future__ import annotations

from statistics import stdev
from typing import Any

import pytest

from pooling.enums import SystemState
from pooling.models import Graph, System
from pooling.systems.spec import NEUTRAL
from pooling.training.seed_families import own_family, seed_families, unlike_seeds


def make(graph: Graph, name: str, *, seed: int, mrr: float | None = 0.1, kind: str = "transe", **more: Any) -> System:
    settings = {"epochs": 2, "embedding_dim": 8, "device": "cpu", **more}
    return System.objects.create(
        graph=graph, name=name, kind=kind, seed=seed, state=SystemState.TRAINED, settings=settings, validation_mrr=mrr
    )


def names(families: list[list[System]]) -> list[list[str]]:
    return [[system.name for system in family] for family in families]


def test_systems_that_differ_in_seed_and_device_alone_are_a_family_whatever_their_names(town: Graph):
    systems = [
        make(town, "first", seed=4, mrr=0.1),
        make(town, "wide", seed=5, mrr=0.9, embedding_dim=16),
        make(town, "second", seed=0, mrr=0.3, device="cuda"),
        make(town, "other", seed=1, mrr=0.9, kind="distmult"),
    ]
    assert names(seed_families(systems)) == [["second", "first"], ["wide"], ["other"]]


@pytest.mark.parametrize(
    ("figures", "chosen"),
    [((0.1, 0.3, 0.2), "s1"), ((0.2, 0.3, 0.3), "s1"), ((None, 0.0, None), "s1"), ((None,), "s0")],
)
def test_the_chosen_one_is_the_best_by_validation_and_of_a_tie_the_lower_seed(town: Graph, figures, chosen: str):
    systems = [make(town, f"s{seed}", seed=seed, mrr=mrr) for seed, mrr in enumerate(figures)]
    assert seed_families(reversed(systems))[0][0].name == chosen


@pytest.mark.parametrize(("key", "value"), NEUTRAL.items())
def test_a_setting_that_is_newer_than_a_row_has_its_neutral_value(town: Graph, key: str, value: Any):
    systems = [make(town, "old", seed=0), make(town, "new", seed=1, **{key: value})]
    assert len(seed_families(systems)) == 1
    other = make(town, "other", seed=2, **{key: "another"})
    assert len(seed_families([*systems, other])) == 2


def test_imported_runs_are_no_family(town: Graph):
    systems = [make(town, name, seed=0, kind="imported", family="rules") for name in ("a", "b")]
    assert names(seed_families(systems)) == [["a"], ["b"]]
    assert unlike_seeds(systems) == []


def test_a_seed_with_other_settings_is_named_with_the_setting(town: Graph):
    systems = [make(town, "transe", seed=0), make(town, "transe-s1", seed=1, epochs=5, device="cuda")]
    (told,) = unlike_seeds(systems)
    assert told.startswith("transe and transe-s1 are not one family of seeds")
    assert "epochs is 2 in transe and 5 in transe-s1" in told
    assert "device" not in told and "embedding_dim" not in told


def test_a_clone_of_a_seed_with_another_setting_is_named_too(town: Graph):
    systems = [make(town, f"transe-s{seed}", seed=seed) for seed in (1, 2)]
    systems.append(make(town, "transe-s1-2", seed=1, embedding_dim=16))
    (told,) = unlike_seeds(systems)
    assert told.startswith("transe-s1/transe-s2 and transe-s1-2 are not")
    assert "embedding_dim is 8 in transe-s1/transe-s2 and 16 in transe-s1-2" in told


def test_names_that_promise_no_seeds_are_not_named(town: Graph):
    systems = [make(town, "transe", seed=0), make(town, "transe-2", seed=0, epochs=9), make(town, "wide", seed=1)]
    assert unlike_seeds(systems) == []
    families = [make(town, "rotate", seed=0, kind="rotate"), make(town, "rotate-s1", seed=1, kind="rotate")]
    assert unlike_seeds(families) == []


def test_the_family_of_a_system_has_its_archived_seeds_and_their_validation(town: Graph):
    systems = [make(town, f"transe-s{seed}", seed=seed, mrr=mrr) for seed, mrr in enumerate((0.1, 0.4, 0.3))]
    System.objects.filter(pk=systems[0].pk).update(archived=True)
    found = own_family(systems[2])
    assert [one.name for one in found.systems] == ["transe-s1", "transe-s0", "transe-s2"]
    assert (found.mean, found.sd) == (pytest.approx(0.8 / 3), pytest.approx(stdev([0.1, 0.4, 0.3])))
    assert found.is_chosen and found.unlike == []


def test_a_family_in_training_has_no_chosen_seed_and_one_figure_no_deviation(town: Graph):
    systems = [make(town, f"transe-s{seed}", seed=seed) for seed in range(2)]
    System.objects.filter(pk=systems[1].pk).update(state=SystemState.TRAINING)
    found = own_family(systems[0])
    assert len(found.systems) == 2
    assert (found.is_chosen, found.mean, found.sd) == (False, None, None)


def test_a_system_is_told_only_of_look_alikes_that_name_it(town: Graph):
    one, other = make(town, "transe", seed=0), make(town, "transe-s1", seed=1, epochs=9)
    apart = make(town, "wide", seed=0, epochs=7)
    assert own_family(one).unlike == own_family(other).unlike == unlike_seeds([one, other])
    assert len(own_family(one).unlike) == 1
    assert own_family(apart).unlike == []
