"""The open-world page's settings, and its sections at usual and at extreme settings."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qsl

import numpy as np
import pytest
from scipy.stats import norm

from evaluation.labels.pool_table import EvaluationError
from evaluation.open_world.kernels.theory import chance_to_mistake, derivative, expected_metric, required_questions
from evaluation.open_world.theory_page import SECTIONS, sections_of, variances
from evaluation.open_world.theory_settings import METRICS, TheorySettings, parse_theory, repeats_for

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def table_of(key: str, settings: TheorySettings) -> list[dict]:
    (table,) = SECTIONS[key](settings).tables
    return [dict(zip((c.key for c in table.columns), row, strict=True)) for row in table.rows]


def test_settings_come_back_from_their_address():
    settings = TheorySettings(20, 0.5, 0.6, -0.1, "p_mrr", 0.1, 2_000)
    assert parse_theory(dict(parse_qsl(settings.query()))) == settings
    assert parse_theory({}) == TheorySettings() and TheorySettings().query() == ""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n": "0"}, "N (n) is '0': give a whole number from 1 to 200"),
        ({"n": "2.5"}, "N (n) is '2.5': give a whole number"),
        ({"beta": "0.0_1"}, "β (beta) is '0.0_1': give a number from 0 to 1"),
        ({"beta": "1.1"}, "β (beta) is '1.1': give a number from 0 to 1"),
        ({"strength": "nan"}, "ℓ (strength) is 'nan'"),
        ({"questions": "0"}, "Nq (questions) is '0': give a whole number from 1 to 1000000"),
        ({"metric": "map"}, "metric is 'map': choose mrr, "),
        ({"rho": "0.9"}, "ρ is 0.9, which cannot be with β = 0.35 and ℓ = 0.7: give a number from −0.892 to 0.480"),
        ({"rho": "0.1", "beta": "0"}, "give a number from 0.000 to 0.000"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_words(given: dict, words: str):
    with pytest.raises(EvaluationError) as error:
        parse_theory(given)
    assert words in str(error.value)


def test_the_range_that_is_named_is_taken():
    low, high = TheorySettings().rho_text.replace("−", "-").split(" to ")
    assert [parse_theory({"rho": end}).rho for end in (low, high)] == [float(low), float(high)]


def test_every_section_has_one_table_of_its_name():
    for key, make in SECTIONS.items():
        section = make(TheorySettings())
        assert [table.key for table in section.tables] == [key] == [section.key]
        assert section.text and section.caption


@pytest.mark.parametrize(
    "changed",
    [
        {"beta": 0.0}, {"beta": 1.0}, {"strength": 0.0}, {"strength": 1.0}, {"n": 1}, {"n": 200}, {"delta": 0.0},
        {"rho": 0.2, "beta": 0.5}, {"metric": "hits@1"}, {"beta": 1.0, "strength": 1.0}, {"questions": 1_000_000},
    ],
)  # fmt: skip
def test_extreme_settings_are_shown_without_a_number_that_is_none(changed: dict):
    sections = sections_of(TheorySettings(**changed))
    json.dumps([section.content() for section in sections], allow_nan=False)
    undefined = [
        cell["reason"]
        for section in sections
        for table in section.tables
        for row in table.rows
        for cell in row
        if isinstance(cell, dict) and cell["value"] is None
    ]
    assert all(undefined)


def test_theory_has_the_four_sparsities_and_the_chosen_one():
    settings = TheorySettings(beta=0.4, metric="log_mrr")
    rows = table_of("theory", settings)
    assert sorted({row["beta"] for row in rows}) == [0.2, 0.35, 0.4, 0.5, 0.65]
    row = next(row for row in rows if row["beta"] == 0.4 and row["strength"] == 0.5)
    assert row["expected"] == pytest.approx(float(expected_metric(43, 0.4, 0.5, "log_mrr")))
    assert abs(row["simulated"] - row["second"]) < 4 * row["error"]
    curve = SECTIONS["theory"](settings).chart.data["series"]
    assert [one["name"] for one in curve if one.get("plain")] == [
        "β = 0.2",
        "β = 0.35",
        "β = 0.4 (chosen)",
        "β = 0.5",
        "β = 0.65",
    ]
    assert [one["x"] for one in curve if one.get("ring")] == [[0.7]]


def test_correlation_is_shown_where_it_can_be():
    rows = table_of("correlation", TheorySettings())
    at = {rho: [row["strength"] for row in rows if row["rho"] == rho] for rho in (0.0, 0.2)}
    assert at[0.0] == pytest.approx(np.linspace(0.1, 1, 10))
    assert at[0.2] == pytest.approx(np.linspace(0.1, 0.9, 9))  # a model that recognises all has none


def test_wrong_orders_by_the_logarithm_and_by_each_metric():
    settings = TheorySettings(questions=321)
    spread = variances(settings)
    row = next(row for row in table_of("inconsistency", settings) if row["questions"] == 321)
    for i, metric in enumerate(settings.metrics):
        weak, strong = expected_metric(43, 0.35, np.array([0.7, 0.75]), metric)
        assert row[metric] == pytest.approx(float(chance_to_mistake(strong - weak, 321, spread[i].sum())))
    assert row["logarithm"] == pytest.approx(row["mrr"], rel=1e-3)
    assert row["p_mrr"] < row["hits@10"] < row["mrr"]


def test_required_questions_are_whole_and_end_where_strength_does():
    settings = TheorySettings(strength=0.93)
    variance = float(variances(settings)[0, 0])
    rows = table_of("required", settings)
    assert [row["delta"] for row in rows] == [0.005, 0.01, 0.02, 0.05]
    exact = float(required_questions(43, 0.35, 0.93, 0.02, 0.05, variance))
    assert rows[2]["at_0.05"] - 1 < exact <= rows[2]["at_0.05"]


def test_the_stronger_model_ends_at_one():
    settings = TheorySettings(strength=0.98)
    assert settings.stronger == 1
    assert "the stronger model has ℓ = 1, not 1.03" in SECTIONS["inconsistency"](settings).notes[0]
    assert SECTIONS["inconsistency"](TheorySettings(strength=0.95)).notes == []


def test_what_the_expectation_leaves_out_is_said():
    assert SECTIONS["theory"](TheorySettings()).notes == []
    assert "not little" in SECTIONS["theory"](TheorySettings(metric="log_mrr")).notes[0]
    assert "34.3 % of the questions of 3 answers" in SECTIONS["theory"](TheorySettings(n=3, beta=0.7)).notes[0]


def test_sports_of_1956():
    section = SECTIONS["example"](TheorySettings())
    assert section.finding.startswith("MRR of the question is 0.2 before and 0.8229 after")
    shown = {row[0]: (row[3], row[4]) for row in section.tables[0].rows}
    assert shown == {  # the paper's table 1
        "swimming": (5, 1), "sailing": (5, 1), "water polo": (1, 1), "boxing": (2, 1), "dressage": (3, 1),
        "show jumping": (4, 1), "canoe sprint": (7, 3), "cycling": (9, 4),
    }  # fmt: skip


def test_deviations_are_the_roots_of_the_variances_that_the_other_sections_use():
    rows = table_of("numbers", TheorySettings(beta=0.35, strength=0.7))
    own = variances(TheorySettings(beta=0.35, strength=0.7))[:, 0]
    assert [row["sd"] ** 2 for row in rows] == pytest.approx(own.tolist(), rel=1e-12)


def test_a_correlated_logarithm_is_that_of_theorem_4_3():
    assert "Theorem 4.3, with ρ" in SECTIONS["correlation"](TheorySettings()).caption
    assert "Theorem 4.1" in SECTIONS["theory"](TheorySettings()).caption
    assert "Theorem 4.3" in SECTIONS["theory"](TheorySettings(rho=0.1)).caption


def test_a_figure_draws_no_more_than_it_may():
    assert repeats_for(43, 40) == 400 and repeats_for(200, 40) == 87 and repeats_for(200, 10_000) == 20
    assert set(TheorySettings(metric="hits@3").metrics) <= set(METRICS)


def test_bars_are_two_standard_errors():
    section = SECTIONS["theory"](TheorySettings())
    errors = [row["error"] for row in table_of("theory", TheorySettings())]
    bars = [one["spread"] for one in section.chart.data["series"] if one.get("spread")]
    assert [value for own in bars for value in own] == pytest.approx([2 * error for error in errors])


def test_the_error_of_the_logarithm_is_within_its_bound():
    for row in table_of("approximation", TheorySettings()):
        if row["strength"] > 0.1:
            assert row["error"] == pytest.approx(abs(row["near"] - row["expected"]))
            assert 0 < row["error"] <= row["bound"] + 1e-9


def test_what_is_said_at_the_chosen_settings():
    settings = TheorySettings(n=20, beta=0.5, strength=0.6)
    rows = {row["metric"]: row for row in table_of("numbers", settings)}
    slope = {name: float(derivative(20, 0.5, 0.6, name)) for name in settings.metrics}
    assert {name: rows[METRICS[name]]["slope"] for name in settings.metrics} == pytest.approx(slope)
    best = float(expected_metric(20, 0.5, 1.0, "mrr"))
    assert SECTIONS["numbers"](settings).finding == (
        f"A perfect model (ℓ = 1) is expected to have MRR {best:.3f}; this one {rows['MRR']['expected']:.3f}."
    )
    flat, steep = sorted(slope, key=lambda name: slope[name])[:: len(slope) - 1]
    assert SECTIONS["slopes"](settings).finding == (
        f"At ℓ = 0.6, 0.1 more strength is about {slope[flat] / 10:.3f} more {METRICS[flat]}, and"
        f" {slope[steep] / 10:.3f} more {METRICS[steep]}."
    )


def test_the_constant_of_the_corollary_is_that_of_its_formula():
    """c = 2 (βℓ(N + 1) Ψ⁻¹(p))² V, V of one question."""
    settings = TheorySettings()
    drawn = next(row for row in table_of("numbers", settings) if row["metric"] == "MRR")
    variance = float(variances(settings)[0, 0])
    assert variance == pytest.approx(drawn["sd"] ** 2, rel=0.1)
    told = re.search(r"c: ([\d.]+) at 1 %; ([\d.]+) at 5 %; ([\d.]+) at 10 %", SECTIONS["required"](settings).caption)
    expected = [2 * (0.35 * 0.7 * 44 * norm.ppf(p)) ** 2 * variance for p in (0.01, 0.05, 0.1)]
    assert told is not None and [float(c) for c in told.groups()] == pytest.approx(expected, abs=0.005)
