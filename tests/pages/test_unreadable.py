"""A body or an address that cannot be read is refused, and never an error of the server."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config.wsgi import application
from core.people.tokens import create_token
from tests.factories import make_person

UNREADABLE = (
    "multipart/form-data",
    "multipart/form-data; boundary=" + "b" * 300,
    "application/x-www-form-urlencoded; charset=latin-1",
    "application/x-www-form-urlencoded; charset=idna",
)


@pytest.fixture
def ada(db) -> User:
    return make_person("ada", "manager")


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize(("address", "status"), [("/account", 400), ("/people/x", 404)])
def test_a_body_that_cannot_be_read_has_the_page_of_its_error(ada: User, kind: str, address: str, status: int):
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(ada)
    client.cookies["csrftoken"] = "a" * 32  # with it, the check reads the body
    assert client.generic("POST", address, b"a=1", content_type=kind).status_code == status


def served(address: str, query: str, kind: str, **more: Any) -> int:
    """Return the status of a request that is asked as a server asks."""
    status, _, body = asked(address, query, kind, **more)
    body.close()
    return status


def asked(address: str, query: str, kind: str, **more: Any) -> tuple[int, dict[str, str], Any]:
    """Ask as a server does, which Django's client does not: it makes another request object, and drops bodies."""
    said: list[tuple[str, list[tuple[str, str]]]] = []
    environ = {
        **{"REQUEST_METHOD": "POST", "PATH_INFO": address, "QUERY_STRING": query, "CONTENT_TYPE": kind},
        **{"SERVER_NAME": "localhost", "SERVER_PORT": "80", "REMOTE_ADDR": "127.0.0.1", "wsgi.url_scheme": "http"},
        **{"CONTENT_LENGTH": "2", "wsgi.input": io.BytesIO(b"{}"), "wsgi.errors": io.StringIO(), **more},
    }
    body = application(environ, lambda status, headers, exc=None: said.append((status, headers)))
    (status, headers) = said[0]
    return int(status.split()[0]), dict(headers), body


@pytest.mark.parametrize("address", ["/login", "/nothing", "/static/css/base.css"])
def test_an_answer_to_head_has_headers_alone(db, address: str):
    """Of a body, the server writes a line to the log: anybody could fill it."""
    full, head = (asked(address, "", "", REQUEST_METHOD=method) for method in ("GET", "HEAD"))
    assert b"".join(head[2]) == b"" != b"".join(full[2])
    assert (head[0], head[1]["Content-Type"]) == (full[0], full[1]["Content-Type"])
    assert head[1].get("Content-Length") == full[1].get("Content-Length")


MANY = "&".join(["a"] * 1001)


@pytest.mark.parametrize("charset", ["idna", "hex", "utf-8", "utf-7", "undefined", "nonsense"])
@pytest.mark.parametrize(("query", "status"), [("q=%FF", 403), (MANY, 400)])
def test_any_charset_and_any_query_are_answered(ada: User, charset: str, query: str, status: int):
    _, key = create_token(ada, "t", ["read"], 1)
    token = {"HTTP_AUTHORIZATION": f"Bearer {key}"}
    kind = f"application/json; charset={charset}"
    assert served("/api/v1/labels", query, kind, **token) == status


@pytest.mark.parametrize(("language", "said"), [("en", "Nothing was saved"), ("de", "Nichts wurde gespeichert")])
def test_what_is_too_long_is_refused_on_a_page_in_words(ada: User, language: str, said: str):
    client = Client(headers={"Accept-Language": language})
    page = client.post("/login", {"username": "a" * 3_000_000, "password": "b"})
    html = page.content.decode()
    assert page.status_code == 400
    assert 'data-test="unreadable"' in html and said in " ".join(html.split())
