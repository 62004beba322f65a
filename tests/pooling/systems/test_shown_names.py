"""Systems as the literature names them."""

import pytest

from pooling.systems import SYSTEMS
from pooling.systems.shown_names import shown_in_chart, shown_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("transe", "TransE"),
        ("rotate", "RotatE"),
        ("complex", "ComplEx"),
        ("distmult", "DistMult"),
        ("conve", "ConvE"),
        ("rescal", "RESCAL"),
        ("transe-l1", "TransE L1"),
        ("transe-s1", "TransE (seed 1)"),
        ("transe-l1-s12", "TransE L1 (seed 12)"),
    ],
)
def test_identifiers_of_the_registry_are_shown_as_in_the_literature(name: str, shown: str) -> None:
    assert shown_name(name) == shown


@pytest.mark.parametrize("name", ["transe-wide", "TransE", "my-transe", "simkgc-s1", "transe-s", "transe-s1-2", ""])
def test_names_that_somebody_typed_stay(name: str) -> None:
    assert shown_name(name) == name


def test_every_system_of_the_registry_has_its_name() -> None:
    assert {name: shown_name(name) for name in SYSTEMS} == {name: spec.label for name, spec in SYSTEMS.items()}


def test_charts_name_systems_and_leave_relations_as_they_are():
    bars = {"series": [{"name": "rotate, chosen", "x": ["transe", "theirs"], "y": [1, 2]}], "y": "rotate"}
    shown = {"series": [{"name": "RotatE, chosen", "x": ["TransE", "theirs"], "y": [1, 2]}], "y": "rotate"}
    assert shown_in_chart(bars) == shown
    assert shown_in_chart({"rows": ["rotate"], "columns": ("rotate",)}) == {"rows": ["RotatE"], "columns": ["RotatE"]}
    relations = {"lying": True, "series": [{"name": "test", "x": ["complex"]}], "yaxis": {"tickvals": ["complex"]}}
    assert shown_in_chart(relations) == relations
