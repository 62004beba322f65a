"""What other programs read of an exported test set: Hugging Face's datasets by the card, mlcroissant."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from evaluation.labels.qrels import freeze_qrels
from evaluation.labels.terms import Creator
from evaluation.measures.registry import USUAL_NAMES
from evaluation.test_sets.columns import INTEGERS
from evaluation.test_sets.export import export_test_set
from pooling.models import Pool

TRIPLE = ["head", "relation", "tail"]
SPLITS = {"train": "train.tsv", "validation": "valid.tsv", "test": "test.tsv", "known_test": "known_test.tsv"}
TABLES = {
    "seeds": "seeds.tsv", "entity_labels": "entity_labels.tsv", "judgements": "judgements.tsv", "pool": "pool.tsv",
    "topics": "trec/topics.tsv", "measures": "measures.tsv", "per_question": "per_question.tsv.gz",
}  # fmt: skip
NAMED = {"seeds": TRIPLE, "entity_labels": ["entity", "label"], "pool": [*TRIPLE, "depth", "found"]}
FLOATS = {"value", *USUAL_NAMES}


@pytest.fixture
def folder(labelled: Pool, tmp_path: Path) -> Path:
    export_test_set(freeze_qrels(labelled, "v1", licence="CC-BY-4.0"), tmp_path / "out")
    return tmp_path / "out"


def front_matter(folder: Path) -> dict[str, Any]:
    text = (folder / "README.md").read_text()
    assert text.startswith("---\n")
    return yaml.safe_load(text.split("---\n")[1])


def test_a_person_sees_the_heading_soon(folder: Path):
    lines = (folder / "README.md").read_text().splitlines()
    header = front_matter(folder)
    assert lines.index("# Test set p, qrels v1") < 10 + len(header["configs"])


def test_the_card_names_systems_as_pages_do_and_as_files_do(folder: Path):
    lines = (folder / "README.md").read_text().splitlines()
    named = [line.split(" | ")[0] for line in lines if line.startswith("| ") and "(`" in line]
    assert named == ["| TransE (`transe`)", "| DistMult (`distmult`)", "| ComplEx (`complex`)"]


def lines_of(file: Path, columns: list[str] | None = None) -> list[dict[str, str]]:
    """The rows of a file by its header, or by these columns, with no quotes."""
    text = gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text()
    rows = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = columns or next(rows)
    return [dict(zip(header, row, strict=True)) for row in rows]


def loaded(folder: Path, *config: str) -> Any:
    from datasets import load_dataset

    return load_dataset(str(folder), *config, cache_dir=str(folder.parent / "cache"))


def as_number(column: str, cell: str) -> str | int | float | None:
    if column in FLOATS:
        return float(cell) if cell else None
    return int(cell) if column in INTEGERS else cell


def test_hugging_face_loads_the_triples_when_no_configuration_is_named(folder: Path):
    found = loaded(folder)
    assert set(found) == set(SPLITS)
    for split, file in SPLITS.items():
        assert found[split].column_names == TRIPLE
        assert found[split].to_list() == lines_of(folder / file, TRIPLE), split


def test_hugging_face_loads_each_table_cell_by_cell(folder: Path):
    assert [one["config_name"] for one in front_matter(folder)["configs"]] == ["triples", *TABLES]
    for config, file in TABLES.items():
        rows = loaded(folder, config)["test"].to_list()
        expected = lines_of(folder / file, NAMED.get(config))
        assert len(expected) > 0
        assert rows == [{name: as_number(name, cell) for name, cell in row.items()} for row in expected], config


def test_names_that_look_like_nothing_or_numbers_stay_names(folder: Path):
    for file in SPLITS.values():
        (folder / file).write_text('NA\t007\t"quoted\nnull\t1e5\t50%\n')
    for rows in loaded(folder).values():
        assert rows.to_list() == [
            {"head": "NA", "relation": "007", "tail": '"quoted'},
            {"head": "null", "relation": "1e5", "tail": "50%"},
        ]


def test_the_card_names_the_licence_in_the_words_of_hugging_face(labelled: Pool, folder: Path, tmp_path: Path):
    header = front_matter(folder)
    assert (header["pretty_name"], header["license"]) == ("Test set p, qrels v1", "cc-by-4.0")
    export_test_set(freeze_qrels(labelled, "v2"), tmp_path / "plain")
    assert front_matter(tmp_path / "plain")["license"] == "unknown"


def test_what_a_person_wrote_in_the_terms_is_no_html_of_the_card(labelled: Pool, tmp_path: Path):
    """Whoever shows the card may let HTML through, as Markdown does."""
    mark = "<img src=x onerror=alert(1)>"
    terms = {
        "licence": f"other: {mark}",
        "citation": f"@misc{{x, title={{{mark}}}}}",
        "creators": [Creator(f"{mark}, Ada")],
    }
    export_test_set(freeze_qrels(labelled, "v2", url="https://example.org/><svg>", **terms), tmp_path / "html")
    card = (tmp_path / "html" / "README.md").read_text().split("---\n", 2)[2]
    tokens = [
        inner for token in MarkdownIt("commonmark", {"html": True}).parse(card) for inner in token.children or [token]
    ]
    assert [token.content for token in tokens if token.type.startswith("html")] == []
    assert "alert(1)" in card and "https://example.org/%3E%3Csvg%3E" in card


def test_croissant_has_a_record_set_of_the_triples(folder: Path):
    import mlcroissant

    data = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    found = [
        tuple(record[f"triples/{column}"].decode() for column in ("split", *TRIPLE))
        for record in data.records("triples")
    ]
    names = {"train": "train.tsv", "valid": "valid.tsv", "test": "test.tsv", "known_test": "known_test.tsv"}
    assert found == [(split, *row.values()) for split, file in names.items() for row in lines_of(folder / file, TRIPLE)]


def test_a_table_without_a_row_is_in_neither(folder: Path):
    described = json.loads((folder / "croissant.json").read_text())
    assert (folder / "labels.jsonl").read_bytes() == b""  # nobody has labelled here
    assert "labels" not in [one["@id"] for one in described["recordSet"]]
    assert "labels" not in [one["config_name"] for one in front_matter(folder)["configs"]]
