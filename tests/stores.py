"""Places for artifacts: the artifact folder alone, a folder that machines share, and S3, which moto plays."""

from __future__ import annotations

import logging
import urllib.request
import uuid
from functools import cache
from pathlib import Path

from core.files import bucket

SECRET = "wJalrXUtnFEMI/K7MDENG"  # of no account
KINDS = ("local", "file", "s3")


@cache
def s3_address() -> str:
    """Start an S3 of our own, once a session; it ends with the process."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    return f"http://{host}:{port}"


def s3_environment(address: str = "") -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": address or s3_address(),
    }


def use(kind: str, settings, folder: Path, monkeypatch) -> str:
    """Let the site have a new, empty store of this kind; return the kind."""
    settings.ARTIFACT_STORE = ""
    if kind == "file":
        (folder / "shared").mkdir()
        settings.ARTIFACT_STORE = f"file://{folder / 'shared'}"
    if kind == "s3":
        for name, value in s3_environment().items():
            monkeypatch.setenv(name, value)
        name = f"bucket-{uuid.uuid4().hex[:12]}"
        urllib.request.urlopen(urllib.request.Request(f"{s3_address()}/{name}", method="PUT")).close()
        settings.ARTIFACT_STORE = f"s3://{name}/pre/fix"
    return kind


def objects() -> list[str]:
    """Return the keys of all objects of the store."""
    return sorted(found.key for found in bucket.objects(""))
