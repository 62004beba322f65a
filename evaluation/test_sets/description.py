"""Describe a test set for programs (test_set.json): names, pool and systems, so that import_test_set takes it back."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UserError
from core.files.reason import reason
from evaluation.labels.pool_table import EvaluationError
from evaluation.labels.terms import LONGEST, Creator, checked_terms
from evaluation.models import Qrels, Terms
from evaluation.test_sets.archive import NAME
from evaluation.test_sets.labels import LabelFigures
from pooling.enums import PoolRule
from pooling.models import System
from pooling.training.train import family_of

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


def read_description(folder: Path, called: str) -> Described:
    """Read test_set.json of a folder; EvaluationError, which calls it `called`, if it is missing or another thing."""
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
        _check_kinds(pool, systems)
        LabelFigures.of_stored(pool["labels"])
        return Described(
            **texts,
            created_at=datetime.fromisoformat(told["created_at"]),
            terms=[_terms(of) for of in told["terms"]],
            pool=pool,
            systems=systems,
            left_out=list(told["left_out"]),
        )
    except FileNotFoundError:
        raise EvaluationError(
            f"{called} has no {NAME}: give a folder or zip file that export_test_set of this version wrote, or a "
            "graph and a file of judgements. Nothing was imported."
        ) from None
    except EvaluationError:
        raise
    except (OSError, RecursionError, ValueError, KeyError, TypeError, AttributeError, UserError) as error:
        raise EvaluationError(
            f"{NAME} cannot be read ({reason(error)}): export it again. Nothing was imported."
        ) from error


def _check_kinds(pool: dict[str, Any], systems: list[dict[str, Any]]) -> None:
    """Raise ValueError or KeyError where a value is of another kind than export_test_set writes."""
    lists = {
        "filters": pool["filters"],
        "contributors": pool["contributors"],
        "systems": [of["name"] for of in systems],
    }
    lists |= {key: [of.get(key, "") for of in systems] for key in ("kind", "family")}
    for name, of in {**lists, "seed_source": [pool["seed_source"]]}.items():
        if not isinstance(of, list) or not all(isinstance(one, str) for one in of):
            raise ValueError(f"{name} is not what export_test_set writes")
    numbers = [pool["depth"], *(of.get("seed") or 0 for of in systems)]
    if not all(isinstance(one, int) and 0 <= one < 1 << 31 for one in numbers):
        raise ValueError("a depth or seed is not a whole number from 0")


def _terms(told: dict[str, Any]) -> dict[str, Any]:
    """Return a version of the terms; an error where a field is nothing that terms can have."""
    checked_terms(
        {
            "citation": told["citation"] + "",
            "url": told["url"] + "",
            "creators": [Creator(of["name"], of["orcid"]) for of in told["creators"]],
        }
    )
    for name in ("licence", "changed"):  # a licence may be from a time when any text was one
        if len(told[name] + "") > LONGEST[name]:
            raise ValueError(f"the {name} is too long")
    creators = [{"name": of["name"], "orcid": of["orcid"]} for of in told["creators"]]
    created_at = datetime.fromisoformat(told["created_at"])
    return {name: told[name] for name in TERMS} | {
        "version": int(told["version"]),
        "creators": creators,
        "created_at": created_at,
    }
