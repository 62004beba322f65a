"""NUL in any text that is sent is refused in words; PostgreSQL could not store it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from core.models import Job
from core.people.tokens import create_token, tokens_of
from tests.page import Element, has, parse, refusals
from tests.pages.test_access import PAGES, url_of
from tests.pages.test_api_access import ANSWER, TABLE, client_of, rows, site

__all__ = ["site"]
NUL = "a\0b"
TYPED = ("text", "email", "password", "hidden", "search", "url", "number", "date", "datetime-local")


@pytest.fixture(autouse=True)
def _refuse_as_postgresql():
    """Raise what psycopg raises, since SQLite takes NUL."""

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        params = list(params) if many else params  # an iterator can be read once
        for one in params if many else [params]:
            if any(isinstance(value, str) and "\0" in value for value in one or ()):
                raise ValueError("A string literal cannot contain NUL (0x00) characters.")
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield


def signed_in(site: dict, role: str) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(site[role])
    return client


def undone(send: Any) -> Any:
    with transaction.atomic():
        answer = send()
        transaction.set_rollback(True)
    return answer


def typed(form: Element) -> dict[str, str]:
    """Each field into which something can be written, or that a script could change, with its value."""
    found = {}
    for one in form.walk():
        if one.attrs.get("name", "csrfmiddlewaretoken") in ("csrfmiddlewaretoken", "estimate"):
            continue  # the second is another button of a form, which needs no name
        if one.tag == "select":
            chosen = [option for option in one.all(tag="option") if "selected" in option] or one.all(tag="option")
            found[one["name"]] = chosen[0].attrs.get("value", "") if chosen else ""
        elif one.tag == "textarea" or (one.tag == "input" and one.attrs.get("type", "text") in TYPED):
            found[one["name"]] = one.attrs.get("value", "")
        elif one.tag in ("input", "button") and ("checked" in one or one.tag == "button"):
            found.setdefault(one["name"], one.attrs.get("value", ""))
    return found


def forms_of(site: dict) -> Iterator[tuple[str, Client, str, str, dict[str, str]]]:
    for role in ("manager", "adjudicator"):
        client = signed_in(site, role)
        for name in PAGES:
            url = url_of(name, site)
            page = client.get(url)
            if page.status_code != 200 or "html" not in page["Content-Type"]:
                continue
            for form in parse(page).all(tag="form"):
                method = form.attrs.get("method", "get").lower()
                target = form.attrs.get("action") or url
                if typed(form) and target.startswith("/"):
                    yield name, client, method, target, typed(form)


def test_nul_in_a_field_of_any_form_is_refused(site: dict):
    wrong, seen = [], set()
    for name, client, method, target, values in forms_of(site):
        for field in values:
            if (method, target, field, tuple(values)) in seen:
                continue
            seen.add((method, target, field, tuple(values)))
            sent = {**values, field: NUL}
            answer = undone(partial(getattr(client, method), target, sent))
            told = answer.status_code >= 400 or refusals(answer) or parse(answer).messages or answer.status_code == 302
            if field == "graph" and has(answer, "no-such-graph"):
                continue
            if answer.status_code >= 500 or not told:
                wrong.append((name, method, target, field, answer.status_code))
    assert not wrong, "\n".join(map(str, wrong))
    assert len(seen) > 200


def test_nul_in_the_name_of_a_token_to_revoke_ends_no_token(site: dict):
    create_token(site["annotator"], "mine", ["label"], 1)
    assert signed_in(site, "annotator").post("/account/tokens", {"revoke": NUL}).status_code == 302
    assert tokens_of(site["annotator"]).count() == 1


def paths_of() -> Iterator[str]:
    """Each address, with NUL in the place of each of its arguments."""
    from django.urls import get_resolver

    for name, ways in get_resolver().reverse_dict.lists():
        for possibilities, *_ in ways:
            for path, parameters in possibilities:
                if isinstance(name, str) and parameters and not path.startswith("admin/"):
                    yield "/" + path % dict.fromkeys(parameters, "a%00b")


def test_nul_in_any_address_is_not_found_or_refused(site: dict):
    clients = [signed_in(site, role) for role in ("manager", "adjudicator")]
    paths = list(paths_of())
    seen = {path: {client.get(path).status_code for client in clients} for path in paths}
    assert {path: codes for path, codes in seen.items() if max(codes) >= 500} == {}
    assert len(paths) > 100


PARAMETERS = ("q", "page", "as", "of", "state", "relation", "person", "kind", "labels", "sort", "to", "next", "show")


def test_nul_in_the_query_of_any_page_or_endpoint_is_no_failure(site: dict):
    client, wrong = signed_in(site, "manager"), []
    for name in PAGES:
        for parameter in PARAMETERS:
            answer = undone(partial(client.get, url_of(name, site), {parameter: NUL}))
            if answer.status_code >= 500 and client.get(url_of(name, site)).status_code < 500:
                wrong.append((name, parameter, answer.status_code))
    assert not wrong, "\n".join(map(str, wrong))


def with_nul(body: Any) -> Iterator[Any]:
    """The body again and again, each time with NUL in another of its texts."""
    if isinstance(body, str):
        yield NUL
    elif isinstance(body, dict):
        for key, value in body.items():
            yield from ({**body, key: changed} for changed in with_nul(value))
        yield {**body, NUL: NUL}
    elif isinstance(body, list):
        for i, value in enumerate(body):
            yield from ([*body[:i], changed, *body[i + 1 :]] for changed in with_nul(value))


def test_nul_in_a_body_of_any_endpoint_is_told_as_json(site: dict):
    clients, wrong = {role: client_of(site, role) for role in ("annotator", "manager")}, []
    for name, row in rows():
        if row.method == "get":
            continue
        labels = isinstance(row.body, dict) and row.body.keys() >= ANSWER.keys()
        client = clients["annotator" if labels else "manager"]
        client.raise_request_exception = False
        url = reverse(name, args=[site[arg].pk if isinstance(arg, type) else arg for arg in row.args])
        body = row.body() if callable(row.body) else row.body
        kept = files(body) if callable(row.body) else {}
        for changed in with_nul(body):
            kind = {} if callable(row.body) else {"content_type": "application/json"}
            sent = {**changed, **kept} if callable(row.body) else json.dumps(changed)
            for one in kept.values():
                one.seek(0)
            answer = undone(partial(getattr(client, row.method), url, sent, **kind))
            if answer.status_code == 500 or (answer.status_code >= 400 and "error" not in answer.json()):
                wrong.append((name, changed, answer.status_code))
    assert not wrong, "\n".join(map(str, wrong))
    assert len(TABLE) > 40 and Job in site


def files(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if not isinstance(value, str)}
