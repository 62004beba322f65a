"""Settings of the evaluation pages: read from an address, written into one, refused in words."""

from __future__ import annotations

from dataclasses import fields
from urllib.parse import quote

import pytest
from django.http import QueryDict

from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.registry import MEASURES
from evaluation.sections.settings import MOST_MEASURES, Settings, offered_measures, parse_settings

ALL = tuple(field.name for field in fields(Settings))


def test_a_bare_address_gives_the_usual_settings():
    assert parse_settings(QueryDict(""), ALL) == Settings()
    assert Settings().query(ALL) == ""


def test_settings_come_back_from_their_address():
    settings = Settings(
        "depth:3", "qrels:v 1&x", "bpref", ("map@20", "p@7"), "original", "unjudged", 0.01, 5, 123, 0.75
    )
    query = settings.query(ALL)
    assert parse_settings(QueryDict(query), ALL) == settings
    assert Settings(labels="depth:3").query(ALL) == "labels=depth%3A3"
    assert Settings(labels="depth:3").query(("k",)) == ""


def test_system_and_answers_come_back_from_their_address():
    settings = Settings(system="a b&c", answers="filtered")
    assert parse_settings(QueryDict(settings.query(ALL)), ALL) == settings


def test_what_a_page_does_not_take_is_ignored():
    assert parse_settings(QueryDict("labels=full-test&k=nonsense&evil=1"), ("labels",)) == Settings(labels="full-test")


def test_measures_may_come_one_by_one_or_with_commas_and_once_each():
    found = parse_settings(QueryDict("measures=map&measures=p@3,map&measures="), ("measures",))
    assert found.measures == ("map", "p@3")
    assert offered_measures(("map", "p@3")) == [*(measure.name for measure in MEASURES), "p@3"]


def test_a_time_comes_apart_from_its_label_set():
    query = QueryDict("labels=until&labels_until=2026-03-02T12:00&against=seeds&against_until=2026-01-01T00:00")
    assert parse_settings(query, ALL) == Settings(labels="until:2026-03-02T12:00:00", against="seeds")


@pytest.mark.parametrize("text", ["2026-03-02T14:00:30+02:00", "2026-03-02T12:00:30Z", "2026-03-02 12:00:30"])
def test_a_time_is_written_one_way_in_utc(text):
    found = parse_settings(QueryDict(f"labels={quote('until:' + text)}"), ALL)
    assert found.labels == "until:2026-03-02T12:00:30"
    assert parse_settings(QueryDict(found.query(ALL)), ALL) == found


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("measure=mrr", "measure: unknown measure 'mrr'"),
        ("measures=map,nope", "measure: unknown measure 'nope'"),
        ("measure=p", "needs a cut-off"),
        ("questions=all", "questions is 'all': choose grown or original."),
        ("assumed=maybe", "assumed is 'maybe': choose judged or unjudged."),
        ("alpha=0", "alpha is '0': give a number from 0.0001 to 0.5."),
        ("alpha=nan", "alpha is 'nan'"),
        ("k=1_0", "k is '1_0': give a number from 1 to 1000."),
        ("k=0", "k is '0': give a number from 1 to 1000."),
        ("seed=-1", "seed is '-1': give a number from 0 to 2147483647."),
        ("k=1.5", "k is '1.5'"),
        ("sharpness=-0.1", "sharpness is '-0.1': give a number from 0 to 10."),
        ("robustness=11", "robustness is '11': give a number from 0 to 10."),
        ("answers=both", "answers is 'both': choose raw or filtered."),
        ("labels=qrels:%00", "labels holds a character that no label set has."),
        ("labels=until:yesterday", "'yesterday' is not a valid time"),
        ("against=until&against_until=", "'' is not a valid time"),
        ("seed=" + "9" * 5000, "seed is"),
        ("measures=" + ",".join(f"p@{k}" for k in range(1, MOST_MEASURES + 2)), "choose at most 24"),
    ],
)
def test_what_cannot_be_is_refused_in_words(query, words):
    with pytest.raises(EvaluationError) as error:
        parse_settings(QueryDict(query), ALL)
    assert words in str(error.value) and len(str(error.value)) < 1200
