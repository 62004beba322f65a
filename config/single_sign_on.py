"""Read the settings of single sign-on. This file imports no allauth: without the settings, nothing does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

OIDC, SAML = "oidc", "saml"
ACCOUNT_MIDDLEWARE = "allauth.account.middleware.AccountMiddleware"


class Provider(NamedTuple):
    """A provider of single sign-on: which kind, and how its button calls it."""

    key: str  # oidc or saml; pages are at /sso/<key>/
    name: str
    issuer: str


class SingleSignOn(NamedTuple):
    """What the environment says of single sign-on; no provider: it is off."""

    providers: tuple[Provider, ...]
    apps: tuple[str, ...]  # of Django
    settings: dict[str, Any]  # of allauth
    passwords: bool  # whether people can also sign in by password
    role: str  # of new accounts; empty: none
    trusts_addresses: bool


def read_single_sign_on(env: Mapping[str, str], *, production: bool) -> SingleSignOn:
    """Return the settings; ImproperlyConfigured names the variable that is wrong."""
    providers: list[Provider] = []
    kinds: dict[str, Any] = {}
    if issuer := env.get("OIDC_ISSUER", "").rstrip("/"):
        providers.append(Provider(OIDC, env.get("OIDC_NAME") or "OpenID Connect", issuer))
        kinds["openid_connect"] = _oidc(env, providers[-1], production)
    if metadata := env.get("SAML_METADATA", ""):
        kinds["saml"], entity = _saml(env, metadata)
        providers.append(Provider(SAML, env.get("SAML_NAME") or "SAML", entity))
    role = env.get("SSO_ROLE", "")
    if role not in ("", "researcher"):
        raise ImproperlyConfigured(f"SSO_ROLE is {role!r}: leave it out, or set it to researcher. Invite the others.")
    passwords = env.get("PASSWORD_SIGN_IN", "1") == "1"
    if not passwords and not providers:
        raise ImproperlyConfigured("PASSWORD_SIGN_IN is 0, but there is no OIDC_ISSUER or SAML_METADATA: set one.")
    apps = ("allauth", "allauth.account", "allauth.socialaccount")
    return SingleSignOn(
        providers=tuple(providers),
        apps=(*apps, *(f"allauth.socialaccount.providers.{kind}" for kind in kinds)) if providers else (),
        settings={
            "SOCIALACCOUNT_PROVIDERS": kinds,
            "SOCIALACCOUNT_ADAPTER": "config.single_sign_on_pages.Adapter",
            "SOCIALACCOUNT_LOGIN_ON_GET": True,  # the policy of forms forbids a form that leads to another host
            "SOCIALACCOUNT_STORE_TOKENS": False,
            "SOCIALACCOUNT_EMAIL_VERIFICATION": "none",
            "ACCOUNT_EMAIL_VERIFICATION": "none",
            "SOCIALACCOUNT_REQUESTS_TIMEOUT": 10,  # seconds
        }
        if providers
        else {},
        passwords=passwords,
        role=role,
        trusts_addresses=env.get("SSO_TRUST_EMAIL", "") == "1",
    )


def _oidc(env: Mapping[str, str], provider: Provider, production: bool) -> dict[str, Any]:
    parts = urlsplit(provider.issuer)
    # plain http is for a provider on this machine, as tests have it; a site in production cannot have one
    is_local = parts.scheme == "http" and not production and parts.hostname in ("127.0.0.1", "localhost")
    if parts.scheme != "https" and not is_local:
        raise ImproperlyConfigured("OIDC_ISSUER must start with https://.")
    for name in ("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"):
        if not env.get(name):
            raise ImproperlyConfigured(f"OIDC_ISSUER is set, but {name} is not: the provider gives you both.")
    app = {
        "provider_id": OIDC,
        "name": provider.name,
        "client_id": env["OIDC_CLIENT_ID"],
        "secret": env["OIDC_CLIENT_SECRET"],
        "settings": {"server_url": provider.issuer, "oauth_pkce_enabled": True},
    }
    return {"APPS": [app], "OAUTH_PKCE_ENABLED": True}


def _saml(env: Mapping[str, str], path: str) -> tuple[dict[str, Any], str]:
    from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser as Parser

    try:
        read = Parser.parse(Path(path).read_text(encoding="utf-8"), entity_id=env.get("SAML_ENTITY") or None)
        found = read["idp"]
        several = found.get("x509certMulti", {}).get("signing") or []
        idp = {
            "entity_id": found["entityId"],
            "x509cert": found.get("x509cert") or several[0],
            "sso_url": found["singleSignOnService"]["url"],
        }
    except OSError as error:
        raise ImproperlyConfigured(f"SAML_METADATA: {path}: {error.strerror}.") from error
    except Exception as error:  # the parser has no errors of its own
        raise ImproperlyConfigured(f"SAML_METADATA: {path} is no metadata of a SAML identity provider.") from error
    mapping = {
        "uid": ["urn:oasis:names:tc:SAML:attribute:subject-id", "urn:oasis:names:tc:SAML:attribute:pairwise-id"],
        "email": [
            "urn:oid:0.9.2342.19200300.100.1.3",
            "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
            "mail",
            "email",
        ],
        "email_verified": ["http://schemas.auth0.com/email_verified", "email_verified"],
        "username": ["urn:oid:0.9.2342.19200300.100.1.1", "http://schemas.auth0.com/nickname", "uid"],
    }
    advanced = {
        "strict": True,
        "reject_idp_initiated_sso": True,
        "want_attribute_statement": False,
        "want_name_id": False,  # an attribute can say who it is
        "allow_single_label_domains": True,
        "metadata_valid_until": "",  # by default two days, after which a provider that was given the file refuses
        "name_id_format": "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    }
    app = {
        "provider_id": idp["entity_id"],
        "client_id": SAML,
        "name": SAML,
        "settings": {"idp": idp, "attribute_mapping": mapping, "advanced": advanced},
    }
    return {"APPS": [app]}, idp["entity_id"]
