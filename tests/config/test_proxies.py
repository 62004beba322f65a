"""Whose address a request has, behind proxies that are trusted and behind others."""

import logging
import re
import shlex
import sys
from ipaddress import ip_network

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import RequestFactory
from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.config import Config

from config import proxies as module
from config.proxies import TrustProxies, client_of, read_proxies
from core.management.commands.serve import options_of_gunicorn

PROXIES = read_proxies("10.0.0.0/8, 192.0.2.7,::1")


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.5", "198.51.100.1", "203.0.113.5"),  # no proxy of ours: its header is made up
        ("10.0.0.2", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.2", "1.1.1.1, 198.51.100.1", "198.51.100.1"),  # the left one came from the client
        ("10.0.0.2", "1.1.1.1, 198.51.100.1, 192.0.2.7, 10.9.9.9", "198.51.100.1"),
        ("10.0.0.2", "10.0.0.3", "10.0.0.3"),  # a client within the network of the proxies
        ("10.0.0.2", "", "10.0.0.2"),
        ("10.0.0.2", "198.51.100.1, not an address", "10.0.0.2"),
        ("10.0.0.2", "198.51.100.1:4711", "198.51.100.1"),
        ("::1", "[2001:db8::5]:4711", "2001:db8::5"),
        ("::ffff:10.0.0.2", "198.51.100.1", "198.51.100.1"),
        ("::1", "fe80::1%eth0", "fe80::1"),
        ("", "198.51.100.1", ""),
    ],
)
def test_client_is_the_right_most_address_that_is_not_a_trusted_proxys(peer, forwarded, client) -> None:
    assert client_of(peer, forwarded, PROXIES) == client


def test_a_unix_socket_is_trusted_by_name_only() -> None:
    assert client_of("", "198.51.100.1", read_proxies("unix")) == "198.51.100.1"


def test_setting_lists_addresses_and_networks() -> None:
    assert read_proxies("") == frozenset()
    assert read_proxies(" 10.0.0.0/8,unix,") == {ip_network("10.0.0.0/8"), "unix"}
    for wrong in ("proxy.example.org", "10.0.0.1/8", "*"):
        with pytest.raises(ImproperlyConfigured, match="TRUSTED_PROXIES"):
            read_proxies(wrong)


@pytest.mark.parametrize(
    ("peer", "seen"), [("10.0.0.2", ("198.51.100.1", "https")), ("172.16.0.1", ("172.16.0.1", "http"))]
)
def test_headers_of_others_are_taken_out(peer, seen, settings) -> None:
    settings.TRUSTED_PROXIES = PROXIES
    # gunicorn sets the scheme by the header, for peers that it trusts by itself
    request = RequestFactory().get(
        "/",
        headers={"X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "https"},
        REMOTE_ADDR=peer,
        **{"wsgi.url_scheme": "https"},
    )
    TrustProxies(lambda _: HttpResponse())(request)
    assert (request.META["REMOTE_ADDR"], request.scheme) == seen
    assert ("X-Forwarded-For" in request.headers) == (peer == "10.0.0.2")


@pytest.mark.parametrize(
    ("host", "kept"),
    [("a.org:80", "a.org"), ("a.org:443", "a.org"), ("a.org:8443", "a.org:8443"), ("[2001:db8::80]", "[2001:db8::80]")],
)
def test_https_and_links_keep_no_default_port_that_a_proxy_writes_into_host(db, client, settings, host, kept) -> None:
    """nginx with $host:$server_port does; https://a.org:80 would answer nobody."""
    settings.TRUSTED_PROXIES, settings.SECURE_SSL_REDIRECT = read_proxies("127.0.0.1"), True
    settings.ALLOWED_HOSTS = ["a.org", "[2001:db8::80]"]
    response = client.get("/login", headers={"host": host, "x-forwarded-proto": "http"})
    assert response["Location"] == f"https://{kept}/login"
    request = client.get("/login", headers={"host": host, "x-forwarded-proto": "https"}).wsgi_request
    assert request.build_absolute_uri("/x") == f"https://{kept}/x"


def test_a_near_proxy_without_trust_is_told_once(caplog, monkeypatch) -> None:
    monkeypatch.setattr(module, "_told", set())
    ask = TrustProxies(lambda _: HttpResponse())
    with caplog.at_level(logging.WARNING, logger=module.__name__):
        for peer in ("172.16.0.1", "172.16.0.1", "8.8.8.8"):  # the last is far: anybody can send the header
            ask(RequestFactory().get("/", headers={"X-Forwarded-For": "198.51.100.1"}, REMOTE_ADDR=peer))
    assert [record.args for record in caplog.records] == [("172.16.0.1", "172.16.0.1")]


def test_gunicorn_takes_no_script_name_from_headers() -> None:
    """Else whoever comes by a near proxy that passes headers on asks for another page than the proxy sees."""
    entry = (settings.BASE_DIR / "deploy" / "entry").read_text(encoding="utf-8").replace("\\\n", "")
    started = re.search(r"-m gunicorn (.*?) \"\$@\"", entry, re.DOTALL)
    assert started
    for options in (options_of_gunicorn("127.0.0.1:8000"), shlex.split(re.sub(r"\$\{\w+:-|\}", "", started[1]))):
        read = Config()
        asked = read.parser().parse_args(options).forwarder_headers
        if asked is not None:
            read.set("forwarder_headers", asked)
        assert read.forwarder_headers == [], options


def test_gunicorn_that_is_started_without_options_takes_none_either(monkeypatch) -> None:
    """With SCRIPT_NAME it answered 500."""
    monkeypatch.chdir(settings.BASE_DIR)
    monkeypatch.setattr(sys, "argv", ["gunicorn", "config.wsgi"])
    assert WSGIApplication().cfg.forwarder_headers == []
