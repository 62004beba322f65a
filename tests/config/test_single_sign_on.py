"""Single sign-on: off by default, and end to end in a process that has its settings (sso/)."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config.single_sign_on import read_single_sign_on
from tests.config.sso.provider import CLIENT, SECRET, SamlProvider

INNER = Path(__file__).parent / "sso"
OIDC = {"OIDC_ISSUER": "https://id.example.org", "OIDC_CLIENT_ID": "a", "OIDC_CLIENT_SECRET": "b"}


def run(file: str, tmp_path: Path, migrated: Path, **env: str) -> None:
    """Run the tests of a file in a process with these settings, on a copy of a database, and with few plugins."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "pytest_django.plugin",
        "-p",
        "no:cacheprovider",
        "--reuse-db",
    ]
    shutil.copy(migrated, tmp_path / "tests.sqlite3")
    own = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TEST_DATABASE": str(tmp_path / "tests.sqlite3")}
    own |= {"TRIPLEPOOL_VAR": str(tmp_path / "var")} | env
    unset = ("DATABASE_URL", "ALLOWED_HOSTS")
    kept = {name: value for name, value in os.environ.items() if name not in unset and not name.startswith("PYTEST")}
    done = subprocess.run(
        [*command, str(INNER / file)],
        cwd=settings.BASE_DIR,
        env=kept | own,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-6000:] + done.stderr[-2000:]


def a_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.django_db  # `migrated` is a copy of the tests' database, which only such tests make
@pytest.mark.parametrize("passwords", ["1", "0"])
def test_openid_connect_end_to_end(tmp_path, migrated, passwords) -> None:
    issuer = f"http://127.0.0.1:{a_port()}"
    known = {"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": CLIENT, "OIDC_CLIENT_SECRET": SECRET, "OIDC_NAME": "Uni Login"}
    run("inner_oidc.py", tmp_path, migrated, **known, PASSWORD_SIGN_IN=passwords)


@pytest.mark.django_db
def test_saml_end_to_end(tmp_path, migrated) -> None:
    idp, path = SamlProvider(), tmp_path / "idp.xml"
    path.write_text(idp.metadata())
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem = idp.key.private_bytes(*form) + idp.certificate.public_bytes(serialization.Encoding.PEM)
    (tmp_path / "idp.xml.pem").write_bytes(pem)
    run("inner_saml.py", tmp_path, migrated, SAML_METADATA=str(path))


def test_without_settings_allauth_is_not_imported(tmp_path) -> None:
    code = (
        "import django, sys; django.setup(); import config.urls; "
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'allauth', 'onelogin', 'xmlsec'}))"
    )
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "TRIPLEPOOL_VAR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=settings.BASE_DIR, env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("env", "named"),
    [
        (OIDC | {"OIDC_CLIENT_SECRET": ""}, "OIDC_CLIENT_SECRET"),
        (OIDC | {"OIDC_ISSUER": "http://id.example.org"}, "OIDC_ISSUER"),
        (OIDC | {"SSO_ROLE": "manager"}, "SSO_ROLE"),
        ({"PASSWORD_SIGN_IN": "0"}, "PASSWORD_SIGN_IN"),
        ({"SAML_METADATA": "/nowhere/idp.xml"}, "SAML_METADATA"),
    ],
)
def test_setting_that_is_wrong_is_named(env, named) -> None:
    with pytest.raises(ImproperlyConfigured, match=named) as error:
        read_single_sign_on(env, production=False)
    assert "b" not in str(error.value).split()


def test_file_that_is_no_metadata_is_named(tmp_path) -> None:
    (tmp_path / "x.xml").write_text("<a/>")
    with pytest.raises(ImproperlyConfigured, match="no metadata"):
        read_single_sign_on({"SAML_METADATA": str(tmp_path / "x.xml")}, production=False)


def test_plain_http_is_for_a_provider_on_this_machine_and_never_in_production() -> None:
    local = OIDC | {"OIDC_ISSUER": "http://127.0.0.1:8080"}
    assert read_single_sign_on(local, production=False).providers[0].issuer == "http://127.0.0.1:8080"
    with pytest.raises(ImproperlyConfigured, match="https"):
        read_single_sign_on(local, production=True)
