"""Sign in by a signed response of a SAML provider. Run by ../test_single_sign_on.py."""

from __future__ import annotations

import base64
import os
import zlib
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Identity
from tests.config.sso.provider import ENTITY, SSO_URL, SamlProvider
from tests.page import read


def new_client() -> Client:
    """Return a client that sends the name of the site, as browsers do; the library needs it."""
    return Client(headers={"host": "testserver"})


@pytest.fixture
def client() -> Client:
    from django.core.cache import cache

    cache.clear()  # it counts requests
    return new_client()


MAIL = "urn:oid:0.9.2342.19200300.100.1.3"


@pytest.fixture(scope="module")
def idp() -> SamlProvider:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificate

    provider = SamlProvider()
    with open(os.environ["SAML_METADATA"] + ".pem", "rb") as file:  # noqa: PTH123
        pem = file.read()
    provider.key = load_pem_private_key(pem, None)  # type: ignore[assignment]
    provider.certificate = load_pem_x509_certificate(pem)
    return provider


def begin(client: Client, address: str = "/sso/saml/login?next=/account") -> str:
    """Return the id of the request that the site sent the person with."""
    to = client.get(address)["Location"]
    assert to.startswith(SSO_URL)
    sent = zlib.decompress(base64.b64decode(parse_qs(urlsplit(to).query)["SAMLRequest"][0]), -15).decode()
    return sent.split('ID="')[1].split('"')[0]


def answer(client: Client, response: str):
    """Send a response as browsers do, and return what the last address answered before a page is shown."""
    taken = client.post("/sso/saml/acs", {"SAMLResponse": response, "RelayState": ""})
    return taken if taken["Location"] == "/login" else client.get(taken["Location"])


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_signed_response_signs_in_and_leads_to_the_page(client, db, idp) -> None:
    assert read(client.get("/login")).one("sso-saml")
    said = {MAIL: "anna@example.org", "email_verified": "true", "urn:oid:0.9.2342.19200300.100.1.1": "anna"}
    done = answer(client, idp.response(begin(client), "subject-1", said))
    anna = User.objects.get()
    assert (done["Location"], is_in(client), anna.username, anna.email) == (
        "/account", True, "anna", "anna@example.org",
    )  # fmt: skip
    assert list(Identity.objects.values_list("issuer", "subject")) == [(ENTITY, "subject-1")]


def test_address_counts_only_if_the_provider_says_that_it_is_verified(client, db, idp) -> None:
    boss = User.objects.create_user("boss", "anna@example.org", "x")
    answer(client, idp.response(begin(client), "subject-1", {MAIL: "anna@example.org"}))
    assert is_in(client) and int(client.session["_auth_user_id"]) != boss.pk
    again = new_client()
    said = {MAIL: "anna@example.org", "email_verified": "true"}
    answer(again, idp.response(begin(again), "subject-2", said))
    assert int(again.session["_auth_user_id"]) == boss.pk


@pytest.mark.parametrize("wrong", ["unsigned", "other key", "audience", "late", "changed"])
def test_response_that_is_not_the_providers_lets_nobody_in(client, db, idp, wrong) -> None:
    request = begin(client)
    said = {MAIL: "anna@example.org", "email_verified": "true"}
    given = {
        "unsigned": {"signed": False},
        "audience": {"audience": "https://another.example.org"},
        "late": {"minutes": -30},
    }.get(wrong, {})
    response = (SamlProvider() if wrong == "other key" else idp).response(request, "subject-1", said, **given)
    if wrong == "changed":
        text = base64.b64decode(response).decode().replace("anna@", "boss@")
        response = base64.b64encode(text.encode()).decode()
    assert answer(client, response)["Location"] == "/login"
    assert not is_in(client) and User.objects.count() == 0


