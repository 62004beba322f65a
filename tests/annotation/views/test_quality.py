"""Pages of quality: who sees which names, what the figures say, how many queries they take."""

from __future__ import annotations

import csv
import html
import io
import re
from datetime import UTC, datetime
from itertools import combinations

import pytest
from django.contrib.auth.models import User

from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Label
from annotation.people.simulated import NAME
from annotation.quality.kernel import NO_TRIAL, NOTHING, ONE_CATEGORY
from annotation.quality.reports import agreement_report
from core.models import AuditEntry
from pooling.models import Relation
from tests.annotation.factories import decide, label_all, label_and_release, make_check, make_gold
from tests.page import numbers, read

NO_INTERVAL = "no interval: too few items"

EVIL = '<img src=x onerror="alert(1)">'


def page(client, path: str) -> str:
    response = client.get(f"/pools/p1/campaign/{path}")
    assert response.status_code == 200
    return response.content.decode()


def figure(page: str, key: str) -> tuple[list[str], str]:
    """Return the numbers that a figure's name tells (n, the ends of an interval), and its value."""
    one = read(page).one(key)
    return re.findall(r"\d+(?:\.\d+)?", one.one(tag="dt").text), one.one(tag="dd").text


# -- who sees what -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("nobody", [302, 302, 302, 302]), ("stranger", [403] * 4), ("ann", [403] * 4), ("ada", [403] * 4),
        ("researcher", [200, 403, 403, 403]), ("manager", [200] * 4),
    ],
)  # fmt: skip
def test_every_page_as_everybody(world, items, as_user, who, expected):
    label_and_release(world, items[0], ann="Y", ben="N")
    client = as_user(getattr(world, who, None))
    paths = ("quality", "annotators", f"annotators/{world.ann.pk}", "hours.csv")
    assert [client.get(f"/pools/p1/campaign/{path}").status_code for path in paths] == expected


def test_manager_reads_names_and_a_researcher_numbers(world, items, as_user):
    User.objects.filter(pk=world.ann.pk).update(username="annalena")
    User.objects.filter(pk=world.ben.pk).update(username="benedikt")
    label_and_release(world, items[0], ben="N", ann="Y")  # ben is number 1
    label_and_release(world, items[1], cleo="Y", ann="Y")
    for_manager, for_researcher = (page(as_user(user), "quality") for user in (world.manager, world.researcher))
    assert "annalena and benedikt" in [row[0] for row in read(for_manager).one("pairs").rows]
    assert f"/campaign/annotators/{world.ann.pk}" in for_manager
    assert read(for_researcher).one("pairs").rows == [
        ["annotator 1 and annotator 2", "1", "0.0 % 0.0 % to 79.3 %", f"0.000 {NO_INTERVAL}"],
        ["annotator 2 and annotator 3", "1", "100.0 % 20.7 % to 100.0 %", f"undefined {ONE_CATEGORY}"],
    ]
    for secret in ("annalena", "benedikt", "cleo", f"annotators/{world.ann.pk}", f"annotators/{world.ben.pk}"):
        assert secret not in for_researcher


def test_simulated_people_are_marked_and_their_times_said_to_be_made_up(world, items, as_user):
    client, made_up = as_user(world.manager), "The times of simulated people are made up."
    label_and_release(world, items[0], ann="Y", ben="N")
    assert "Answers to gold items are not among the labels." in " ".join(page(client, "annotators").split())
    assert made_up not in page(client, "annotators") and read(page(client, "annotators")).all("simulated") == []
    world.ben.username = NAME + "1"
    world.ben.set_unusable_password()
    world.ben.save()
    assert made_up in " ".join(page(client, "annotators").split())
    assert [one.text for one in read(page(client, "annotators")).all("simulated")] == [", simulated"]


