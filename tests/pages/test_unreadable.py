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
    """Ask as a server does, which Django's client does not: it makes another request object."""
    said: list[str] = []
    environ = {
        **{"REQUEST_METHOD": "POST", "PATH_INFO": address, "QUERY_STRING": query, "CONTENT_TYPE": kind},
        **{"SERVER_NAME": "localhost", "SERVER_PORT": "80", "REMOTE_ADDR": "127.0.0.1", "wsgi.url_scheme": "http"},
        **{"CONTENT_LENGTH": "2", "wsgi.input": io.BytesIO(b"{}"), "wsgi.errors": io.StringIO(), **more},
    }
    application(environ, lambda status, headers, exc=None: said.append(status)).close()
    return int(said[0].split()[0])


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
