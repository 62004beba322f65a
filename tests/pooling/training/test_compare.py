"""Systems side by side."""

from __future__ import annotations

import pytest

from pooling.models import Graph, System
from pooling.systems import family_of_kind
from pooling.training.compare import SettingRow, compare, shown


def make(graph: Graph, name: str, seed: int = 0, **settings: object) -> System:
    kind = name.partition("-")[0]
    return System.objects.create(graph=graph, name=name, kind=kind, seed=seed, settings=settings, artifact="x")


def test_settings_in_which_systems_differ(town: Graph):
    make(town, "transe", epochs=20, learning_rate=0.02, scale=1.0)
    make(town, "conve", seed=1, epochs=20, learning_rate=0.003, scale=1.0, channels=32)
    make(town, "unknown", epochs=20, learning_rate=0.02, scale=1.0, odd="yes")
    found = compare(town, [])
    assert [s.name for s in found.systems] == ["transe", "conve", "unknown"]
    assert found.differ == [
        SettingRow("seed", ["0", "1", "0"]),
        SettingRow("learning_rate", ["0.02", "0.003", "0.02"]),
        SettingRow("channels", [None, "32", None]),
        SettingRow("odd", [None, None, "yes"]),
    ]
    assert found.same == [SettingRow("epochs", ["20", "20", "20"]), SettingRow("scale", ["1", "1", "1"])]
    assert [family_of_kind(s.kind) for s in found.systems] == ["translational", "neural", ""]
    assert family_of_kind("pykeen:PairRE") == "other"


def test_settings_that_some_systems_do_not_have_differ_only_where_the_others_do(town: Graph):
    make(town, "transe", epochs=20, learning_rate=0.02)
    make(town, "rotate", epochs=30, learning_rate=0.02)
    make(town, "unknown", odd="yes")  # a rule miner, say: no epochs at all
    found = compare(town, [])
    assert [row.key for row in found.differ] == ["epochs", "odd"]
    assert [(row.key, row.had[0]) for row in found.same] == [("seed", "0"), ("learning_rate", "0.02")]


def test_colours_are_places_in_the_graph_whatever_is_chosen(town: Graph):
    for name in ("transe", "rotate", "complex"):
        make(town, name, epochs=1)
    System.objects.filter(name="rotate").update(archived=True)
    assert compare(town, []).colours == [0, 2]
    chosen = compare(town, ["complex", "rotate", "nobody"])
    assert ([s.name for s in chosen.systems], chosen.colours) == (["rotate", "complex"], [1, 2])
    assert compare(town, ["complex"]).differ == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.02, "0.02"),
        (1e9, "1e+09"),
        (0.12345678, "0.12345678"),
        (1 / 3, "0.3333333333333333"),
        (1234567.0, "1234567.0"),
        (1_000_000, "1000000"),
        ("adam", "adam"),
    ],
)
def test_settings_are_shown_short_but_exact(value, text):
    assert shown(value) == text
    assert type(value)(text) == value
