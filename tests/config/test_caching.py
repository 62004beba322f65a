"""No cache between the site and a browser keeps what depends on who asks."""

from __future__ import annotations

import pytest
from django.test import Client

from core.people.tokens import create_token
from tests.factories import make_person
from tests.pages.world import make_world


@pytest.fixture
def world(db, tmp_path) -> dict:
    return make_world(tmp_path / "tsv")


def test_no_answer_may_be_kept_by_a_shared_cache(world) -> None:
    asked = {
        "manager": ["/", "/help", "/pools", "/people", "/audit", "/nowhere", "/account/data.json", "/login"],
        "researcher": ["/", "/pools", "/people"],
        "annotator": ["/", "/account", "/people", "/api/v1/pools"],
        None: ["/", "/login", "/invitation/none", "/api/v1/pools"],
    }
    kept = []
    for role, addresses in asked.items():
        client = Client()
        if role:
            client.force_login(world[role])
        for address in addresses:
            said = client.get(address).headers.get("Cache-Control", "")
            if not {"private", "no-store"} & {part.strip() for part in said.split(",")}:
                kept.append((role, address, said))
    assert kept == []


def test_a_call_by_token_is_private_and_static_files_are_not(db) -> None:
    _, token = create_token(make_person("ann", "researcher"), "laptop", ["read"], 1)
    assert Client().get("/api/v1/pools", headers={"Authorization": f"Bearer {token}"})["Cache-Control"] == "private"
    assert "private" not in Client().get("/static/js/theme.js").headers.get("Cache-Control", "")