def test_names_and_relations_are_text(world, items, as_user):
    User.objects.filter(pk=world.ann.pk).update(username=EVIL)
    Relation.objects.update(key=EVIL)
    label_and_release(world, items[0], ann="Y", ben="N")
    Label.objects.filter(annotator=world.ann).update(comment=EVIL, source_url=f"https://en.wikipedia.org/{EVIL}")
    client = as_user(world.manager)
    for path, shown in (("quality", 2), ("annotators", 1), (f"annotators/{world.ann.pk}", 5)):
        found = page(client, path)
        assert (EVIL in found, html.escape(EVIL) in found) == (False, True)
        assert found.count(html.escape("<img src=x")) >= shown


def test_person_who_is_not_of_the_campaign_has_no_page(world, as_user):
    client = as_user(world.manager)
    urls = [f"/pools/p1/campaign/annotators/{pk}" for pk in (world.ann.pk, world.stranger.pk, world.manager.pk, 10**9)]
    assert [client.get(url).status_code for url in urls] == [200, 404, 404, 404]


def test_pool_without_campaign_is_404(world, as_user):
    client = as_user(world.manager)
    paths = ("quality", "annotators", f"annotators/{world.ann.pk}", "hours.csv")
    assert [client.get(f"/pools/none/campaign/{path}").status_code for path in paths] == [404] * 4


@pytest.mark.parametrize("took", [1999, 2000])
def test_person_who_cannot_have_read_the_questions_is_named(world, items, as_user, took):
    for item in items[:4]:
        label_and_release(world, item, ann="Y")
    Label.objects.update(active_ms=took)
    shown = read(page(as_user(world.manager), "annotators"))
    assert shown.has("hasty") == (took < 2000)
    if took < 2000:
        said = shown.one("hasty")
        assert said.one(tag="a")["href"] == f"/pools/p1/campaign/annotators/{world.ann.pk}"
        assert numbers(said.text)[:2] == ["100.0", "4"]


# -- agreement -----------------------------------------------------------------------------------------------------


def test_agreement_page_says_what_is_undefined_and_why(world, items, as_user):
    label_all(world, items[:2], "NN", "NN")
    found = page(as_user(world.manager), "quality")
    assert figure(found, "alpha")[0] == ["2"] and read(found).one("alpha").one("reason").text == ONE_CATEGORY
    assert figure(found, "raw") == (["2", "95", "34.2", "100.0"], "100.0 %")
    assert read(found).one("pairs").rows == [
        ["ann and ben", "2", "100.0 % 34.2 % to 100.0 %", f"undefined {ONE_CATEGORY}"]
    ]
    assert "1.000" not in found


def test_agreement_page_has_each_figure_with_its_n(world, items, as_user):
    label_all(world, items, "YNYNY?", "YNNNYN")
    found = page(as_user(world.researcher), "quality")
    assert figure(found, "raw") == (["5", "95", "37.6", "96.4"], "80.0 %")
    assert figure(found, "alpha") == (["5"], "0.640")
    assert figure(found, "ac1") == (["1", "5"], "0.600")  # the 1 is of its name
    assert figure(found, "items") == ([], "6")
    assert read(found).one("pairs").rows == [
        ["annotator 1 and annotator 2", "5", "80.0 % 37.6 % to 96.4 %", f"0.615 {NO_INTERVAL}"]
    ]
    (row,) = read(found).one("relations").rows
    assert row == ["lived in", "5", "80.0 % 37.6 % to 96.4 %", f"0.640 {NO_INTERVAL}", f"0.600 {NO_INTERVAL}"]


