"""Pages, scripts and styles come compressed; what is saved as a file does not."""

from __future__ import annotations

import gzip

import pytest
from django.http import FileResponse, HttpResponse
from django.test import Client, RequestFactory

from config.compression import CompressPages

TEXT = b"<p>the same words again</p>" * 100
ASKED = {"Accept-Encoding": "gzip"}


def answer(response: HttpResponse, **headers: str) -> HttpResponse:
    return CompressPages(lambda request: response)(RequestFactory().get("/", headers=headers))


def test_a_page_is_compressed_where_the_browser_can_read_it():
    found = answer(HttpResponse(TEXT), **ASKED)
    assert found["Content-Encoding"] == "gzip" and gzip.decompress(found.content) == TEXT
    assert answer(HttpResponse(TEXT)).content == TEXT


@pytest.mark.parametrize(
    "response",
    [
        HttpResponse(TEXT, status=206),
        HttpResponse(TEXT, content_type="application/zip"),
        HttpResponse(TEXT, content_type="text/csv"),
        HttpResponse(TEXT, headers={"Content-Disposition": "attachment; filename=report.html"}),
    ],
    ids=["part", "zip", "csv", "download"],
)
def test_files_and_parts_of_them_go_out_as_they_are(response: HttpResponse):
    assert answer(response, **ASKED).content == TEXT


def test_scripts_of_the_site_are_compressed(db):
    plain, small = (Client().get("/static/js/lib/charts.js", headers=headers) for headers in ({}, ASKED))
    assert isinstance(plain, FileResponse)
    own = b"".join(plain.streaming_content)
    compressed = b"".join(small.streaming_content)
    assert gzip.decompress(compressed) == own and len(compressed) < len(own) / 2
