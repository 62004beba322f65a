"""Whatever text, table or JSON an importer is given, it takes it or says in words why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.judging.label_import import import_labels
from annotation.quality.checks import gold_from_file
from annotation.questions.templates import read_templates
from core.errors import UserError
from evaluation.keeping.restore import read_manifest
from evaluation.labels.import_qrels import import_qrels
from evaluation.test_sets.imports import import_test_set
from evaluation.test_sets.restore import restore_test_set
from pooling.graphs.imports import import_graph
from pooling.layouts.recognise import read_layout
from pooling.pools.build import import_pool
from pooling.runs.imports import import_run
from tests.pages.conftest import _no_cache_between_tests, world

__all__ = ["_no_cache_between_tests", "world"]
EXAMPLES = 50
NAMES = ("p0", "p1", "p4", "p5", "knows", "lives in", "tail:p0:knows", "head:p4:knows", "Q0", "0")
ODD = ("", " ", "1_000", "-1", "1e999", "nan", "٣", "²", "Y", "N", "?", "2", "{subject}", "{", "\0", "\ufeff", "\u2028")
word = st.one_of(st.sampled_from(NAMES), st.sampled_from(ODD), st.text(max_size=8))
TRIPLES = ["p0\tknows\tp3\t", "p0\tknows\tp4\t", "tail:p0:knows 0 p4 ", "tail:p0:knows Q0 p4 1 "]
line = st.one_of(
    st.builds(lambda words, gap: gap.join(words), st.lists(word, max_size=8), st.sampled_from("\t ,;|")),
    st.builds(lambda start, words: start + "\t".join(words), st.sampled_from(TRIPLES), st.lists(word, max_size=5)),
)
text = st.builds(
    lambda lines, end, code: end.join(lines).encode(code, "replace"),
    st.lists(line, max_size=6),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
)
KEYS = (
    *("head", "relation", "tail", "label", "annotator", "evidence", "at", "passage", "cause", "side"),
    *("question_version", "topk_score_info", "rank", "entity", "entity_id", "format", "members", "tables"),
)
value = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), word, st.just("\ud800"), st.just('{"p4": 1}')),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=8)),
    max_leaves=12,
)
some_json = st.builds(
    lambda values, gap: gap.join(map(json.dumps, values)).encode(), st.lists(value, max_size=3), st.sampled_from("\n ")
)
content = st.one_of(text, some_json, st.binary(max_size=60))
Import = Callable[[dict[str, Any], Path], object]


def _layout(world: dict[str, Any], path: Path) -> object:
    return import_graph("new", read_layout(path).source_data(), options={})


def _pool(world: dict[str, Any], path: Path) -> object:
    seeds = path.with_name("good-seeds.tsv")
    seeds.write_bytes(b"p0\tknows\tp3\n")
    return import_pool(world["graph"], name="outside", file=path, seeds_file=seeds, filters=["types"])


def _seeds(world: dict[str, Any], path: Path) -> object:
    pool = path.with_name("good-pool.tsv")
    pool.write_bytes(b"p0\tknows\tp4\t1\n")
    return import_pool(world["graph"], name="outside", file=pool, seeds_file=path, filters=["types"])


def _topics(world: dict[str, Any], path: Path) -> object:
    run = path.with_name("good-run.txt")
    run.write_bytes(b"tail:p0:knows Q0 p4 1 9.5 mine\n")
    return import_run(world["graph"], run, name="mine", topics_file=path)


def _qrels(form: str, threshold: int | None = None) -> Import:
    def send(world: dict[str, Any], path: Path) -> object:
        return import_qrels(world["pool"], "new", path.read_bytes(), path.name, form, threshold=threshold)

    return send


def _backup(world: dict[str, Any], path: Path) -> object:
    return read_manifest(path, lambda stage, done, total: None)


# name of the importer, and of the file -> how it is imported
IMPORTERS: dict[tuple[str, str], Import] = {
    ("seeds", "x.tsv"): _seeds,
    ("pools", "x.tsv"): _pool,
    ("labels", "x.tsv"): lambda world, path: import_labels(world["pool"], path),
    ("labels", "x.jsonl"): lambda world, path: import_labels(world["pool"], path),
    ("gold", "x.tsv"): lambda world, path: gold_from_file(world["campaign"], path),
    ("gold", "x.jsonl"): lambda world, path: gold_from_file(world["campaign"], path),
    ("templates", "x.tsv"): lambda world, path: read_templates(world["graph"], path.read_bytes(), path.name),
    ("qrels", "x.tsv"): _qrels("tsv"),
    ("qrels-trec", "x.txt"): _qrels("trec"),
    ("qrels-graded", "x.tsv"): _qrels("tsv", 2),
    ("test-sets", "x.tsv"): lambda world, path: import_test_set(
        world["graph"], path.read_bytes(), path.name, name="outside"
    ),
    ("archives", "x.zip"): lambda world, path: restore_test_set(path),
    ("runs", "x.txt"): lambda world, path: import_run(world["graph"], path, name="mine"),
    ("runs", "x.csv"): lambda world, path: import_run(world["graph"], path, name="mine", form="pykeen"),
    ("runs", "x.json"): lambda world, path: import_run(world["graph"], path, name="mine", form="simkgc"),
    ("runs", "x.yaml"): lambda world, path: import_run(world["graph"], path, name="mine", form="libkge"),
    ("runs", "x.npz"): lambda world, path: import_run(world["graph"], path, name="mine", form="numpy"),
    ("runs", "x.parquet"): lambda world, path: import_run(world["graph"], path, name="mine", form="parquet"),
    ("topics", "x.tsv"): _topics,
    ("graphs", "graph.tsv"): _layout,
    ("graphs", "graph.csv"): _layout,
    ("graphs", "graph.nt"): _layout,
    ("graphs", "graph.ttl"): _layout,
    ("graphs", "graph.sif"): _layout,
    ("backups", "x.tar"): _backup,
}  # fmt: skip


@pytest.mark.parametrize(("importer", "name"), IMPORTERS)
def test_importer_takes_anything_or_refuses_it_in_words(
    world: dict[str, Any], tmp_path: Path, importer: str, name: str
):
    path = tmp_path / name

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None)
    @given(content=content)
    def send(content: bytes) -> None:
        path.write_bytes(content)
        with transaction.atomic():
            try:
                IMPORTERS[importer, name](world, path)
            except UserError as error:
                assert str(error).strip() and "Traceback" not in str(error)
                str(error).encode()  # it can be shown
            transaction.set_rollback(True)

    send()
