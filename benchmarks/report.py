"""What the training and ranking benchmarks share: the graph, and their sections of docs/benchmarks.md."""

from __future__ import annotations

import gzip
import os
import platform
import re
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"


def fb15k237() -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
    """Train, valid, test int32[n, 3] of FB15k-237 and the numbers of entities and relations."""
    folder = Path(os.environ.get("TRIPLEPOOL_DATA", ROOT / "../shared/data")) / "fb15k-237"
    entities: dict[str, int] = {}
    relations: dict[str, int] = {}
    splits = []
    for split in ("train", "valid", "test"):
        with gzip.open(folder / f"{split}.tsv.gz", "rt", encoding="utf-8") as file:
            rows = (line.rstrip("\n").split("\t") for line in file)
            ids = [
                (
                    entities.setdefault(head, len(entities)),
                    relations.setdefault(relation, len(relations)),
                    entities.setdefault(tail, len(entities)),
                )
                for head, relation, tail in rows
            ]
        splits.append(np.array(ids, np.int32))
    return splits[0], splits[1], splits[2], len(entities), len(relations)


def write_section(name: str, title: str, intro: str, table: list[str]) -> None:
    """Put a section between its markers in docs/benchmarks.md, or at its end; written aside, then renamed."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    machine = f"{platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}"
    section = "\n".join([begin, f"## {title}", "", f"{intro} Machine: {machine}.", "", *table, end])
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Benchmarks\n"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if pattern.search(text):
        text = pattern.sub(lambda _: section, text)
    else:
        text = f"{text.rstrip()}\n\n{section}\n"
    PAGE.parent.mkdir(exist_ok=True)
    aside = PAGE.with_suffix(f".{os.getpid()}")
    aside.write_text(text, encoding="utf-8")
    aside.replace(PAGE)
