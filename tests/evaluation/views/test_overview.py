"""The evaluation overview: who may see it, what it says, and when it says something new."""

from __future__ import annotations

import pytest
from django.utils.html import escape

from core.templatetags.figures import units
from evaluation.enums import QrelsOrigin
from evaluation.labels.pool_table import pool_table
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Figure
from evaluation.overview.rankings import overview, page_version
from pooling.models import Pool
from pooling.systems.shown_names import shown_name
from tests.factories import judge, make_system
from tests.page import element, elements, parse, refusal

PAGE, VERSION = (f"/pools/p/evaluation{part}" for part in ("", "/version"))
LOGIN = "/login?next="


@pytest.mark.parametrize(
    ("role", "status"),
    [
        ("manager", 200), ("researcher", 200), ("annotator", 403), ("adjudicator", 403), ("guest", 403),
        ("stranger", 302),
    ],
)  # fmt: skip
def test_who_may_see_the_evaluation(sign_in, role, status):
    client = sign_in(role)
    for url in (PAGE, f"{PAGE}?part=figures", VERSION):
        answer = client.get(url)
        assert answer.status_code == status
        if status == 302:
            assert answer["Location"].startswith(LOGIN)
        if status == 403:
            assert "complex" not in answer.content.decode()


def test_the_page_says_it_in_a_sentence_and_shows_every_system(sign_in, labelled: Pool):
    html = sign_in("researcher").get(PAGE).content.decode()
    found = overview(labelled, "micro_mrr")
    assert found["new_positives"] > 0
    assert element(html, "sentence").text == found["sentence"]
    heads = [th.text for th in parse(html).all(tag="th")]
    for name, shown in (("transe", "TransE"), ("distmult", "DistMult"), ("complex", "ComplEx")):
        assert [one.text for one in elements(html, f"place-of-{name}")] == [shown, shown]
        assert heads.count(shown) == 2  # measures, shares
    assert f'data-version="{page_version(labelled)}"' in html


def test_the_page_names_the_ranking_to_quote_once_labels_know_more_than_the_seeds(sign_in, labelled: Pool):
    client = sign_in("researcher")
    page = client.get(PAGE + "?measure=map@20")
    found, told = page.context, element(page, "quote").text
    judged = found["new_positives"] + found["counts"]["negative"]
    share = 100 * judged / (judged + found["counts"]["unjudged"])
    assert "The ranking to trust is that by the current labels" in told and f"{share:.1f} %" in told
    rows, kinds = found["shares"]["systems"].values(), ("original", "new", "negative", "assumed_negative")
    top = sum(row[kind] for row in rows for kind in kinds) / len(rows)
    assert element(page, "top-judged").text == f"{100 * top:.1f} % are judged"
    assert sum(found["top"].values()) == pytest.approx(1)
    pairs = element(page, "pairs")
    assert f"{found['sure']['undecided']} of the {found['sure']['pairs']} pairs" in pairs.text
    assert element(page, "claim").one(tag="a")["href"] == f"{PAGE}/discriminative#discriminative-hsd"
    for pair in found["sure"]["open_pairs"][:3]:
        ahead = f"{shown_name(pair['first'])} is ahead of {shown_name(pair['second'])}"
        assert f"{ahead} in {100 * pair['share']:.1f} % of the resamples" in " ".join(pairs.text.split())
    labelled.judgements.filter(verdict="positive").delete()
    Figure.objects.all().delete()
    assert element(client.get(PAGE), "quote").text.startswith("No ranking")


def test_the_page_names_the_version_to_cite(sign_in, labelled: Pool, tmp_path):
    client = sign_in("researcher")

    def link(number: int = 0) -> str:
        return element(client.get(PAGE), "cite").all(tag="a")[number]["href"]

    assert link() == "/pools/p/export"
    for name in ("v1", "v2"):
        freeze_qrels(labelled, name)
    assert link() == f"{PAGE}/measures?labels=qrels:v2" and client.get(link()).status_code == 200
    to_test = f"{PAGE}/discriminative?labels=qrels:v2#discriminative-hsd"
    assert element(client.get(PAGE), "claim").one(tag="a")["href"] == to_test
    assert link(1) == "/pools/p/export/v2/terms" and client.get(link(1)).status_code == 200
    labelled.qrels.update(origin=QrelsOrigin.IMPORTED)
    assert link() == "/pools/p/export"


