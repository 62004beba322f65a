"""Sign the messages of webhooks with a secret of each, which no table holds."""

import hashlib
import hmac
import secrets

from django.utils.crypto import salted_hmac

PREFIX = "whsec_"


def new_salt() -> str:
    """Return what distinguishes the secret of a webhook from others. It is no secret itself."""
    return secrets.token_hex(16)


def secret_of(salt: str) -> str:
    """Return the secret of a webhook: it follows from SECRET_KEY, so a copy of the database does not hold it."""
    return PREFIX + salted_hmac("triplepool.webhook", salt, algorithm="sha256").hexdigest()


def signature(secret: str, at: int, body: bytes) -> str:
    """Return the header that shows that a body was sent by who has the secret, at this second since 1970."""
    mac = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={mac}"
