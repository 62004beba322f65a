"""Write and read the files of a graph in ARTIFACT_ROOT/graphs/<name>; the same graph gives the same bytes."""

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.callbacks import TellStage
from core.files.artifacts import ArtifactError, artifact_path, check_sha256, sha256_of
from core.files.parquet import numbers, read_parquet
from pooling.graphs.checks import CheckedGraph
from pooling.graphs.entity_texts import EntityTexts, texts_table
from pooling.graphs.kernels.graph_arrays import GraphArrays, Ids
from pooling.questions.templates import TemplateText

INDEX = "graph.json"
ENTITY_TEXTS = "entity_texts.parquet"  # only where the source had some
TEMPLATE_COLUMNS = "relation\tstatement\ttail question\thead question"


@contextmanager
def new_folder() -> Iterator[Path]:
    """Make a temporary folder beside the graphs; it is deleted at the end unless it was renamed."""
    aside = artifact_path("graphs") / f".{uuid.uuid4().hex}.part"
    try:
        aside.mkdir(parents=True)
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_graph(
    folder: Path, graph: CheckedGraph, description: dict[str, Any], progress: TellStage | None = None
) -> str:
    """Write all files of `graph` and return the SHA-256 of graph.json, which holds those of the others."""
    arrays = graph.arrays
    entity_table: dict[str, pa.Array] = {
        "id": pa.array(range(arrays.num_entities), pa.int32()),
        "key": pa.array(arrays.entities, pa.string()),
        "label": pa.array(arrays.labels, pa.string()),
        "types": pa.array(arrays.types, pa.list_(pa.string())),
    }
    relation_table: dict[str, pa.Array] = {
        "id": pa.array(range(arrays.num_relations), pa.int32()),
        "key": pa.array(arrays.relations, pa.string()),
        "category": pa.array(arrays.categories, pa.string()),
        "domain": pa.array(arrays.domains, pa.string()),
        "range": pa.array(arrays.ranges, pa.string()),
    }
    if any(arrays.relation_labels):
        relation_table["label"] = pa.array(arrays.relation_labels, pa.string())
    writers: dict[str, Callable[[Path], None]] = {
        "entities.parquet": lambda path: pq.write_table(pa.table(entity_table), path),
        "relations.parquet": lambda path: pq.write_table(pa.table(relation_table), path),
        "triples.npz": lambda path: np.savez(path, train=arrays.train, valid=arrays.valid, test=arrays.test),
    }
    world, templates = graph.closed_world, graph.templates
    if world is not None:
        writers["closed_world.npz"] = lambda path: np.savez(path, triples=world)
    if templates:
        writers["relation_templates.tsv"] = lambda path: _write_templates(path, arrays.relations, templates)
    if len(graph.texts):
        writers[ENTITY_TEXTS] = lambda path: pq.write_table(graph.texts, path)
    checksums = {}
    for done, (name, write) in enumerate(writers.items(), 1):
        write(folder / name)
        _to_disk(folder / name)
        checksums[name] = sha256_of(folder / name)
        if progress:
            progress("write files", done, len(writers))
    index = {**description, "files": checksums}
    if graph.link_pattern:
        index["link_pattern"] = graph.link_pattern
    text = json.dumps(index, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / INDEX).write_text(text, encoding="utf-8")
    _to_disk(folder / INDEX)
    return sha256_of(folder / INDEX)


def _to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _write_templates(path: Path, relations: list[str], templates: dict[int, TemplateText]) -> None:
    lines = [TEMPLATE_COLUMNS, *("\t".join((relations[i], *texts)) for i, texts in sorted(templates.items()))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def read_index(folder: Path, sha256: str) -> dict[str, Any]:
    """Return graph.json, checked against `sha256`, which the graph's row holds."""
    check_sha256(folder / INDEX, sha256)
    index: dict[str, Any] = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    return index


def checked_file(folder: Path, index: dict[str, Any], name: str) -> Path:
    """Return the path of a file that graph.json lists, after checking its checksum."""
    path = folder / name
    if name not in index["files"]:
        raise ArtifactError(f"{folder / INDEX} lists no {name}: import the graph again.")
    check_sha256(path, index["files"][name])
    return path


def read_graph(folder: Path, sha256: str) -> GraphArrays:
    """Read all arrays and names of a graph; ArtifactError if a file is missing or changed."""
    index = read_index(folder, sha256)
    entities = read_parquet(checked_file(folder, index, "entities.parquet"))
    relations = read_parquet(checked_file(folder, index, "relations.parquet"))
    with np.load(checked_file(folder, index, "triples.npz")) as triples:
        return GraphArrays(
            entities=_strings(entities, "key"),
            labels=_strings(entities, "label"),
            types=[tuple(types or ()) for types in entities["types"].to_pylist()],
            relations=_strings(relations, "key"),
            categories=_strings(relations, "category"),
            domains=_strings(relations, "domain"),
            ranges=_strings(relations, "range"),
            train=triples["train"],
            valid=triples["valid"],
            test=triples["test"],
            relation_labels=_strings(relations, "label") if "label" in relations.column_names else [],
        )


def _strings(table: pa.Table, column: str) -> list[str]:
    return cast("list[str]", table[column].to_pylist())


def read_entity_texts(folder: Path, sha256: str, keys: list[str]) -> EntityTexts:
    """Read descriptions, aliases and links of entities; none of a graph that was imported without them."""
    index = read_index(folder, sha256)
    table = texts_table((), (), ())
    if ENTITY_TEXTS in index["files"]:
        table = read_parquet(checked_file(folder, index, ENTITY_TEXTS))
    return EntityTexts(keys, numbers(table["id"]), table, index.get("link_pattern", ""))


def read_closed_world(folder: Path, sha256: str) -> Ids:
    """Read all true triples int32[n, 3], read-only."""
    with np.load(checked_file(folder, read_index(folder, sha256), "closed_world.npz")) as file:
        triples: Ids = file["triples"]
    triples.setflags(write=False)
    return triples


def read_templates(folder: Path, sha256: str) -> dict[str, TemplateText]:
    """Return the texts of each relation key; empty where the graph came without templates."""
    index = read_index(folder, sha256)
    if "relation_templates.tsv" not in index["files"]:
        return {}
    text = checked_file(folder, index, "relation_templates.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.split("\n")[1:-1]]
    return {relation: TemplateText(*texts) for relation, *texts in rows}
