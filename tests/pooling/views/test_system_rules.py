"""The rules of a system on its page and as a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.utils.html import escape

from core.templatetags.figures import places
from tests.page import read
from tests.pooling.relatives import mine_relatives

pytestmark = pytest.mark.django_db(transaction=True)
UNCLE = "If X is a brother of A and A is mum or dad of Y then X is an uncle of Y."
URL = "/graphs/relatives/systems/rules"


def test_page_says_the_rules_and_takes_one_relation(tmp_path: Path, manager: Client):
    mine_relatives(tmp_path / "tsv")
    page = manager.get(URL)
    assert page.status_code == 200
    rules = page.context["rules"]
    text = page.content.decode()
    assert UNCLE in [row.words for row in rules.rows]
    assert all(escape(row.words) in text for row in rules.rows)
    chosen = manager.get(URL, {"relation": "2"})
    assert [row.words for row in chosen.context["rules"].rows] == [UNCLE]
    assert '<option value="2" selected>uncle of (1)</option>' in chosen.content.decode()


def test_page_has_a_column_for_each_learned_weight(tmp_path: Path, manager: Client):
    mine_relatives(tmp_path / "tsv", "rnnlogic")
    page = manager.get("/graphs/relatives/systems/rnnlogic")
    found = read(page)
    rows, weights = page.context["rules"].rows, [cell.text for cell in found.all("weight")]
    assert len(found.all("weight-name")) == 2 and len(found.all("rule")) == len(rows)
    assert weights == [places(weight, 3) for row in rows for weight in row.weights]


def test_file_has_all_rules(tmp_path: Path, manager: Client):
    system = mine_relatives(tmp_path / "tsv")
    answer = manager.get(f"{URL}/rules.tsv")
    lines = answer.getvalue().decode().splitlines()
    assert answer["Content-Disposition"] == 'attachment; filename="relatives-rules-rules.tsv"'
    assert answer["Content-Type"] == "text/tab-separated-values; charset=utf-8"
    assert "uncleOf\tbrotherOf(X, A), parentOf(A, Y)\t5\t7\t1\t0.416667" in lines
    system.sha256 = ""
    system.save(update_fields=["sha256"])
    assert manager.get(f"{URL}/rules.tsv").status_code == 404
