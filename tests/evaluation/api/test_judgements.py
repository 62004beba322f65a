"""Judgements as rows: state and how it came about, page by page, for managers and researchers."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.people.tokens import create_token
from evaluation.labels.frozen import SETTLED
from evaluation.labels.qrels import freeze_qrels, pooled_state, read_frozen, state_counts
from pooling.models import Pool
from tests.factories import make_person

URL = "/api/v1/pools/p/judgements"


@pytest.fixture
def client(labelled: Pool) -> Client:
    token = create_token(make_person("researcher", "researcher"), "rows", ["read"], 1)[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


def every(client: Client, **filters: object) -> list[dict]:
    page = client.get(URL, {"page_size": 7, **filters}).json()
    found = page["results"]
    while page["next"]:
        page = client.get(page["next"]).json()
        found += page["results"]
    return found


def test_rows_are_the_pooled_triples_as_frozen_qrels_say(labelled: Pool, client: Client):
    found = every(client)
    assert [row["id"] for row in found] == sorted(labelled.triples.values_list("pk", flat=True), reverse=True)
    frozen = read_frozen(freeze_qrels(labelled, "v1"))
    settled = Counter(SETTLED[i] for i in frozen.settled.tolist())
    settled.pop("seed")
    assert Counter(row["settled"] for row in found) == settled and len(settled) > 1
    _, state = pooled_state(labelled)
    counts = state_counts(state[labelled.seeds.count() :])
    assert Counter(row["state"] for row in found) == Counter({key: n for key, n in counts.items() if n})
    for row in found:
        assert (row["decided_at"] is None) == (row["settled"] in ("open", "filtered"))
        assert row["filter"] or row["settled"] != "filtered"  # a label beats a filter: it may have both


def test_a_verdict_that_is_asked_for(labelled: Pool, client: Client):
    positive = [row for row in every(client) if row["state"] == "positive"]
    assert every(client, verdict="positive") == positive and positive
    assert every(client, origin="import") == []
    assert client.get(URL, {"state": "positive"}).status_code == 400


def test_how_adjudicated_imported_and_undecided_judgements_are_named(labelled: Pool, client: Client, monkeypatch):
    from evaluation.labels import judgement_rows as module

    first, second, third = labelled.judgements.exclude(verdict="undecided").order_by("pk")[:3]
    monkeypatch.setattr(module, "adjudicated_triples", lambda pool, among: {first.triple_id})
    labelled.judgements.filter(pk=second.pk).update(origin="import")
    labelled.judgements.filter(pk=third.pk).update(verdict="undecided")
    by_id = {row["id"]: row for row in every(client)}
    assert by_id[first.triple_id]["settled"] == "adjudicated"
    assert by_id[second.triple_id]["settled"] == "imported"
    told = by_id[third.triple_id]
    assert (told["settled"], told["state"]) == ("undecided", "unjudged")


def test_queries_do_not_grow_with_the_page(labelled: Pool, client: Client):
    def queries(size: int) -> int:
        with CaptureQueriesContext(connection) as found:
            assert len(client.get(URL, {"page_size": size}).json()["results"]) == size
        return len(found)

    queries(1)
    assert queries(1) == queries(9)
