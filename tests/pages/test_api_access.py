"""Every endpoint of API v1 by every method as everybody, by token; one that is not in the table fails a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from core.models import Job
from core.people.tokens import create_token, scopes_for
from evaluation.labels import qrels
from evaluation.models import Export
from tests.pages.test_access import routes
from tests.pages.world import make_graph, make_person, make_pool

ROLES = ("stranger", "annotator", "adjudicator", "outsider", "researcher", "manager")
ID = "00000000-0000-0000-0000-000000000000"
ANSWER = {"slot": ID, "lease": ID, "client_id": ID, "answer": "Y"}
RUN = b"tail:p0:knows Q0 p4 1 9.5 mine\n"
TRIPLES = b"a\tr\tb\nb\tr\tc\nc\tr\ta\na\tr\tc\n"
QRELS = b"p0\tknows\tp4\tY\n"


class Row(NamedTuple):
    args: tuple[Any, ...]
    method: str
    body: Any
    scopes: str  # that a token needs one of
    statuses: tuple[int, ...]  # in the order of ROLES


EVALUATORS = (401, 403, 403, 403, 200, 200)
HIDDEN = (401, 404, 404, 404, 404, 404)  # a ticket that nobody was given


def get(*args: Any, scopes: str = "read", statuses: tuple[int, ...] = EVALUATORS) -> Row:
    return Row(args, "get", None, scopes, statuses)


def post(*args: Any, body: Any = None, scopes: str, statuses: tuple[int, ...]) -> Row:
    return Row(args, "post", body, scopes, statuses)


def sent(content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("sent.txt", content)


NOT_OWN = (401, 403, 403, 403, 404, 404)
P, G = "town-pool", "town"
TABLE: dict[str, list[Row]] = {
    "api-schema": [get(scopes="read run label manage", statuses=(200,) * 6)],
    "api-graphs": [get()],
    "api-graph": [get(G)],
    "api-graph-uploads": [
        post(body=lambda: {"files": sent(TRIPLES)}, scopes="manage", statuses=(401, 403, 403, 403, 403, 201))
    ],
    "api-graph-upload-preview": [post(ID, scopes="manage", statuses=(401, 403, 403, 403, 403, 404))],
    "api-graph-upload-import": [post(ID, scopes="manage", statuses=(401, 403, 403, 403, 403, 404))],
    "api-systems": [get()],
    "api-system": [get(G, "rotate")],
    "api-runs": [get()],
    "api-graph-runs": [
        get(G),
        post(
            G, body=lambda: {"system": "mine", "file": sent(RUN)}, scopes="run",
            statuses=(401, 403, 403, 403, 201, 201),
        ),
    ],
    "api-run": [
        get(G, "rotate"),
        Row((G, "rotate"), "delete", None, "run", (401, 403, 403, 403, 403, 403)),  # nobody brought it
    ],
    "api-run-publish": [post(G, "rotate", scopes="run", statuses=(401, 403, 403, 403, 403, 403))],
    "api-run-replace": [
        post(G, "rotate", body=lambda: {"file": sent(RUN)}, scopes="run", statuses=(401, 403, 403, 403, 403, 403))
    ],
    "api-run-download": [get(G, "rotate", statuses=(401, 403, 403, 403, 503, 503))],  # its files are not there
    "api-uploads": [
        post(G, body={"system": "large"}, scopes="run", statuses=(401, 403, 403, 403, 201, 201)),
    ],
    "api-upload": [
        get(ID, scopes="run", statuses=NOT_OWN),
        Row((ID,), "delete", None, "run", NOT_OWN),
    ],
    "api-upload-part": [Row((ID, 1), "put", None, "run", NOT_OWN)],
    "api-upload-topics": [Row((ID,), "put", None, "run", NOT_OWN)],
    "api-upload-finish": [post(ID, body={"parts": 1}, scopes="run", statuses=NOT_OWN)],
    "api-pools": [get()],
    "api-pool": [get(P)],
    "api-jobs": [get()],
    "api-job": [get(Job)],
    "api-job-cancel": [post(Job, scopes="manage", statuses=(401, 403, 403, 403, 403, 200))],
    "api-job-retry": [post(Job, scopes="manage", statuses=(401, 403, 403, 403, 403, 409))],  # it is running
    "api-campaigns": [get(scopes="read label", statuses=(401, 200, 200, 200, 200, 200))],
    "api-campaign": [get(P, scopes="read label", statuses=(401, 200, 200, 404, 200, 200))],
    "api-items": [get(P, statuses=(401, 403, 403, 403, 403, 200))],
    "api-claim": [post(P, scopes="label", statuses=(401, 200, 200, 404, 403, 403))],
    "api-own-labels": [get(P, scopes="label", statuses=(401, 200, 200, 404, 403, 403))],
    "api-claim-disputed": [post(P, scopes="label", statuses=(401, 403, 200, 404, 403, 403))],
    "api-progress": [get(P, scopes="label", statuses=(401, 200, 200, 404, 403, 403))],
    "api-renew": [post(body={"slots": [ID]}, scopes="label", statuses=(401, 200, 200, 200, 403, 403))],
    "api-release": [post(body={"slots": [ID]}, scopes="label", statuses=(401, 200, 200, 200, 403, 403))],
    "api-submit": [post(body=ANSWER, scopes="label", statuses=(401, 404, 404, 404, 403, 403))],
    "api-change": [post(ID, body=ANSWER, scopes="label", statuses=(401, 404, 404, 404, 403, 403))],
    "api-submit-decision": [post(body=ANSWER, scopes="label", statuses=(401, 404, 404, 404, 403, 403))],
    "api-return": [
        post(body=ANSWER | {"reason": "x"}, scopes="label", statuses=(401, 404, 404, 404, 403, 403))
    ],
    "api-flag": [
        post(body=ANSWER | {"kind": "name"}, scopes="label", statuses=(401, 404, 404, 404, 403, 403))
    ],
    "api-measures": [get()],
    "api-measure": [get("micro_hits@7")],
    "api-analyses": [get()],
    "api-evaluations": [get(P, statuses=(401, 403, 403, 403, 503, 503))],  # the files of its runs are not there
    "api-evaluation": [
        get(P, "stability", statuses=(401, 403, 403, 403, 503, 503)),
        post(
            P, "stability", body={"part": "labels"}, scopes="run", statuses=(401, 403, 403, 403, 503, 503)
        ),
    ],
    "api-pool-qrels": [
        get(P),
        post(P, body={"name": "new"}, scopes="manage", statuses=(401, 403, 403, 403, 403, 201)),
    ],
    "api-judgements": [get(P)],
    "api-qrels": [get(P, "first")],
    "api-qrels-terms": [
        get(P, "first"),
        post(
            P, "first", body={"url": "https://example.org", "changed": "An address"}, scopes="manage",
            statuses=(401, 403, 403, 403, 403, 201),
        ),
    ],
    "api-imported-qrels": [
        post(
            P, body=lambda: {"name": "theirs", "file": sent(QRELS)}, scopes="run",
            statuses=(401, 403, 403, 403, 403, 201),
        )
    ],
    "api-test-sets": [
        post(body=lambda: {"archive": sent(b"x")}, scopes="manage", statuses=(401, 403, 403, 403, 403, 400))
    ],
    "api-trec-file": [get(P, "topics.tsv")],
    "api-pool-exports": [
        get(P),
        post(P, body={"qrels": "first", "strict": True}, scopes="run", statuses=(401, 403, 403, 403, 202, 202)),
    ],
    "api-export": [get(Export)],
    "api-export-download": [get(Export, statuses=(401, 403, 403, 403, 409, 409))],  # nobody has written it
}  # fmt: skip


@pytest.fixture
def site(world: dict, tmp_path, monkeypatch) -> dict:
    """The world with an export, and with a member of another campaign."""
    monkeypatch.setattr(qrels, "evaluated", lambda pool: [])  # the files of its runs are not there
    world[Export] = Export.objects.create(qrels=qrels.freeze_qrels(world["pool"], "first"))
    world[Job] = world["job"]
    elsewhere = open_campaign(make_pool(make_graph(tmp_path / "elsewhere", "elsewhere"), "elsewhere-pool"))
    world["outsider"] = make_person("outsider", campaign=elsewhere, role="annotator")
    elsewhere.members.create(person=world["outsider"], role="adjudicator", consented_at=timezone.now())
    return world


def client_of(site: dict, role: str, *scopes: str) -> Client:
    """With a token for these scopes, or for all that the role can have."""
    headers = {"Accept": "application/json"}
    if role != "stranger":
        chosen = scopes or [scope.value for scope in scopes_for(site[role])]
        _, secret = create_token(site[role], "-".join(chosen), chosen, 1)
        headers["Authorization"] = f"Token {secret}"
    return Client(headers=headers)


def call(site: dict, client: Client, name: str, row: Row) -> Any:
    """The answer, and nothing of what was done is left."""
    url = reverse(name, args=[site[arg].pk if arg in (Job, Export) else arg for arg in row.args])
    body = row.body() if callable(row.body) else row.body
    kind = {} if callable(row.body) else {"content_type": "application/json"}
    with transaction.atomic():
        send = getattr(client, row.method)
        answer = send(url) if row.method == "get" else send(url, body or {}, **kind)
        transaction.set_rollback(True)
    return answer


def rows() -> Iterator[tuple[str, Row]]:
    for name, of_name in TABLE.items():
        yield from ((name, row) for row in of_name)


def test_every_endpoint_and_method_is_in_the_table():
    there = {
        (name, method)
        for name, pattern in routes()
        if name.startswith("api-") and name not in ("api-docs", "api-nothing", "api-with-slash")
        for method in ("get", "post", "put", "patch", "delete")
        if hasattr(pattern.callback.view_class, method)
    }
    assert there == {(name, row.method) for name, row in rows()}


def test_every_endpoint_as_everybody(site: dict):
    clients = {role: client_of(site, role) for role in ROLES}
    seen, untold = {}, []
    for name, row in rows():
        answers = [call(site, client, name, row) for client in clients.values()]
        seen[name, row.method] = tuple(answer.status_code for answer in answers)
        untold += [(name, a.json()) for a in answers if a.status_code >= 400 and set(a.json()) != {"error"}]
    assert seen == {(name, row.method): row.statuses for name, row in rows()}
    assert untold == []


def test_token_without_the_scope_is_refused_and_says_which_it_lacks(site: dict):
    """Each scope alone: it opens the endpoints that name it, and is no reason for a refusal there."""
    wrong = []
    for role in ("annotator", "manager"):
        for scope in scopes_for(site[role]):
            client = client_of(site, role, scope.value)
            for name, row in rows():
                needed = row.scopes.split()
                answer = call(site, client, name, row)
                words = " or ".join(repr(one) for one in needed)
                lacks = f"This token lacks the scope {words}: make one that has it."
                told = answer.status_code == 403 and answer.json() == {"error": lacks}
                if told == (scope in needed):
                    wrong.append((role, scope.value, name, row.method, answer.status_code))
    assert wrong == []


@pytest.mark.parametrize("scopes", [("read",), ("read", "run", "manage")])
def test_method_that_an_endpoint_lacks_is_405_whatever_the_scopes(site: dict, scopes: tuple[str, ...]):
    client = client_of(site, "manager", *scopes)
    seen = {
        (method, path): (answer.status_code, set(answer.json()))
        for method in ("put", "patch", "delete")
        for path in ("graphs", f"pools/{P}/qrels", "measures")
        for answer in [getattr(client, method)(f"/api/v1/{path}")]
    }
    assert seen == dict.fromkeys(seen, (405, {"error"})) and len(seen) == 9


NONE = ("", "none", "pools//", "none/", "graphs/a b/runs", "jobs/x", "pools/%FF", "campaigns/ü/claim")


@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_address_that_is_none_is_told_as_all_errors_are(site: dict, method: str):
    seen = {
        (role, path): (answer.status_code, set(answer.json()))
        for role in ("researcher", "stranger")
        for client in [client_of(site, role)]
        for path in NONE
        for answer in [getattr(client, method)(f"/api/v1/{path}")]
    }
    assert seen == {key: (404 if key[0] == "researcher" else 401, {"error"}) for key in seen}
    assert len(seen) == 2 * len(NONE)