def test_the_measures_list_the_best_system_first(sign_in, labelled: Pool):
    client = sign_in("researcher")
    for measure in ("micro_mrr", "macro_hits@10"):
        html = client.get(PAGE, {"measure": measure}).content.decode()
        found = overview(labelled, measure)
        at = [one.name for one in found["columns"]].index(measure)
        rows = [one["system"] for one in found["ranked_rows"]]
        values = [one["cells"][at]["value"] for one in found["ranked_rows"]]
        assert values == sorted(values, reverse=True) and sorted(rows) == ["complex", "distmult", "transe"]
        names = [th.text for th in parse(html).all(tag="th") if th.text in ("TransE", "DistMult", "ComplEx")]
        assert names[:3] == [shown_name(one) for one in rows]


def test_the_figures_part_is_the_part_alone_and_the_same(sign_in):
    client = sign_in("manager")
    page, part = (client.get(url).content.decode() for url in (PAGE, f"{PAGE}?part=figures"))
    assert "<html" in page and "<html" not in part
    for heading in ("Two rankings by Micro MRR", "Measures", "Top 10 candidates", "More about these results"):
        assert page.count(f">{heading}</h2>") == part.count(f">{heading}</h2>") == 1
    assert part.strip() in page


@pytest.mark.parametrize("measure", ["macro_mrr", "ndcg@20"])
def test_the_rankings_are_by_the_measure_that_was_chosen(sign_in, labelled: Pool, measure):
    html = sign_in("manager").get(PAGE, {"measure": measure}).content.decode()
    assert f'<option value="{measure}" selected>' in html
    assert escape(units(overview(labelled, measure)["sentence"])) in html


@pytest.mark.parametrize("measure", ["micro_mr", "no-such", "<script>"])
def test_a_measure_that_ranks_nothing_is_the_first_one(sign_in, measure):
    html = sign_in("manager").get(PAGE, {"measure": measure}).content.decode()
    assert '<option value="micro_mrr" selected>' in html
    assert "<script>" not in html


def test_the_version_changes_with_a_label_and_only_then(sign_in, labelled: Pool):
    client = sign_in("researcher")

    def ask() -> str:
        return client.get(VERSION).json()["version"]

    first = ask()
    client.get(PAGE)
    assert ask() == first
    judge(labelled.triples.filter(judgement=None)[0], "positive")
    second = ask()
    assert second != first
    assert f'data-version="{second}"' in client.get(f"{PAGE}?part=figures").content.decode()


def test_asking_for_the_version_computes_nothing(sign_in, django_assert_num_queries):
    client = sign_in("researcher")
    with django_assert_num_queries(8):  # session, person; pool, labels, runs, last pooled, heavy jobs
        client.get(VERSION)
    assert not Figure.objects.exists()


def test_a_second_look_computes_nothing(sign_in, monkeypatch):
    from evaluation.overview import rankings

    client = sign_in("researcher")
    client.get(PAGE)
    monkeypatch.setattr(rankings, "_compute", lambda pool: pytest.fail("it was computed again"))
    assert client.get(PAGE).status_code == 200


def test_without_runs_the_page_says_what_to_do(sign_in, labelled: Pool):
    for system in labelled.systems.all():
        system.run.delete()
    page = sign_in("manager").get(PAGE)
    assert [element(page, "problem").text] == refusal(lambda: pool_table(labelled))
    assert not parse(page).has(id="figures")


def test_a_system_without_all_rows_is_named(sign_in, labelled: Pool):
    import numpy as np

    from pooling.graphs.opening import open_graph
    from pooling.runs.score import score_system

    late = make_system(labelled.graph, "rescal")
    score_system(late, seeds=np.zeros((0, 3), np.int32), triples=open_graph(labelled.graph).test)
    html = sign_in("manager").get(PAGE).content.decode()
    told = element(html, "left-out")
    assert "RESCAL" in told.text
    assert told.one(tag="form")["action"] == f"/pools/{labelled.name}/score"


def test_a_pool_that_is_not_there(sign_in):
    client = sign_in("manager")
    for url in ("/pools/q/evaluation", "/pools/q/evaluation/version"):
        assert client.get(url).status_code == 404