def test_agreement_page_names_the_relation_to_look_at_first(world, items, as_user, monkeypatch):
    label_all(world, items, "YNYNYY", "YNNNNN")
    for who, to in ((world.manager, "/pools/p1/campaign/triples"), (world.researcher, "/pools/p1/evaluation/triples")):
        found = read(page(as_user(who), "quality"))
        assert not found.one("lowest").all(tag="a")  # six items are too few
        assert found.one("relations").one(tag="tbody").one(tag="a")["href"] == f"{to}?relation=0"
    report = agreement_report(world.campaign)
    for stands_out in (True, False):
        monkeypatch.setattr("annotation.views.quality.lowest", lambda _: report.relations[0])
        monkeypatch.setattr("annotation.views.quality.weakest", lambda _, at=stands_out: at or None)
        shown = read(page(as_user(world.manager), "quality")).one("lowest")
        assert shown.one(tag="a")["href"] == "/pools/p1/campaign/triples?relation=0"
        assert shown.has("stands-out") is stands_out
        assert numbers(shown.text)[:2] == ["50.0", "6"]


def test_cant_tell_is_an_answer_when_asked_for(world, items, as_user):
    label_all(world, items, "YNYNY?", "YNNNYN")
    client = as_user(world.manager)
    assert figure(page(client, "quality?cant_tell=category"), "raw")[0][0] == "6"
    assert figure(page(client, "quality?cant_tell=nonsense"), "raw")[0][0] == "5"


def test_only_cant_tell_is_no_error(world, items, as_user):
    label_and_release(world, items[0], ann="?", ben="Y")
    found = page(as_user(world.manager), "quality")
    assert figure(found, "raw") == (["0"], "undefined")
    assert figure(found, "ac1") == (["1", "0"], "undefined")
    assert read(found).one("ac1").one("reason").text == NOTHING


def test_agreement_of_nothing_says_what_is_needed(world, as_user):
    found = read(page(as_user(world.manager), "quality"))
    assert found.has("empty") and not found.has("raw")


@pytest.mark.parametrize(("who", "queries"), [("manager", 6), ("researcher", 6)])
@pytest.mark.parametrize("people", [2, 3])
def test_agreement_page_queries_do_not_grow(world, items, as_user, who, queries, people, django_assert_num_queries):
    for item, pair in zip(items, combinations(("ann", "ben", "cleo")[:people], 2), strict=False):
        label_and_release(world, item, **dict.fromkeys(pair, "Y"))
    client = as_user(getattr(world, who))
    with django_assert_num_queries(queries):
        page(client, "quality")


# -- people --------------------------------------------------------------------------------------------------------


def test_annotators_page_has_a_row_for_each_person(world, items, as_user):
    label_all(world, items[:3], "YN?", "NNY")
    Label.objects.update(active_ms=3000)
    Label.objects.filter(annotator=world.ann, answer="?").update(active_ms=1000)
    decide(world, ada="Y")
    make_check(world, world.ann, "?", gold=make_gold(world, 3), active_ms=60_000)
    found = read(page(as_user(world.manager), "annotators")).rows
    assert [" ".join(filter(None, row)) for row in found] == [
        "ann annotator 3 0 1 min 07 s 3.0 1,543 33.3 % 1 of 3 33.3 % 1 of 3 0.0 % 0 of 1 0.0 % to 79.3 % 1 can’t tell "
        "50.0 % 1 of 2 9.5 % to 90.5 % –",
        "ben annotator 3 0 9 s 3.0 1,200 0.0 % 0 of 3 0.0 % 0 of 3 – 50.0 % 1 of 2 9.5 % to 90.5 % –",
        "ada adjudicator 0 2 0 s – – – – – – –",
    ]


def test_annotators_page_names_the_person_to_look_at_first(world, items, as_user):
    client = as_user(world.manager)
    label_all(world, items, "YYYYYY", "NNNNNN")
    Label.objects.update(active_ms=5000)
    assert not read(page(client, "annotators")).one("standing-out").all(tag="a")
    decide(world, ada="N")
    found = read(page(client, "annotators")).one("standing-out")
    assert re.findall(r"ann|ben|\d+(?:\.\d+)?", found.text)[:6] == ["ann", "6", "6", "100.0", "95", "61.0"]
    assert f'href="/pools/p1/campaign/annotators/{world.ann.pk}"' in page(client, "annotators")


