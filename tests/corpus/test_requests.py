"""Every bad request of the corpus gets its status and message, and leaves nothing behind."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

from core.people.roles import CampaignRole
from tests.corpus.cases import CORPUS, in_words, state
from tests.pages.conftest import _no_cache_between_tests, world
from tests.pages.test_api_access import client_of, site

__all__ = ["_no_cache_between_tests", "site", "world"]
FILE = CORPUS / "requests.jsonl"


def requests() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def answers(site: dict, caplog: Any) -> Iterator[tuple[dict[str, Any], int, str]]:
    """Yield each request with its status and message; status 0 if something failed or was changed."""
    clients = {role: client_of(site, role) for role in ("manager", CampaignRole.ANNOTATOR, CampaignRole.ADJUDICATOR)}
    for one in requests():
        client = clients[one["as"]]
        client.raise_request_exception = False
        caplog.clear()
        before = state()
        body, kind = one.get("body", ""), one.get("type", "application/json")
        answer = client.generic(one["method"], one["path"], body, kind, headers=one.get("headers"))
        failed = any(record.exc_info or record.levelno >= logging.ERROR for record in caplog.records)
        changed = state() != before
        told = answer.json() if "json" in answer["Content-Type"] else {"error": answer.content.decode()}
        words = in_words(str(told.get("error", "") if isinstance(told, dict) else told))
        yield one, 0 if failed or changed else answer.status_code, words


def test_bad_request_gets_its_message(site: dict, caplog):
    caplog.set_level(logging.ERROR)
    wrong = [
        {**one, "status": status, "message": message}
        for one, status, message in answers(site, caplog)
        if (status, message) != (one.get("status"), one.get("message"))
    ]
    assert not wrong, "\n".join(map(json.dumps, wrong))


def test_each_request_is_refused_and_named_once():
    found = requests()
    assert len({one["case"] for one in found}) == len(found) >= 100
    assert all(400 <= one["status"] < 500 and one["message"] for one in found)