def test_response_that_nobody_here_asked_for_is_refused(client, db, idp) -> None:
    other = begin(new_client())
    for request in (other, "made-up"):
        response = idp.response(request, "subject-1", {})
        client.post("/sso/saml/acs", {"SAMLResponse": response})
        client.get("/sso/saml/acs/finish")
        assert not is_in(client)


def test_response_of_a_sign_in_that_began_at_the_provider_is_refused(client, db, idp) -> None:
    """Its assertion names no request. The response around it is not signed, so anybody can write one there."""
    request = begin(client)
    for named in ("", request):
        refused = answer(client, idp.response(named, "subject-1", {}, confirms=""))
        assert (refused["Location"], is_in(client), User.objects.count()) == ("/login", False, 0)


def test_response_that_comes_late_or_twice_is_told_on_the_page_to_sign_in(client, db, idp) -> None:
    from config.single_sign_on_pages import failed

    response = idp.response(begin(client), "subject-1", {})
    late = new_client()
    assert answer(late, response)["Location"] == "/login" and failed() in late.get("/login").content.decode()


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


XSLT = (
    '<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"><xsl:stylesheet version="1.0" '
    'xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">{}</xsl:template></xsl:stylesheet>'
    "</ds:Transform>"
)
ENVELOPED = '<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>'


def loops(depth: int) -> str:
    inner = loops(depth - 1) if depth else '<xsl:value-of select="count(//.)"/>'
    return f'<xsl:for-each select="//.|//.">{inner}</xsl:for-each>'


def extension(content: str) -> tuple[str, str]:
    return "<samlp:Status>", f"<samlp:Extensions>{content}</samlp:Extensions><samlp:Status>"


def names(form: str) -> str:
    return " ".join(form.format(i) for i in range(25))


LONG = {  # what is replaced in a response, by what
    "xslt": (ENVELOPED, XSLT.format(loops(2)) + ENVELOPED),
    "transforms": (ENVELOPED, ENVELOPED * 5),
    "xpath": ("</ds:Reference>", '</ds:Reference><ds:Reference URI="#xpointer(//*[count(//*) > 0])"/>'),
    "file": ("</ds:Reference>", '</ds:Reference><ds:Reference URI="file:///dev/zero"/>'),
    "namespaces": extension("<x " + names('xmlns:n{0}="u{0}"') + "/>"),
    "attributes": extension("<x " + names('a{}=""') + "/>"),
    "prefixes": extension('<x PrefixList="' + names("n{}") + '"/>'),
    "elements": extension("<x/>" * 10_000),
    "depth": extension("<x>" * 20 + "</x>" * 20),
}


@pytest.mark.parametrize("old, new", LONG.values(), ids=LONG)
def test_response_that_would_compute_for_long_is_not_looked_at(client, db, idp, monkeypatch, old, new) -> None:
    """With `loops(3)`, it takes half a minute of processor time, and with each more a hundred times that. So do a few
    thousand elements with a thousand namespaces.
    """
    from onelogin.saml2.auth import OneLogin_Saml2_Auth

    looked: list[object] = []
    monkeypatch.setattr(OneLogin_Saml2_Auth, "process_response", lambda self, **_: looked.append(self))
    text = base64.b64decode(idp.response(begin(client), "subject-1", {})).decode()
    assert old in text
    refused = answer(client, b64(text.replace(old, new).encode()))
    assert (refused["Location"], looked) == ("/login", [])


def test_response_and_assertion_may_both_be_signed(client, db, idp) -> None:
    answer(client, idp.response(begin(client), "subject-1", {}, signs_both=True))
    assert is_in(client)


