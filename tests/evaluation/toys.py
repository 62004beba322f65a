"""The toys of tests/test_registries.py at work: on pages, in commands, in the API and the docs.

They exist only in the copy of the program that this test makes, so this file is not collected with the others.
"""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Item
from evaluation.labels.qrels import freeze_qrels
from evaluation.test_sets.export import export_test_set
from pooling.models import Graph, Pool
from tests.factories import make_person, make_pool, make_system
from tests.test_docs import writer


def manager() -> Client:
    client = Client()
    client.force_login(make_person("boss", "manager"), backend="config.sign_in.Accounts")
    return client


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_measure(labelled: Pool) -> None:
    found = json.loads(printed("evaluate", "p", "--measures", "macro_mr,macro_toy", "--json"))["systems"]
    assert {round(of["macro_toy"] + of["macro_mr"], 9) for of in found.values()} == {100.0}
    client = manager()
    assert client.get(reverse("api-measure", args=["macro_toy"])).json()["label"] == "Macro Toy"
    page = client.get(reverse("analysis", args=["p", "measures"]), {"measures": "macro_toy"})
    assert page.status_code == 200 and b"Macro Toy" in page.content
    assert "It is for tests." in writer("measures").text()


def test_system(town: Graph) -> None:
    system = make_system(town, "cp")
    assert (system.kind, system.epochs_done) == ("cp", 2)
    assert b"CP" in manager().get(reverse("systems", args=["town"])).content
    assert "\n## CP\n" in writer("systems").text()


def test_filter(pool: Pool) -> None:
    assert b"Triples of the first relation are toys." in manager().get(reverse("pool-filter", args=["p"])).content
    call_command("filter_pool", "p", "--filters", "toy", stdout=StringIO())
    assert set(pool.triples.filter(reason="toy").values_list("relation", flat=True)) == {0}
    assert set(json.loads(printed("pool_report", "p", "--json"))["by_reason"]) == {"toy"}


def test_order(pool: Pool) -> None:
    assert b"Last come first." in manager().get(reverse("campaign", args=["p"])).content
    open_campaign(pool, order="toy", batch_size=3, whole_questions=False)
    chosen = sorted(Item.objects.values_list("triple_id", flat=True))
    assert chosen == sorted(pool.triples.filter(reason="").order_by("-pk").values_list("pk", flat=True)[:3])


def test_file(labelled: Pool, tmp_path: Path) -> None:
    export_test_set(freeze_qrels(labelled, "v1"), tmp_path / "out")
    judged = (tmp_path / "out" / "judgements.tsv").read_text().count("\n") - 1
    assert (tmp_path / "out" / "toy.txt").read_text() == f"{judged} triples\n"
    assert "| toy.txt | how many triples there are |" in (tmp_path / "out" / "README.md").read_text()
    described = json.loads((tmp_path / "out" / "croissant.json").read_text())["distribution"]
    assert [of["description"] for of in described if of["name"] == "toy.txt"] == ["how many triples there are"]


def test_all_of_them_in_one_pool(town: Graph) -> None:
    make_system(town, "cp")
    make_system(town, "transe")
    pool = make_pool(town, "both", systems=["cp", "transe"], filters=["toy"])
    assert (pool.contributors, pool.filters) == (["cp", "transe"], ["toy"])
