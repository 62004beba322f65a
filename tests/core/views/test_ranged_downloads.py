"""Downloads that broke off are taken up again (RFC 9110, section 14)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from django.http.response import HttpResponseBase
from django.test import RequestFactory

from core.views import files
from core.views.files import ranged_file

CONTENT = bytes(range(200))
ETAG = "a" * 64
# The end of an answer looks after the process's database connection.
pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "1.zip").write_bytes(CONTENT)
    return tmp_path / "1.zip"


def get(file: Path, **headers: str) -> HttpResponseBase:
    return ranged_file(RequestFactory(headers=headers).get("/"), file, ETAG, "p-v1.zip")


def body(answer: HttpResponseBase) -> bytes:
    """Read the answer to its end, and close its file as a server does."""
    with closing(answer):
        return b"".join(answer)  # type: ignore[call-overload]


def test_a_whole_file_says_that_it_can_be_taken_up_again(file: Path):
    answer = get(file)
    assert (answer.status_code, body(answer)) == (200, CONTENT)
    assert dict(answer.items()) == {
        "Content-Length": "200",
        "Content-Type": "application/zip",
        "Accept-Ranges": "bytes",
        "ETag": f'"{ETAG}"',
        "Content-Disposition": 'attachment; filename="p-v1.zip"',
    }


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0), ("bytes=50-", 50, 199), ("bytes=50-99", 50, 99), ("bytes=199-199", 199, 199),
        ("bytes=190-5000", 190, 199), ("bytes=-10", 190, 199), ("bytes=-5000", 0, 199), ("Bytes= 3 - 4 ", 3, 4),
    ],
)  # fmt: skip
def test_one_range_is_answered_with_its_bytes(file: Path, monkeypatch, asked, first, last):
    monkeypatch.setattr(files, "PIECE", 7)
    answer = get(file, range=asked)
    assert (answer.status_code, body(answer)) == (206, CONTENT[first : last + 1])
    assert answer["Content-Range"] == f"bytes {first}-{last}/200"
    assert (answer["Content-Length"], answer["ETag"]) == (str(last - first + 1), f'"{ETAG}"')
    assert (answer["Content-Type"], answer["Accept-Ranges"]) == ("application/zip", "bytes")


@pytest.mark.parametrize("asked", ["bytes=200-", "bytes=200-300", "bytes=-0", "bytes=999999999999999999-"])
def test_a_range_outside_the_file_is_refused_with_its_size(file: Path, asked):
    answer = get(file, range=asked)
    assert (answer.status_code, body(answer), answer["Content-Range"]) == (416, b"", "bytes */200")


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "bytes=9-3", "bytes=-", "bytes=a-b", "rows=0-5", "bytes=", "0-5"])
def test_what_is_no_single_range_is_answered_with_all(file: Path, asked):
    answer = get(file, range=asked)
    assert (answer.status_code, body(answer)) == (200, CONTENT)


@pytest.mark.parametrize(
    ("condition", "status", "content"),
    [
        (f'"{ETAG}"', 206, CONTENT[100:]),
        ('"another"', 200, CONTENT),
        (f'W/"{ETAG}"', 200, CONTENT),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 200, CONTENT),
    ],
)
def test_a_range_counts_only_while_the_file_is_that_one(file: Path, condition, status, content):
    answer = get(file, **{"range": "bytes=100-", "if-range": condition})
    assert (answer.status_code, body(answer)) == (status, content)


def test_a_file_that_is_known_is_not_sent_again(file: Path):
    answer = get(file, **{"if-none-match": f'"{ETAG}"'})
    assert (answer.status_code, body(answer), answer["ETag"]) == (304, b"", f'"{ETAG}"')
    other = get(file, **{"if-none-match": '"another"'})
    assert (other.status_code, body(other)) == (200, CONTENT)


def test_head_tells_the_size_of_the_whole(file: Path):
    request = RequestFactory(headers={"range": "bytes=5-9"}).head("/")
    with closing(ranged_file(request, file, ETAG, "p-v1.zip")) as answer:
        assert (answer.status_code, answer["Content-Length"], answer["Accept-Ranges"]) == (200, "200", "bytes")
