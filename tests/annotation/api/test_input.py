"""Whatever is sent: an answer of 4xx with an error in words, and nothing done. And what a call costs."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Flag, Label, Slot, SurplusLabel
from pooling.enums import PoolOrigin, PoolState
from pooling.models import Pool, PooledTriple
from tests.annotation.api.calls import (
    CLAIM,
    DECIDE,
    DISPUTED,
    FLAG,
    RELEASE,
    RENEW,
    RETURN,
    SUBMIT,
    change_url,
    changed,
    claimed,
    given,
    post,
)
from tests.annotation.factories import answer, claim, findings, label_and_release, windows_closed

JSON = "application/json"


@pytest.fixture
def ada(world, as_user) -> Client:
    """Annotates and adjudicates: every endpoint is hers."""
    client = as_user(world.ada)
    client.raise_request_exception = False  # an exception is a 500, as it is outside
    return client


@pytest.fixture
def bodies(world, ada) -> dict[str, dict[str, Any]]:
    """A good body for each endpoint that takes one."""
    item = world.campaign.items.order_by("order").first()
    label_and_release(world, item, ann="Y", ben="N")
    windows_closed(item)
    question, labelled = claimed(ada)[:2]
    body = given(labelled)
    assert post(ada, SUBMIT, body).status_code == 201
    (third,) = post(ada, DISPUTED).json()["items"]
    return {
        CLAIM: {"count": 8},
        DISPUTED: {"count": 8},
        SUBMIT: given(question),
        DECIDE: given(third, comment="seen"),
        change_url(body["client_id"]): changed(),
        RENEW: {"slots": [question["slot"]]},
        RELEASE: {"slots": [question["slot"]]},
        FLAG: {"slot": question["slot"], "lease": question["lease"], "client_id": str(uuid4()), "kind": "name"},
        RETURN: {"slot": third["slot"], "lease": third["lease"], "reason": "broken"},
    }


def done() -> tuple:
    slots = Slot.objects.order_by("pk").values_list("state", "annotator")
    return list(slots), Label.objects.count(), SurplusLabel.objects.count(), Flag.objects.count()


WHOLE: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"{", JSON),
    "a list": (b"[]", JSON),
    "a text": (b'"x"', JSON),
    "a number": (b"7", JSON),
    "null": (b"null", JSON),
    "deep": (b"[" * 200_000, JSON),
    "deep objects": (b'{"a":' * 100_000, JSON),
    "a number of 10,000 digits": (b'{"count": 1' + b"0" * 10_000 + b"}", JSON),
    "not UTF-8": (b'{"comment": "\xff\xfe"}', JSON),
    "UTF-16": ('{"count": "x"}'.encode("utf-16"), JSON),
    "charset that is none": (b"{", "application/json; charset=bogus"),
    "charset that is no text": (b"{}", "application/json; charset=hex"),
    "charset of names": (b"{}", "application/json; charset=undefined"),
    "no type": (b"{}", ""),
    "plain text": (b"{}", "text/plain"),
    "XML": (b"<slots/>", "application/xml"),
    "multipart without boundary": (b"x", "multipart/form-data"),
}


@pytest.mark.parametrize("what", WHOLE)
def test_body_that_is_no_request_is_refused_in_words(world, ada, bodies, what) -> None:
    content, kind = WHOLE[what]
    before = done()
    for url in bodies:
        response = ada.generic("POST", url, content, content_type=kind)
        assert 400 <= response.status_code < 500, (url, response.status_code)
        assert isinstance(response.json()["error"], str), url
    assert done() == before


def test_form_with_too_many_fields_is_refused_in_words(ada, bodies) -> None:
    form = "&".join(f"a{i}=1" for i in range(5000))
    response = ada.post(RELEASE, form, content_type="application/x-www-form-urlencoded")
    assert (response.status_code, set(response.json())) == (400, {"error"})


BAD: dict[str, list[Any]] = {
    "count": [0, -1, 51, 10**30, "x", "", None, [], {}, 1.5, True, "8\0", "1_0"],
    "slot": ["", "x", None, [], {}, 10**60, -1, "\0", "a" * 10_000, ["x"]],
    "lease": ["", "x", None, [], {"a": 1}],
    "client_id": ["", "x", None, [], {}, -1],
    "answer": ["", "y", "maybe", None, 1, True, [], {}, "Y\0", "?" * 10_000],
    "source_url": [None, [], {}, "\0", "https://en.wikipedia.org/" + "x" * 3000],
    "comment": [None, [], {}, "a\0b", "x" * 10_000, "\ud800"],
    "active_ms": [-1, "x", None, [], "1" * 2000],
    "away_ms": [-1, "x", None, {}],
    "slots": ["", "x", None, {}, [1.5], ["x"], [None], [[]], [str(uuid4())] * 201, ["\0"]],
    "kind": ["", "rude", None, [], {}, 5],
    "text": [None, [], "a\0b", "x" * 10_000, "\udfff"],
    "reason": ["", " ", None, [], "a\0b", "x" * 10_000],
}
# what DRF reads as a number, or what is a number of 128 bits: odd, and harmless
ODD = {"count": [True, 1.0], "client_id": [7], "active_ms": ["12", 3.0, 10**30], "away_ms": [10**30], "slots": [[7]]}


@pytest.mark.parametrize("field", BAD)
def test_bad_value_is_refused_and_its_field_named(world, ada, bodies, field) -> None:
    before = done()
    checked = 0
    for url, body in bodies.items():
        takes = field in body or (field in ("source_url", "comment", "active_ms", "away_ms") and "answer" in body)
        takes = takes or (field == "count" and url in (SUBMIT, DECIDE)) or (field == "text" and url == FLAG)
        for value in BAD[field] if takes else []:
            if field == "count" and value == 0 and url in (SUBMIT, DECIDE):
                continue  # no next questions are asked for
            if value in ODD.get(field, []):
                continue
            response = post(ada, url, body | {field: value})
            shown = (url, str(value)[:40], response.status_code, response.content[:300])
            assert response.status_code == 400, shown
            assert set(response.json()["fields"]) == {field}, shown
            assert response.json()["error"].startswith(f"{field}: "), shown
            checked += 1
    assert checked >= len(BAD[field]) - 1
    assert done() == before


@pytest.mark.parametrize("field", ODD)
def test_odd_value_never_breaks_anything(world, ada, bodies, field) -> None:
    for url, body in bodies.items():
        for value in ODD[field] if field in body or field in ("active_ms", "away_ms") else []:
            response = post(ada, url, body | {field: value})
            assert response.status_code < 500, (url, value)


def test_numbers_as_texts_and_unknown_fields_are_taken_as_meant(world, ada, bodies) -> None:
    response = post(ada, SUBMIT, bodies[SUBMIT] | {"active_ms": "1500", "count": "3", "annotator": 1, "number": 3})
    assert response.status_code == 201
    assert Label.objects.latest("pk").active_ms == 1500
    assert Label.objects.latest("pk").annotator == world.ada


def test_time_beyond_an_hour_of_work_and_a_day_away_is_cut(ada, bodies) -> None:
    assert post(ada, SUBMIT, bodies[SUBMIT] | {"active_ms": 10**30, "away_ms": 10**18}).status_code == 201
    label = Label.objects.latest("pk")
    assert (label.active_ms, label.away_ms) == (3_600_000, 86_400_000)


def test_text_of_any_script_is_kept_as_it_is(ada, bodies) -> None:
    text = "שלום <script>alert(1)</script> {{ 7*7 }} =1+1 🦉 e\u0301 \u202e\n\ttab"
    assert post(ada, SUBMIT, bodies[SUBMIT] | {"answer": "?", "source_url": "", "comment": text}).status_code == 201
    assert Label.objects.latest("pk").comment == text


def test_huge_body_is_not_even_read(ada, bodies) -> None:
    before = done()
    for url in bodies:
        response = post(ada, url, {"slots": [str(uuid4())] * 30_000})
        assert (response.status_code, set(response.json())) == (413, {"error"})
    assert done() == before


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_other_methods_are_refused_in_words(ada, bodies, method) -> None:
    for url in bodies:
        response = getattr(ada, method)(url)
        assert (response.status_code, set(response.json())) == (405, {"error"})


# -- what a call costs ---------------------------------------------------------


@pytest.fixture
def crowded(world) -> Any:
    """large(judged): a campaign of 260 items, so many of them labelled by Ann and Ben, and started by Ann."""

    def large(judged: int) -> list[int]:
        pool = Pool.objects.create(
            graph=world.pool.graph,
            name="large",
            origin=PoolOrigin.BUILT,
            state=PoolState.READY,
            depth=9,
            seed_source="test",
            contributors=["a"],
        )
        PooledTriple.objects.bulk_create(
            PooledTriple(pool=pool, head=i % 10, relation=0, tail=i // 10, depth=1, provenance=findings((0, 1, 1)))
            for i in range(220)
        )
        campaign = open_campaign(pool, seed=1)
        for user in (world.ann, world.ben, world.ada):
            campaign.members.create(person=user, role="annotator", consented_at="2026-01-01T00:00Z")
        for user in (world.ann, world.ben):
            left = judged
            while left > 0:
                for slot in claim(campaign, user, 10)[:left]:
                    answer(user, slot)
                    left -= 1
        Slot.objects.filter(item__campaign=campaign, state="leased").update(
            state="free", annotator=None, leased_until=None
        )
        return list(campaign.items.order_by("order").values_list("pk", flat=True))

    return large


def cost(client: Client, method: str, url: str, body: Any = None, status: int = 200) -> int:
    with CaptureQueriesContext(connection) as queries:
        response = client.get(url) if method == "get" else post(client, url, body)
    assert response.status_code == status, response.content
    return len(queries)


@pytest.mark.parametrize("judged", [10, 200])
def test_queries_do_not_grow_with_what_is_judged(world, crowded, as_user, judged) -> None:
    """Who it is, which campaign and whether they may are some of each."""
    crowded(judged)
    assert Label.objects.count() == 2 * judged
    client, base = as_user(world.ann), "/api/v1/campaigns/large"
    client.get(f"{base}/progress")  # what is remembered between requests
    costs = {"claim": cost(client, "post", f"{base}/claim", {"count": 8})}
    costs["claim again"] = cost(client, "post", f"{base}/claim", {"count": 8})
    items = post(client, f"{base}/claim", {"count": 8}).json()["items"]
    first = given(items[0])
    costs["submit"] = cost(client, "post", SUBMIT, first, 201)
    costs["submit with next"] = cost(client, "post", SUBMIT, given(items[1], count=8), 201)
    costs["repeated"] = cost(client, "post", SUBMIT, first)
    costs["change"] = cost(client, "post", change_url(first["client_id"]), changed())
    costs["progress"] = cost(client, "get", f"{base}/progress")
    costs["own labels"] = cost(client, "get", f"{base}/labels")
    costs["renew"] = cost(client, "post", RENEW, {"slots": [item["slot"] for item in items]})
    costs["release"] = cost(client, "post", RELEASE, {"slots": [item["slot"] for item in items]})
    assert costs == {
        "claim": 21,
        "claim again": 8,
        "submit": 11,
        "submit with next": 13,
        "repeated": 5,
        "change": 20,
        "progress": 12,
        "own labels": 8,
        "renew": 8,
        "release": 8,
    }
