"""Write the front matter of a test set's card, by which Hugging Face shows it and `datasets` loads it."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from evaluation.labels.licences import hugging_face
from evaluation.test_sets.columns import Table

_SPLITS = {"train.tsv": "train", "valid.tsv": "validation", "test.tsv": "test", "known_test.tsv": "known_test"}
# the same rows as the splits; and `datasets` reads all files of a folder as the first: with a csv reader
_LEFT_OUT = ("triples.tsv.gz", "labels.jsonl")
_TYPES = {str: "string", int: "int64", float: "float64"}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"),
          (10_000_000, "1M<n<10M"))  # fmt: skip


def front_matter(title: str, licence: str, num_triples: int, tables: Sequence[Table]) -> Iterator[str]:
    """Yield YAML between two lines of dashes: licence, tags, and a configuration for each table."""
    splits = [table for table in tables if table.name in _SPLITS]
    named = {"triples": splits} if splits else {}
    named |= {table.stem: [table] for table in tables if table.name not in (*_SPLITS, *_LEFT_OUT)}
    header = {
        "pretty_name": title,
        **hugging_face(licence),
        "task_categories": ["graph-ml"],
        "tags": ["knowledge-graph-completion", "link-prediction", "test-collection", "trec"],
        "size_categories": [next((words for most, words in _SIZES if num_triples < most), "10M<n<100M")],
    }
    yield "---"
    for key, value in header.items():
        yield f"{key}: {_in_a_line(value)}"
    yield "configs:"  # a line each, or nobody finds the heading of the card
    yield from (f"- {_in_a_line(_config(name, of))}" for name, of in named.items())
    yield from ("---", "")


def _in_a_line(value: Any) -> str:
    text = yaml.safe_dump([value], sort_keys=False, allow_unicode=True, default_flow_style=True, width=math.inf)
    return str(text).strip()[1:-1]


def _config(name: str, tables: Sequence[Table]) -> dict[str, Any]:
    """Return a configuration; cells are read as they are: no quotes, NA and 007 are names like others."""
    features = [{"name": column, "dtype": _TYPES[kind]} for column, kind in tables[0].columns.items()]
    files = [{"split": _SPLITS.get(table.name, "test"), "path": table.name} for table in tables]
    config: dict[str, Any] = {"config_name": name, "data_files": files, "features": features}
    if name == "triples":
        config["default"] = True
    config |= {"sep": "\t", "quoting": 3, "keep_default_na": False}
    if float in tables[0].columns.values():
        config["na_values"] = [""]  # where a measure is undefined
    return config if tables[0].has_header else config | {"names": list(tables[0].columns)}