GARBAGE = {
    "nothing": "",
    "no base64": "!!!!",
    "half": "abcde",
    "no xml": b64(b"not xml"),
    "zeros": b64(b"\0" * 100),
    "encoding": b64(b'<?xml version="1.0" encoding="klingon"?><a/>'),
    "deep": b64(b"<a>" * 100_000),
    "entities": b64(b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'),
    "large": b64(os.urandom(1_500_000)),
}


@pytest.mark.parametrize("sent", GARBAGE.values(), ids=GARBAGE)
def test_garbage_of_a_stranger_is_no_error_and_is_not_kept(client, db, sent) -> None:
    from django.contrib.sessions.models import Session

    begin(client)
    assert answer(client, sent)["Location"] == "/login" and read(client.get("/login")).messages
    assert Session.objects.count() == 1  # that of `begin`


@pytest.mark.parametrize("named", ["", " \n ", None])
def test_signed_response_that_names_nobody_is_told(client, db, idp, named) -> None:
    from annotation.people.single_sign_on import NO_SUBJECT

    assert answer(client, idp.response(begin(client), named, {}))["Location"] == "/login"
    assert str(NO_SUBJECT) in client.get("/login").content.decode() and User.objects.count() == 0


def test_attribute_alone_can_say_who_it_is(client, db, idp) -> None:
    said = {"urn:oasis:names:tc:SAML:attribute:subject-id": "anna@uni"}
    answer(client, idp.response(begin(client), None, said))
    assert is_in(client) and list(Identity.objects.values_list("subject", flat=True)) == ["anna@uni"]


def test_name_that_the_provider_gave_for_another_site_is_refused(client, db, idp) -> None:
    elsewhere = idp.response(begin(client), "subject-1", {}, qualifier='SPNameQualifier="https://other.example.org"')
    assert answer(client, elsewhere)["Location"] == "/login" and User.objects.count() == 0


def test_name_that_is_of_this_session_alone_makes_no_account(client, db, idp) -> None:
    from config.single_sign_on_pages import no_lasting_name

    refused = answer(client, idp.response(begin(client), "once-1", {}, lasting=False))
    assert (refused["Location"], is_in(client), User.objects.count()) == ("/login", False, 0)
    assert no_lasting_name() in client.get("/login").content.decode()
    said = {"urn:oasis:names:tc:SAML:attribute:subject-id": "anna@uni"}
    answer(client, idp.response(begin(client), "once-2", said, lasting=False))
    assert is_in(client) and list(Identity.objects.values_list("subject", flat=True)) == ["anna@uni"]


def test_response_works_once(client, db, idp) -> None:
    response = idp.response(begin(client), "subject-1", {})
    answer(client, response)
    assert is_in(client)
    client.post("/logout")
    answer(client, response)
    assert not is_in(client)


def test_sign_in_whose_session_ended_meanwhile_is_told(client, db, idp) -> None:
    response = idp.response(begin(client), "subject-1", {})
    client.cookies["saml-acs-session"] = client.cookies["sessionid"].value  # that one is deleted on the way
    assert answer(client, response)["Location"] == "/login" and not is_in(client)
    assert read(client.get("/login")).messages


def test_sign_in_counts_as_two_requests_of_an_address(client, db, idp, monkeypatch) -> None:
    from config import single_sign_on_pages as pages

    monkeypatch.setattr(pages, "MOST_A_MINUTE", 2)
    answer(client, idp.response(begin(client), "subject-1", {}))
    assert is_in(client) and new_client().get("/sso/saml/login")["Location"] == "/login"


def test_metadata_do_not_expire(client, db) -> None:
    assert "validUntil" not in client.get("/sso/saml/metadata").content.decode()


def test_pages_of_allauth_are_those_five(client, db, idp) -> None:
    from tests.pages.test_access import PAGES, routes

    extra = {name for name, _ in routes()} - set(PAGES)
    assert extra == {"saml_login", "saml_acs", "saml_finish_acs", "saml_metadata", "saml_sls"}
    seen = {path: client.get(f"/sso/saml/{path}").status_code for path in ("metadata", "sls", "acs", "acs/finish")}
    assert seen == {"metadata": 200, "sls": 404, "acs": 405, "acs/finish": 302}
    assert "http://testserver/sso/saml/acs" in client.get("/sso/saml/metadata").content.decode()
    assert client.get("/sso/other/login").status_code == 404
