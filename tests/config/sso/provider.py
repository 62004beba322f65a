"""A small provider of OpenID Connect with a key of its own, and one of SAML: what tests sign in at."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import BinaryIO
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "triplepool", "not-known-to-others"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class OidcProvider:
    """Serve discovery, keys, tokens and user info at `issuer`; `claims` is who signs in next."""

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.key, self.signing_key = new_key(), None  # signing_key: another one, of an impostor
        self.claims: dict[str, object] = {}
        self.userinfo: dict[str, object] | None = None  # None: the claims
        self.token: dict[str, object] = {}  # replaces claims of the id token
        self.config: dict[str, object] = {}  # replaces parts of the discovery document
        self.sends_id_token = True
        self.raw: dict[str, bytes | Callable[[BinaryIO], None]] = {}  # what an address answers, or does, instead
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked.append(self.path)
                if self.path in provider.raw:
                    return self.give_raw(provider.raw[self.path])
                pages = {
                    "/.well-known/openid-configuration": provider.discovery,
                    "/keys": provider.keys,
                    "/me": lambda: provider.claims if provider.userinfo is None else provider.userinfo,
                }
                self.give(200, pages[self.path]())

            def do_POST(self) -> None:
                provider.asked.append(self.path)
                sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                if self.path in provider.raw:
                    return self.give_raw(provider.raw[self.path])
                answer = provider.exchange({name: values[0] for name, values in sent.items()})
                self.give(400 if "error" in answer else 200, answer)

            def give(self, status: int, content: object) -> None:
                body = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def give_raw(self, given: bytes | Callable[[BinaryIO], None]) -> None:
                with contextlib.suppress(OSError):
                    if callable(given):
                        return given(self.wfile)
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.end_headers()
                    self.wfile.write(given)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def discovery(self) -> dict[str, object]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/me",
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        } | self.config

    def keys(self) -> dict[str, object]:
        public = json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": "one", "alg": "RS256", "use": "sig"}]}

    def authorize(self, url: str) -> tuple[str, str]:
        """Return code and state, as after the person signed in at the address to which the site sent them."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert url.startswith(f"{self.issuer}/authorize?") and asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT and "openid" in asked["scope"].split()
        code = uuid4().hex
        self.codes[code] = asked
        return code, asked["state"]

    def exchange(self, sent: dict[str, str]) -> dict[str, object]:
        asked = self.codes.pop(sent.get("code", ""), None)
        verifier = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).decode().rstrip("=")
        if (
            asked is None
            or (sent["client_id"], sent["client_secret"]) != (CLIENT, SECRET)
            or sent["redirect_uri"] != asked["redirect_uri"]
            or (asked["code_challenge_method"], asked["code_challenge"]) != ("S256", challenge)
        ):
            return {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300} | self.claims | self.token
        signed = jwt.encode(claims, self.signing_key or self.key, "RS256", headers={"kid": "one"})
        token = {"access_token": uuid4().hex, "token_type": "Bearer"}
        return token | ({"id_token": signed} if self.sends_id_token else {})


ENTITY = "https://idp.example.org/metadata"
SSO_URL = "https://idp.example.org/sso"
SP = "http://testserver/sso/saml/metadata"
ACS = "http://testserver/sso/saml/acs"


class SamlProvider:
    """Sign responses as an identity provider of SAML does."""

    def __init__(self) -> None:
        self.key = new_key()
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "idp")])
        now = datetime.now(UTC)
        made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(self.key.public_key())
        made = made.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=9))
        self.certificate = made.sign(self.key, hashes.SHA256())

    @property
    def key_pem(self) -> str:
        form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        return self.key.private_bytes(*form).decode()

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def metadata(self) -> str:
        lines = "".join(self.certificate_pem.splitlines()[1:-1])
        return (
            f'<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{ENTITY}">'
            '<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">'
            '<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data>'
            f"<ds:X509Certificate>{lines}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
            '<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" '
            f'Location="{SSO_URL}"/></md:IDPSSODescriptor></md:EntityDescriptor>'
        )

    def response(
        self, request_id: str, subject: str | None, attributes: dict[str, str], *, audience: str = SP,
        minutes: int = 5, signed: bool = True, lasting: bool = True, confirms: str | None = None, qualifier: str = "",
        signs_both: bool = False,
    ) -> str:  # fmt: skip
        """Return a response in base64, whose assertion is signed.

        `subject` None: without a name id. `confirms`: the request that the assertion names; empty: none.
        """
        now = datetime.now(UTC)
        at, until = (f"{when:%Y-%m-%dT%H:%M:%SZ}" for when in (now, now + timedelta(minutes=minutes)))
        before = f"{now - timedelta(minutes=60):%Y-%m-%dT%H:%M:%SZ}"
        said = "".join(
            f'<saml:Attribute Name="{name}"><saml:AttributeValue>{value}</saml:AttributeValue></saml:Attribute>'
            for name, value in attributes.items()
        )
        said = (
            f"<saml:AttributeStatement>{said}</saml:AttributeStatement>" if said else ""
        )  # an empty one is not allowed
        how = "persistent" if lasting else "transient"
        name = (
            f'<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:{how}" {qualifier}>{subject}</saml:NameID>'
        )
        to = request_id if confirms is None else confirms
        answers = f'InResponseTo="{to}"' if to else ""
        asked = f'InResponseTo="{request_id}"' if request_id else ""
        assertion = (
            f'<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="a{uuid4().hex}" Version="2.0" '
            f'IssueInstant="{at}"><saml:Issuer>{ENTITY}</saml:Issuer><saml:Subject>'
            f"{'' if subject is None else name}"
            '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData '
            f'NotOnOrAfter="{until}" Recipient="{ACS}" {answers}/></saml:SubjectConfirmation>'
            f'</saml:Subject><saml:Conditions NotBefore="{before}" NotOnOrAfter="{until}"><saml:AudienceRestriction>'
            f"<saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>"
            f'<saml:AuthnStatement AuthnInstant="{at}"><saml:AuthnContext><saml:AuthnContextClassRef>'
            "urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext>"
            f"</saml:AuthnStatement>{said}</saml:Assertion>"
        )
        if signed:
            assertion = self.sign(assertion)
        response = (
            '<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" '
            f'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="r{uuid4().hex}" Version="2.0" IssueInstant="{at}" '
            f'Destination="{ACS}" {asked}><saml:Issuer>{ENTITY}</saml:Issuer><samlp:Status>'
            '<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>'
            f"{assertion}</samlp:Response>"
        )
        return base64.b64encode((self.sign(response) if signs_both else response).encode()).decode()

    def sign(self, element: str) -> str:
        from onelogin.saml2.utils import OneLogin_Saml2_Utils as Utils

        made = Utils.add_sign(element, self.key_pem, self.certificate_pem)
        made = made.decode() if isinstance(made, bytes) else made
        return made.removeprefix("<?xml version='1.0' encoding='utf-8'?>").strip()
