"""Families of seeds on pages, in the report and in the API: offered where there is one, shown as one row."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.sections.metrics import metrics
from evaluation.sections.seed_notes import seed_notes
from pooling.models import Pool, System
from tests.evaluation.cases import context_of
from tests.factories import make_person
from tests.page import element, elements, parse

SEEDS = ["transe-s1", "transe", "transe-s2"]  # the chosen one first
ROWS = ["transe-s1", "distmult", "complex"]
PAGE = "/pools/p/evaluation"


@pytest.fixture
def client() -> Client:
    """A researcher, signed in; the pool of this file takes the place of the usual one."""
    signed_in = Client()
    signed_in.force_login(make_person("researcher", "researcher"), backend="config.sign_in.Accounts")
    return signed_in


def fields(html: str) -> list[str]:
    return [one["name"] for one in parse(html).all(tag="select") if one["name"] in ("seeds", "training")]


def test_the_form_offers_families_only_where_there_is_one(with_seeds: Pool, client: Client):
    for page in (PAGE, f"{PAGE}/correlation"):
        assert fields(client.get(page).content.decode()) == ["seeds", "training"], page
    for seed, system in enumerate(System.objects.filter(kind="transe")):
        System.objects.filter(pk=system.pk).update(settings={**system.settings, "embedding_dim": 9 + seed})
    for page in (PAGE, f"{PAGE}/correlation"):
        assert fields(client.get(page).content.decode()) == [], page
    assert fields(client.get(f"{PAGE}/measures?seeds=families").content.decode()) == ["seeds"]


def test_the_overview_page_shows_mean_and_deviation_beside_the_chosen_seed(with_seeds: Pool, client: Client):
    assert elements(client.get(PAGE).content.decode(), "over-seeds") == []
    html = client.get(f"{PAGE}?seeds=families").content.decode()
    family = metrics(with_seeds, measures=["micro_mrr"], seeds="families")["families"]["transe-s1"]
    first = elements(html, "over-seeds")[0].text
    assert first == f"({family['mean']['micro_mrr']:.4f} ± {family['sd']['micro_mrr']:.4f})"
    assert element(html, "seed-note").text == seed_notes(context_of(with_seeds, seeds="families"))[0]
    (figures,) = [one for one in parse(html).all() if one.attrs.get("id") == "figures"]
    assert "seeds=families" in figures["data-figures-url"]


def test_an_unknown_choice_is_refused_in_words(with_seeds: Pool, client: Client):
    html = client.get(f"{PAGE}?seeds=all").content.decode()
    assert element(html, "problem").text == "seeds is 'all': choose each or families."


def test_the_kept_overview_of_families_is_apart_from_the_usual_one(with_seeds: Pool, client: Client):
    answers = [client.get(f"{PAGE}/overview.json{query}") for query in ("", "?seeds=families", "")]
    sections = [json.loads(answer.content)["parts"][0]["sections"][0] for answer in answers]
    assert [len(section["tables"][0]["rows"]) for section in sections] == [5, 3, 5]
    assert sections[1]["notes"] == seed_notes(context_of(with_seeds, seeds="families"))  # once
    assert sections[0]["notes"] == []


def test_the_api_says_what_the_command_says(with_seeds: Pool, client: Client):
    out = StringIO()
    call_command("evaluate", "p", "--json", "--seeds", "families", stdout=out, stderr=StringIO())
    said = json.loads(out.getvalue())
    told = client.get("/api/v1/pools/p/evaluations", {"seeds": "families"}).json()
    assert {key: told[key] for key in said} == said
    assert said["families"]["transe-s1"]["seeds"] == SEEDS
    answer = client.get("/api/v1/pools/p/evaluations", {"seeds": "all"})
    assert answer.status_code == 400 and "seeds is 'all': choose each or families." in answer.content.decode()


def test_the_report_has_families_too(with_seeds: Pool, client: Client):
    url = f"{PAGE}/report/download?format=json&seeds=families&measures=micro_mrr"
    report = json.loads(client.get(url).content)
    analyses = {one["analysis"]: one for one in report["analyses"]}
    rows = analyses["measures"]["parts"][0]["sections"][0]["tables"][0]["rows"]
    found = {row[0]: row[1] for row in rows}
    assert sorted(found) == sorted(ROWS) and found["transe-s1"]["n"] == 3
    places = analyses["overview"]["parts"][0]["sections"][0]["tables"][0]["rows"]
    assert sorted(row[0] for row in places) == sorted(ROWS)
