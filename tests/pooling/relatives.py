"""A graph with one rule that is easy to see, and a system that has mined it."""

from __future__ import annotations

from pathlib import Path

from core.jobs.execution import execute
from pooling.enums import PoolingJob
from pooling.graphs.imports import import_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph, System
from pooling.training.train import create_systems
from tests.factories import make_job


def make_relatives(folder: Path) -> Graph:
    """Seven brothers of parents; five of them are known as uncles, two are to be found."""
    folder.mkdir()
    uncles = [(f"b{i}", "uncleOf", f"c{i}") for i in range(7)]
    train = [(f"b{i}", "brotherOf", f"p{i}") for i in range(7)] + [(f"p{i}", "parentOf", f"c{i}") for i in range(7)]
    for split, rows in {"train": train + uncles[:5], "valid": uncles[5:6], "test": uncles[6:]}.items():
        (folder / f"{split}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (folder / "relation_templates.tsv").write_text(
        "parentOf\tIs {subject} mum or dad of {object}?\t"
        "Whose mum or dad is {subject}?\tWho is mum or dad of {object}?\n"
    )
    return import_graph("relatives", read_tsv(folder), options={})


# of each kind of system with rules, for so small a graph
SETTINGS = {
    "rules": {"min_confidence": "0.3"},
    "plogicnet": {"rule_threshold": "0.5", "epochs": "3", "embedding_dim": "8"},
    "rnnlogic": {"min_confidence": "0.3", "proposals": "5", "generator_dim": "4", "hidden_dim": "4"},
    "rnnlogic-plus": {"min_confidence": "0.3", "proposals": "5", "generator_dim": "4", "hidden_dim": "4"},
}


def mine_relatives(folder: Path, kind: str = "rules") -> System:
    """The rules of the relatives, mined by a job; needs a transactional database."""
    (system,) = create_systems(make_relatives(folder), [kind], SETTINGS[kind])
    job = make_job(PoolingJob.TRAIN, system=system)
    assert execute(job.pk, "w") is True
    job.refresh_from_db()
    assert (job.state, job.error) == ("done", "")
    system.refresh_from_db()
    return system
