"""What people type is whole in an exported test set, spoils none of its tables, and comes back."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from annotation.judging.label_import import import_labels
from annotation.models import ImportedLabel, Label
from evaluation.labels.qrels import freeze_qrels
from evaluation.labels.terms import Creator, edit_terms
from evaluation.models import Qrels, Terms
from evaluation.test_sets.export import export_test_set
from evaluation.test_sets.restore import restore_test_set
from tests.annotation.factories import World
from tests.evaluation.test_sets.test_labels import key, text_of, world  # noqa: F401
from tests.evaluation.test_sets.test_restore import empty_site

MARK = "<img src=x onerror=alert(1)>"
TEXTS = [
    "=1+1;=2\t@three", "\"quoted\" and 'once'", "two\nlines\r\nthree\rfour", "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg",
    "\u202eevil\u2066", "＝1", "| a | b \\| c |", "# no heading\n---\n- x: [y", MARK, "e\u0301 🦉", "x" * 500,
    "{subject} {object}", "a\ufeffb", "\\", "50% \\n \\t", "NA",
]  # fmt: skip


@pytest.fixture
def qrels(world: World, tmp_path: Path) -> Qrels:  # noqa: F811
    """Frozen labels with these texts as passages, comments, links and names, and in the terms."""
    for label, text in zip(Label.objects.order_by("pk"), TEXTS, strict=False):
        Label.objects.filter(pk=label.pk).update(passage=text, comment=text)
    triple = world.campaign.items.order_by("triple_id")[3].triple
    given = dict(zip(("head", "relation", "tail"), key(world, triple).split("\t"), strict=True)) | {"label": "Y"}
    told = [
        given | {"annotator": text[:150].strip(), "passage": text, "evidence": f"https://example.org/{text}"}
        for text in TEXTS
    ]
    (tmp_path / "more.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in told))
    assert import_labels(world.pool, tmp_path / "more.jsonl").imported == len(TEXTS)
    world.pool.seed_source = f"{MARK}\n# seeds |.tsv"
    world.pool.contributors = [MARK, "a | b"]
    world.pool.save()
    terms: dict[str, Any] = {"licence": f"other: {TEXTS[7]}", "creators": [Creator(f"=A\n# B {MARK}, C\u2028D")]}
    qrels = freeze_qrels(world.pool, "v1", citation=TEXTS[0], **terms)
    for text in TEXTS[1:]:
        edit_terms(qrels, text, citation=f"@misc{{x,\n  title={{{text}}}\n}}\n```\n# A\nB\n===")
    return qrels


def test_every_line_of_a_table_has_all_its_columns(qrels: Qrels, tmp_path: Path):
    for path in export_test_set(qrels, tmp_path / "out"):
        if ".tsv" in path.suffixes:
            columns = Counter(line.count("\t") for line in text_of(path).split("\n")[:-1])
            assert len(columns) == 1, (path.name, columns)
            # nor does a reader that takes other signs for the end of a line find more of them
            assert len(text_of(path).splitlines()) == columns.total(), path.name


def headings(tokens: list[Token]) -> list[str]:
    return [text.content for token, text in pairwise(tokens) if token.type == "heading_open"]


def test_the_card_has_its_own_headings_no_html_and_a_row_for_each_version(qrels: Qrels, tmp_path: Path):
    plain = freeze_qrels(qrels.pool, "v2")
    export_test_set(plain, tmp_path / "plain")
    export_test_set(qrels, tmp_path / "out")
    before, after = ((tmp_path / name / "README.md").read_text().split("---\n", 2)[2] for name in ("plain", "out"))
    assert "@misc{x,\n  title={NA}\n}\n" in after  # of several lines, as BibTeX has
    parsed, of_plain = (
        MarkdownIt("commonmark", {"html": True}).enable("table").parse(card) for card in (after, before)
    )
    assert [one for token in parsed for one in (token, *(token.children or ())) if one.type.startswith("html")] == []
    assert headings(parsed)[1:] == headings(of_plain)[1:]  # the first names the qrels
    inline = [token for token in parsed if token.type == "inline"]
    start = next(i for i, token in enumerate(inline) if token.content == "what changed") + 1
    rows = ["".join(part.content for part in token.children or ()) for token in inline[start : start + 3 * len(TEXTS)]]
    assert rows[::3] == [str(version) for version in range(1, len(TEXTS) + 1)]
    assert rows[2::3][5:8] == ["＝1", "| a | b \\| c |", "# no heading --- - x: [y"]


def test_all_of_it_comes_back(qrels: Qrels, settings, tmp_path: Path):
    def terms() -> list[dict[str, Any]]:
        return list(Terms.objects.filter(qrels__name="v1").order_by("version").values(*fields))

    fields = ("version", "licence", "citation", "creators", "changed")
    of_pool, of_terms = (qrels.pool.seed_source, qrels.pool.contributors), terms()
    export_test_set(qrels, tmp_path / "out")
    lines = map(json.loads, (tmp_path / "out/labels.jsonl").read_bytes().decode().split("\n")[:-1])
    told = [(line["label"], line.get("passage", ""), line["evidence"]) for line in lines]
    assert {passage for _, passage, _ in told} >= set(TEXTS)
    assert yaml.safe_load((tmp_path / "out/CITATION.cff").read_text())["message"] == of_terms[-1]["citation"]
    empty_site(settings, tmp_path)
    again = restore_test_set(tmp_path / "out")
    assert list(ImportedLabel.objects.order_by("line").values_list("answer", "passage", "source_url")) == told
    assert terms() == of_terms and (again.pool.seed_source, again.pool.contributors) == of_pool
    export_test_set(again, tmp_path / "again")
    for name in ("judgements.tsv", "questions.tsv", "pool.tsv", "trec/topics.tsv"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes(), name
