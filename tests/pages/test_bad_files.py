"""Every page and endpoint that takes a file refuses in words what is not such a file."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from core.enums import TokenScope
from core.files import lines
from core.forms import LONGEST_NAME, NAME_TOO_LONG
from evaluation.labels import import_qrels
from evaluation.test_sets import archive
from pooling.layouts import uploads
from pooling.runs import imports
from pooling.runs.parts import create_upload
from tests.page import parse, refusals
from tests.pages.test_access import PAGES, url_of
from tests.pages.test_api_access import TABLE, client_of, site

__all__ = ["site"]
SHORT, LONG = "x", "ü" * 200  # characters; the second has 400 bytes
LINES = "p0\tknows\tü\t1\n".encode()


def zip_of(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return out.getvalue()


BAD: dict[str, tuple[str, bytes]] = {
    "empty": ("x.tsv", b""),
    "long name": (f"{LONG}.tsv", LINES),
    "latin-1": ("x.tsv", LINES.decode().encode("latin-1")),
    "utf-16": ("x.tsv", LINES.decode().encode("utf-16")),
    "utf-16 without a mark": ("x.tsv", LINES.decode().encode("utf-16-le")),
    "truncated gz": ("x.tsv.gz", gzip.compress(LINES * 50, mtime=0)[:-9]),
    "gz of an image": ("x.tsv.gz", gzip.compress(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 9, mtime=0)),
    "bomb as gz": ("x.tsv.gz", gzip.compress(b"\n" * 30_000_000, mtime=0)),
    "bomb in one line": ("x.tsv.gz", gzip.compress(b"x" * 30_000_000, mtime=0)),
    "bomb of lines": ("x.tsv.gz", gzip.compress(b"a\tb\n" * 7_000_000, mtime=0)),
    "bomb as zip": ("x.zip", zip_of(**{"train.tsv": b"x" * 30_000_000, "scores.tsv": b"\n" * 30_000_000})),
    "zip of a path above": ("x.zip", zip_of(**{"../../train.tsv": LINES, "/etc/scores.tsv": LINES})),
    "half a zip": ("x.zip", zip_of(train=LINES)[:-20]),
    "no parquet": ("x.parquet", b"PAR1" + LINES),
    "no npz": ("x.npz", zip_of(**{"scores.npy": b"\x93NUMPY\1\0"})),
    "no json": ("x.json", b"[" * 100_000),
}
GOOD_SEEDS = b"p0\tknows\tp3\n"
POOL = {"graph": "town", "name": "new", "filters": "types"}


def good(content: bytes = GOOD_SEEDS) -> SimpleUploadedFile:
    return SimpleUploadedFile("good.tsv", content)


# (page, field of the file) -> what else the form sends
FORMS: dict[tuple[str, str], Callable[[], dict[str, Any]]] = {
    ("graph-import", "sent"): dict,
    ("runs", "file"): lambda: {"name": "mine", "family": "not known"},
    ("runs", "topics"): lambda: {
        "name": "mine", "family": "not known", "file": good(b"tail:p0:knows Q0 p4 1 9.5 mine\n")
    },
    ("pool-new", "seeds_file"): lambda: POOL | {"systems": "rotate", "depth": 10, "rule": "filtered"},
    ("pool-import", "file"): lambda: POOL | {"seeds_file": good()},
    ("pool-import", "seeds_file"): lambda: POOL | {"file": good(b"p0\tknows\tp4\t1\n")},
    ("pool-growth", "seeds_file"): dict,
    ("pool-questions-import", "file"): dict,
    ("checks", "file"): lambda: {"act": "file"},
    ("evaluation-labels", "file"): lambda: {"name": "theirs", "format": "tsv"},
    ("test-set-import", "file"): lambda: {"graph": "town", "name": "theirs", "format": "tsv"},
    ("test-set-import", "seeds"): lambda: {
        "graph": "town", "name": "theirs", "format": "tsv", "file": good(b"p0\tknows\tp4\tY\n")
    },
    ("test-set-import", "archive"): lambda: {"pool_name": "", "graph_name": ""},
}  # fmt: skip
NOT_SHOWN = {("pool-growth", "seeds_file")}  # the campaign of this pool is open, but the page takes it
# (endpoint, field of the file) -> what else is sent
ENDPOINTS: dict[tuple[str, str], Callable[[], dict[str, Any]]] = {
    ("api-graph-uploads", "files"): dict,
    ("api-graph-runs", "file"): lambda: {"system": "mine"},
    ("api-graph-runs", "topics"): lambda: {"system": "mine", "file": good(b"tail:p0:knows Q0 p4 1 9.5 mine\n")},
    ("api-run-replace", "file"): dict,
    ("api-imported-qrels", "file"): lambda: {"name": "theirs"},
    ("api-test-sets", "archive"): dict,
}


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch):
    """Set limits that the bombs are larger than."""
    for module, name in ((uploads, "MOST_BYTES"), (imports, "MOST_BYTES"), (archive, "MOST_SENT_BYTES")):
        monkeypatch.setattr(module, name, 1_000_000)
    monkeypatch.setattr(import_qrels, "BOUNDS", lines.Bounds(1_000_000, 10_000))


def undone(send: Callable[[], Any]) -> Any:
    with transaction.atomic():
        answer = send()
        transaction.set_rollback(True)
    return answer


def bad_files() -> Iterator[tuple[str, SimpleUploadedFile]]:
    for kind, (name, content) in BAD.items():
        yield kind, SimpleUploadedFile(name, content)


def test_every_form_with_a_file_is_in_the_table(site: dict):
    client, found = Client(), set()
    client.force_login(site["manager"])
    for name in PAGES:
        page = client.get(url_of(name, site))
        if page.status_code == 200 and "html" in page["Content-Type"]:
            inputs = parse(page).all(tag="input", type="file")
            found |= {(name, one["name"]) for one in inputs}
    assert found == set(FORMS) - NOT_SHOWN


@pytest.mark.parametrize(("name", "field"), FORMS)
def test_page_refuses_a_bad_file_in_words(site: dict, name: str, field: str):
    client, url, wrong = Client(raise_request_exception=False), url_of(name, site), []
    client.force_login(site["manager"])
    is_graph = name == "graph-import"
    for kind, file in bad_files():
        answer = undone(lambda f=file: client.post(url, {**FORMS[name, field](), field: f}, follow=is_graph))
        told = refusals(answer) if answer.status_code in (200, 422) else []
        if is_graph and answer.status_code == 200 and answer.context.get("refusal"):
            told = [answer.context["refusal"]]
        if not told or any("Traceback" in one or "/tmp" in one for one in told):
            wrong.append((kind, answer.status_code, told))
        if kind == "long name" and (name, field) not in NOT_SHOWN:
            assert NAME_TOO_LONG.format(404, LONGEST_NAME) in told
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize(("name", "field"), ENDPOINTS)
def test_endpoint_refuses_a_bad_file_as_json(site: dict, name: str, field: str):
    if name == "api-run-replace":
        mine = site["graph"].systems.get(name="rotate")
        mine.owner, mine.kind, mine.settings = site["manager"], "imported", {"family": "not known"}
        mine.save()
    client, wrong = client_of(site, "manager"), []
    client.raise_request_exception = False
    (row,) = (row for row in TABLE[name] if row.method == "post")
    for kind, file in bad_files():
        answer = undone(
            lambda f=file: client.post(reverse(name, args=row.args), {**ENDPOINTS[name, field](), field: f})
        )
        if not 400 <= answer.status_code < 500 or "error" not in answer.json() or "/tmp" in answer.json()["error"]:
            wrong.append((kind, answer.status_code, answer.content[:300]))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("kind", BAD)
def test_parts_and_topics_of_a_large_run_are_refused_as_json(site: dict, kind: str):
    client, content = client_of(site, "manager", TokenScope.RUN.value), BAD[kind][1]
    client.raise_request_exception = False
    upload = create_upload(site["graph"], site["manager"], name="large", file_name=BAD[kind][0])
    headers = {"X-Checksum-SHA256": hashlib.sha256(content).hexdigest()}
    for name, args in (("api-upload-part", [upload.id, 1]), ("api-upload-topics", [upload.id])):
        answer = client.put(reverse(name, args=args), content, "application/octet-stream", headers=headers)
        assert answer.status_code < 500
        assert answer.status_code < 400 or "error" in answer.json()
