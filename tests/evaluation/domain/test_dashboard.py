"""What the overview says in words, places and lines."""

from __future__ import annotations

import pytest

from evaluation.domain import figures
from evaluation.domain.dashboard import ordinal, overview, places, sentence, slopes
from evaluation.measures import parse_measure
from pooling.models import Pool

MRR, MR = parse_measure("micro_mrr"), parse_measure("micro_mr")


def values(measure: str, **by_system: float | None) -> dict[str, dict[str, float | None]]:
    return {system: {measure: value} for system, value in by_system.items()}


def test_places_follow_the_direction_of_the_measure():
    sparse, completed = values("micro_mrr", a=0.3, b=0.2, c=0.1), values("micro_mrr", a=0.3, b=0.5, c=0.4)
    found = places(sparse, completed, MRR)
    assert [(p.system, p.sparse, p.completed, p.moved, p.down, p.series) for p in found] == [
        ("b", 2, 1, 1, -1, 2), ("c", 3, 2, 1, -1, 3), ("a", 1, 3, -2, 2, 1),
    ]  # fmt: skip
    found = places(values("micro_mr", a=3, b=2), values("micro_mr", a=2, b=3), MR)
    assert [(p.system, p.sparse, p.completed) for p in found] == [("a", 2, 1), ("b", 1, 2)]


def test_ties_share_a_place_and_what_is_undefined_has_none():
    sparse = values("micro_mrr", a=0.1, b=0.1 + 1e-15, c=0.05, d=None)
    found = places(sparse, values("micro_mrr", a=0.2, b=0.1, c=0.2, d=0.3), MRR)
    assert [(p.system, p.sparse, p.completed) for p in found] == [("a", 1, 1), ("c", 3, 1), ("b", 1, 3)]


def test_slopes_put_tied_systems_beneath_each_other():
    found = places(values("micro_mrr", a=0.1, b=0.1), values("micro_mrr", a=0.1, b=0.2), MRR)
    assert [(line.place.system, line.y1, line.y2) for line in slopes(found)] == [("b", 20, 20), ("a", 60, 60)]


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (13, "13th"),
        (21, "21st"),
        (112, "112th"),
    ],
)
def test_ordinals(n, text):
    assert ordinal(n) == text


def test_the_sentence_says_what_changed():
    sparse = values("micro_mrr", a=0.3, b=0.2, c=0.1)
    moved = places(sparse, values("micro_mrr", a=0.3, b=0.2, c=0.4), MRR)
    tau = {"tau": -1 / 3, "low": -1.0, "high": 0.5, "questions": 1234}
    assert sentence(moved, MRR, tau, 5) == (
        "c rises from 3rd to 1st by Micro MRR; 2 other systems move. "
        "Tau between the two orders is -0.33, 95 % interval -1.00 to 0.50 (n = 1,234 questions)."
    )
    swapped = places(values("micro_mrr", a=0.3, b=0.2), values("micro_mrr", a=0.1, b=0.2), MRR)
    undefined = {"tau": None, "low": None, "high": None, "questions": 3}
    assert sentence(swapped, MRR, undefined, 5) == (
        "b rises from 2nd to 1st by Micro MRR; 1 other system moves. Tau is undefined."
    )
    same = places(sparse, sparse, MRR)
    assert sentence(same, MRR, tau, 2000) == (
        "2,000 new positive triples leave the order by Micro MRR as it was."
    )
    assert sentence(same, MRR, tau, 0) == (
        "No new positive triple yet: the completed ranking is the sparse one."
    )


def test_an_overview_has_a_table_for_each_label_set_and_marks_the_best(labelled: Pool):
    found = overview(labelled, "macro_mrr")
    assert [table["key"] for table in found["tables"]] == ["seeds", "current", "full-test"]
    for table in found["tables"]:
        for column, (measure, _) in enumerate(table["measures"]):
            cells = [cells[column] for _, cells in table["rows"]]
            best = (max if measure.higher_is_better else min)(value for value, _ in cells)
            ranks = measure.name in figures.RANKING_MEASURES  # judged@10 makes no system better than another
            assert [mark for _, mark in cells] == [ranks and value == best for value, _ in cells]
    assert found["new_positives"] == labelled.judgements.filter(verdict="positive").count()
    assert sorted(line.place.system for line in found["lines"]) == ["complex", "distmult", "transe"]
    assert found["stability_rows"] == [] and found["stability"] is None
