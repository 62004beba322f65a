"""Sign the manifest of a backup with the key of the settings, so that a changed or foreign backup is recognised.

The manifest has the checksum of every member, so its signature covers them all.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from evaluation.keeping.backup_error import BackupError

SIGNATURE = "signature"  # key of the manifest: HMAC-SHA256 in hexadecimal digits, of all its other keys


def signature_of(manifest: Mapping[str, Any], key: str) -> str:
    """Return the signature of a manifest, whether or not it has one already."""
    unsigned = {name: value for name, value in manifest.items() if name != SIGNATURE}
    text = json.dumps(unsigned, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def signed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest with a signature, or as it is where the settings have no key."""
    key = settings.BACKUP_KEY
    return {**manifest, SIGNATURE: signature_of(manifest, key)} if key else dict(manifest)


def check_signature(manifest: Mapping[str, Any], name: str) -> str:
    """Return what to tell about the signature of the backup called `name`, empty if it is this site's.

    Raise BackupError if it was signed with another key, or changed since; also if the settings have a key and it has
    no signature, since whoever changes a backup can take that out.
    """
    key, given = settings.BACKUP_KEY, manifest.get(SIGNATURE)
    if given is None and key:
        raise BackupError(
            f"{name} is not signed, and BACKUP_KEY is set: somebody may have changed it and taken the signature out. "
            "Nothing was restored. Take a signed backup; if you kept this one yourself, restore it without BACKUP_KEY."
        )
    if given is None:
        return (
            "The backup is not signed, so nobody can tell whether somebody changed it: restore only what you kept "
            "yourself. Set BACKUP_KEY to sign the next ones."
        )
    if not key:
        return "The backup is signed, but its signature was not checked: BACKUP_KEY is not set here."
    right = signature_of(manifest, key).encode()
    # JSON can hold half of a character, which has no bytes
    if not (isinstance(given, str) and hmac.compare_digest(given.encode(errors="replace"), right)):
        raise BackupError(
            f"{name} was signed with another key, or changed since: its signature is not that of BACKUP_KEY. Nothing "
            "was restored. Take another backup, or the key that it was made with; without BACKUP_KEY the signature is "
            "not checked."
        )
    return ""
