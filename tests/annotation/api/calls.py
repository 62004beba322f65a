"""Calls of API v1 as the annotation page makes them."""

import json
from typing import Any
from uuid import uuid4

from django.test import Client

from tests.annotation.factories import LINK

CLAIM, OWN = "/api/v1/campaigns/p1/claim", "/api/v1/campaigns/p1/labels"
DISPUTED, PROGRESS = "/api/v1/campaigns/p1/claim-disputed", "/api/v1/campaigns/p1/progress"
SUBMIT, DECIDE, FLAG = "/api/v1/labels", "/api/v1/decisions", "/api/v1/flags"
# progress of a person who is no adjudicator
NO_DISPUTES = {"disputes": None, "decided_today": None, "decided": None}
RETURN, RENEW, RELEASE = "/api/v1/decisions/return", "/api/v1/slots/renew", "/api/v1/slots/release"


def change_url(label: str) -> str:
    return f"/api/v1/labels/{label}/change"


def post(client: Client, url: str, body: Any = None) -> Any:
    return client.post(url, json.dumps(body or {}), content_type="application/json")


def given(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The body of an answer to an item."""
    return {"slot": item["slot"], "lease": item["lease"], **changed("Y"), **more}


def changed(answer: str = "N", **more: Any) -> dict[str, Any]:
    return {"client_id": str(uuid4()), "answer": answer, "source_url": LINK} | more


def claimed(client: Client, count: int = 50) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = post(client, CLAIM, {"count": count}).json()["items"]
    return items
