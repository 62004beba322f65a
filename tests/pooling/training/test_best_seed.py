"""Which of several seeds stays in the lists."""

from __future__ import annotations

import pytest

from pooling.enums import SystemState
from pooling.models import Graph, System
from pooling.training.best_seed import keep_best


def seeds_of(graph: Graph, figures: list[float | None], **fields: object) -> list[System]:
    return [
        System.objects.create(
            graph=graph,
            name=f"transe-s{seed}",
            kind="transe",
            seed=seed,
            artifact="x",
            settings={"epochs": 2},
            **{"state": SystemState.TRAINED, "best_of_seeds": True, "validation_mrr": mrr, **fields},
        )
        for seed, mrr in enumerate(figures)
    ]


def kept() -> list[int]:
    return list(System.objects.filter(archived=False).order_by("seed").values_list("seed", flat=True))


@pytest.mark.parametrize(
    ("figures", "best"), [([0.1, 0.3, 0.2], 1), ([0.2, 0.3, 0.3], 1), ([None, 0.0], 1), ([None, None], 0)]
)
def test_the_highest_stays_and_of_a_tie_the_lower_seed(town: Graph, figures, best: int):
    systems = seeds_of(town, figures)
    assert keep_best(systems[-1]) == systems[best]
    assert kept() == [best]


def test_nothing_happens_before_all_are_trained(town: Graph):
    systems = seeds_of(town, [0.1, 0.2, 0.3])
    System.objects.filter(seed=1).update(state=SystemState.FAILED)
    assert keep_best(systems[0]) is None
    assert kept() == [0, 1, 2]
    System.objects.filter(seed=1).update(archived=True)  # nobody waits for it any more
    assert keep_best(systems[0]) == systems[2]
    assert kept() == [2]


def test_only_systems_that_were_made_to_choose_from_and_are_alike_are_compared(town: Graph):
    systems = seeds_of(town, [0.1, 0.2, 0.9, 0.8])
    System.objects.filter(seed=1).update(settings={"epochs": 2, "device": "cuda"})  # the same system elsewhere
    System.objects.filter(seed=2).update(settings={"epochs": 3})
    System.objects.filter(seed=3).update(best_of_seeds=False)
    assert keep_best(systems[0]) == systems[1]
    assert kept() == [1, 2, 3]
    assert keep_best(System.objects.get(seed=3)) is None


def test_a_seed_that_comes_later_may_take_the_place(town: Graph):
    systems = seeds_of(town, [0.1, 0.2])
    keep_best(systems[0])
    later = System.objects.create(
        graph=town,
        name="later",
        kind="transe",
        seed=9,
        settings={"epochs": 2},
        artifact="x",
        best_of_seeds=True,
        state=SystemState.TRAINED,
        validation_mrr=0.5,
    )
    assert keep_best(later) == later
    assert kept() == [9]


def test_what_was_chosen_stays_as_people_left_it(town: Graph):
    systems = seeds_of(town, [0.1, 0.2])
    keep_best(systems[0])
    System.objects.filter(seed=1).update(archived=True)
    assert keep_best(systems[0]) is None
    assert kept() == []


def test_a_row_that_is_older_than_a_setting_is_compared_by_what_it_meant(town: Graph):
    systems = seeds_of(town, [0.1, 0.2])
    System.objects.filter(seed=1).update(settings={"epochs": 2, "loss": "cross-entropy", "n3": 0.0})
    assert keep_best(systems[0]) == systems[1]
    assert kept() == [1]
