"""docs/tutorial.md: its commands, in order, on a small folder in exactly the layout of CoDEx's repository."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from pooling.graphs.bundled import FamilyOptions, family_tree

ROOT = Path(settings.BASE_DIR)
TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]


def write_codex(folder: Path, truth: Path) -> None:
    """Write drawn families as CoDEx has its graphs; `truth` is a label file of every true triple."""
    source = family_tree(FamilyOptions(families=2, people=30, seed=3))
    names = dict(source.labels.rows) if source.labels else {}
    ids = [f"Q{n}" if key in names else f"P{n}" for n, key in enumerate(source.keys, start=1)]
    entity = {key: number for key, number in zip(source.keys, ids, strict=True) if key in names}
    files = {f"triples/codex-s/{split.value}.txt": rows.rows for split, rows in source.splits.items()}
    for name, rows in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join("\t".join(ids[i] for i in row) + "\n" for row in rows.tolist()))
    (folder / "triples" / "codex-s" / "test_negatives.txt").write_text("Q1\tP1\tQ2\n")
    labels = {entity[key]: {"label": name, "description": "", "wiki": None} for key, name in names.items()}
    words = {of: {"label": key} for key, of in zip(source.keys, ids, strict=True) if key not in names}
    written = {
        "entities/en/entities.json": labels,
        "relations/en/relations.json": words,
        "types/entity2types.json": {"Q1": ["Q5"]},
    }
    for name, content in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    assert source.closed_world is not None
    truth.write_text("".join("\t".join([*(ids[i] for i in t), "Y"]) + "\n" for t in source.closed_world.tolist()))


@pytest.mark.slow
def test_commands_lead_from_the_folder_to_a_frozen_test_set(tmp_path: Path):
    (tmp_path / "site").mkdir()
    write_codex(tmp_path / "codex" / "data", tmp_path / "site" / "truth.tsv")
    env = os.environ | {"TRIPLEPOOL_VAR": str(tmp_path / "site" / "var"), "OMP_NUM_THREADS": "1"}

    def run(line: str) -> str:
        words = [sys.executable if word == "python" else word for word in shlex.split(line)]
        words = [str(ROOT / "manage.py") if word == "manage.py" else word for word in words]
        done = subprocess.run(words, cwd=tmp_path / "site", env=env, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    run("python manage.py migrate --verbosity 0")
    said = {line.split(" #")[0]: run(line) for line in LINES}
    assert "entities.json" in said[LINES[0]]
    test_set = tmp_path / "site" / "codex-s-completed"
    with (test_set / "judgements.tsv").open(encoding="utf-8", newline="") as file:
        settled = [row["settled"] for row in csv.DictReader(file, delimiter="\t")]
    assert settled.count("seed") == 5 and settled.count("agreed") > 5
    assert "CC-BY-4.0" in (test_set / "README.md").read_text(encoding="utf-8")


def test_every_block_is_run_or_marked_as_one_for_people():
    assert set(re.findall(r"^```(\w+)$", TEXT, re.M)) == {"sh", "console", "text"}
    assert len(LINES) == 14
