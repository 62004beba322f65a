"""Production: https, HSTS, the address of the site, and the origins of forms, from the environment."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.test import Client

from config.addresses import default_site, trusted_origins
from config.proxies import read_proxies

ASK = """
import json
from config import settings as s
print(json.dumps([s.SECURE_SSL_REDIRECT, s.SECURE_HSTS_SECONDS, s.SESSION_COOKIE_SECURE, s.SITE_URL]))
"""
YEAR = 365 * 24 * 3600
LIVE = {"ALLOWED_HOSTS": "pool.example.org", "SECRET_KEY": "x"}
BEHIND = LIVE | {"TRUSTED_PROXIES": "10.0.0.1"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [False, 0, False, "http://127.0.0.1:8000"]),
        (LIVE, [False, YEAR, True, "https://pool.example.org"]),
        (BEHIND, [True, YEAR, True, "https://pool.example.org"]),
        (BEHIND | {"HTTPS_REDIRECT": "0", "HSTS_SECONDS": "0"}, [False, 0, True, "https://pool.example.org"]),
        (BEHIND | {"INSECURE_COOKIES": "1"}, [False, 0, False, "http://pool.example.org"]),
        (LIVE | {"HTTPS_REDIRECT": "1"}, [True, YEAR, True, "https://pool.example.org"]),
        (
            LIVE | {"ALLOWED_HOSTS": ".example.org", "SITE_URL": "https://pool.example.org:8443/"},
            [False, YEAR, True, "https://pool.example.org:8443"],
        ),
    ],
)
def test_https_from_the_environment(given, expected, tmp_path) -> None:
    ours = ("ALLOWED_HOSTS", "SECRET_KEY", "TRUSTED_PROXIES", "INSECURE_COOKIES", "HTTPS_REDIRECT", "HSTS", "SITE_URL")
    rest = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    env = {**rest, **given, "TRIPLEPOOL_VAR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=env, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == expected


def test_site_is_the_first_host_that_is_not_a_pattern() -> None:
    assert default_site([".example.org", "*", "a.example.org"], True, True) == "https://a.example.org"
    assert default_site(["*"], True, True) == ""


def test_origins_are_those_of_the_hosts_and_the_address_of_the_site() -> None:
    assert trusted_origins(["a.org", ".b.org", "*"], "https://a.org") == ["https://a.org", "https://*.b.org"]
    assert trusted_origins(["a.org"], "https://a.org:8443") == ["https://a.org", "https://a.org:8443"]


@pytest.mark.django_db
def test_http_leads_to_https_and_https_says_to_stay(settings) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, YEAR
    settings.TRUSTED_PROXIES = read_proxies("10.0.0.1")
    plain = Client(REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-Proto": "http"}).get("/login")
    assert (plain.status_code, plain["Location"]) == (301, "https://testserver/login")
    secure = Client(REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-Proto": "https"}).get("/login")
    assert (secure.status_code, secure["Strict-Transport-Security"]) == (200, f"max-age={YEAR}")


@pytest.mark.django_db
@pytest.mark.parametrize(("origin", "status"), [("https://testserver:8443", 200), ("https://testserver:9", 403)])
def test_forms_are_sent_from_another_port_where_the_proxy_passes_the_host_without_it(settings, origin, status) -> None:
    settings.CSRF_TRUSTED_ORIGINS = trusted_origins(["testserver"], "https://testserver:8443")
    client = Client(enforce_csrf_checks=True)
    token = client.get("/login").context["csrf_token"]
    sent = {"username": "nobody", "password": "wrong", "csrfmiddlewaretoken": str(token)}
    assert client.post("/login", sent, headers={"Origin": origin}).status_code == status