def test_annotators_table_sorts_times_by_seconds(world, items, as_user):
    label_all(world, items[:1], "Y", "N")
    Label.objects.filter(annotator=world.ann).update(active_ms=67_000)
    assert 'data-sort="67.000"' in page(as_user(world.manager), "annotators")


def test_annotators_page_of_nobody(world, as_user):
    found = page(as_user(world.manager), "annotators")
    assert read(found).has("empty")
    assert "hours.csv" not in found


@pytest.mark.parametrize("people", [1, 3])
def test_annotators_page_queries_do_not_grow(world, items, as_user, people, django_assert_num_queries):
    for name in ("ann", "ben", "cleo")[:people]:
        label_and_release(world, items[ord(name[0]) % 3], **{name: "Y"})
    client = as_user(world.manager)
    with django_assert_num_queries(9):
        found = page(client, "annotators")
    assert len(read(found).rows) == people


def test_annotator_page_has_figures_weeks_and_last_labels(world, items, as_user):
    label_all(world, items[:2], "YN", "NN")
    Label.objects.filter(item=items[1]).update(active_ms=4500)
    decide(world, ada="N")
    Label.objects.update(created_at=datetime(2026, 3, 2, 12, tzinfo=UTC))
    found = page(as_user(world.manager), f"annotators/{world.ann.pk}")
    assert figure(found, "overturn") == (["1", "1", "95", "20.7", "100.0"], "100.0 %")
    assert figure(found, "gold") == ([], "–") and read(found).one("gold").one("reason").text == NO_TRIAL
    assert [row[:2] for row in read(found).one("weeks").rows] == [["2026-W10", "2"]]
    last = read(found).one("last").rows[0]
    assert re.fullmatch(r"Has Person \d+ lived in City \d+\? because https://en.wikipedia.org/wiki/Ada", last[0])
    assert last[1:4] == ["no", "negative", "4.5"]


def test_annotator_page_after_a_withdrawal(world, items, as_user):
    label_and_release(world, items[0], ann="Y")
    withdraw_labels(world.campaign, world.ann)
    found = page(as_user(world.manager), f"annotators/{world.ann.pk}")
    assert figure(found, "labels") == (["1"], "0")
    assert read(found).has("none")


def test_annotator_page_of_a_member_without_answers(world, as_user):
    assert read(page(as_user(world.manager), f"annotators/{world.ann.pk}")).has("empty")


@pytest.mark.parametrize("labels", [1, 3])
def test_annotator_page_queries_do_not_grow(world, items, as_user, labels, django_assert_num_queries):
    label_all(world, items[:labels], "YYY", "NNN")
    decide(world, ada="N")
    client = as_user(world.manager)
    with django_assert_num_queries(12):
        page(client, f"annotators/{world.ann.pk}")


# -- hours ---------------------------------------------------------------------------------------------------------


def test_hours_are_a_file_and_noted(world, items, as_user):
    User.objects.filter(pk=world.ann.pk).update(username="@SUM(A1:A9)")
    label_and_release(world, items[0], ann="Y", ben="N")
    response = as_user(world.manager).get("/pools/p1/campaign/hours.csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="p1-hours.csv"'
    assert response["Cache-Control"] == "no-store"
    names = [row[0] for row in csv.reader(io.StringIO(response.content.decode()))]
    assert names == ["person", "'@SUM(A1:A9)", "ben"]
    assert list(AuditEntry.objects.filter(act="hours-exported").values_list("person", "about")) == [
        (world.manager.pk, "2 rows")
    ]


def test_asking_without_downloading_notes_nothing(world, as_user):
    client = as_user(world.manager)
    statuses = [client.head("/pools/p1/campaign/hours.csv"), client.post("/pools/p1/campaign/hours.csv")]
    assert [response.status_code for response in statuses] == [405, 405]
    assert AuditEntry.objects.filter(act="hours-exported").count() == 0
