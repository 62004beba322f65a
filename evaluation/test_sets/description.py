"""Describe a test set for programs (test_set.json): names, pool and systems, so that import_test_set takes it back."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.labels.pool_table import EvaluationError
from evaluation.models import Qrels, Terms
from evaluation.test_sets.labels import LabelFigures
from pooling.enums import PoolRule
from pooling.models import System
from pooling.training.train import family_of

NAME = "test_set.json"
FORMAT = 1
TERMS = ("version", "licence", "citation", "creators", "url", "changed", "created_at")


class Described(NamedTuple):
    """Hold what test_set.json says. `pool` is what frozen qrels know of it; `systems` name, kind, seed and family."""

    graph: str
    name: str  # of the pool
    qrels: str
    created_at: datetime
    terms: list[dict[str, Any]]  # versions of licence, citation, creators and address, oldest first
    pool: dict[str, Any]
    systems: list[dict[str, Any]]
    left_out: list[str]


def description_lines(
    qrels: Qrels, terms: Terms, about: dict[str, Any], systems: list[str], left_out: list[str]
) -> Iterator[str]:
    """Yield the lines of test_set.json; `about` is the pool as it was when the qrels were frozen.

    It has the terms up to the version of `terms`.
    """
    versions = qrels.terms.filter(version__lte=terms.version).order_by("version").values(*TERMS)
    found = {system.name: system for system in System.objects.filter(graph=qrels.pool.graph_id, name__in=systems)}
    told = {
        "format": FORMAT,
        "graph": qrels.pool.graph.name,
        "name": qrels.pool.name,
        "qrels": qrels.name,
        "created_at": qrels.created_at.isoformat(),
        "terms": [{**of, "created_at": of["created_at"].isoformat()} for of in versions],
        "pool": about,
        "systems": [
            {"name": name, "kind": of.kind, "seed": of.seed, "family": family_of(of)}
            for name in systems
            if (of := found[name])
        ],
        "left_out": left_out,
    }
    yield from json.dumps(told, indent=1, ensure_ascii=False, sort_keys=True).split("\n")


def read_description(folder: Path) -> Described:
    """Read test_set.json of a folder; EvaluationError if it is missing or another thing."""
    path = folder / NAME
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise EvaluationError(
                f"{NAME} is of format {told['format']!r}, which this version does not know: import it with the version "
                "that wrote it, or a later one. Nothing was imported."
            )
        texts = {key: str(told[key]) for key in ("graph", "name", "qrels")}
        pool, systems = dict(told["pool"]), [dict(of) for of in told["systems"]]
        PoolRule(pool["rule"])
        wanted = [pool["depth"] + 0, pool["seed_source"] + "", [*pool["filters"]], [of["name"] + "" for of in systems]]
        assert wanted and isinstance(pool["contributors"], list)
        LabelFigures.of_stored(pool["labels"])
        return Described(
            **texts,
            created_at=datetime.fromisoformat(told["created_at"]),
            terms=[
                {name: of[name] for name in TERMS} | {"created_at": datetime.fromisoformat(of["created_at"])}
                for of in told["terms"]
            ],
            pool=pool,
            systems=systems,
            left_out=list(told["left_out"]),
        )
    except FileNotFoundError:
        raise EvaluationError(
            f"{folder.name} has no {NAME}: give a folder or zip file that export_test_set of this version wrote, or a "
            "graph and a file of judgements. Nothing was imported."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        raise EvaluationError(f"{NAME} cannot be read ({error}): export it again. Nothing was imported.") from error
