"""Count the triples of a pool by reason and category, by system and family, and their overlap."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db.models import Count

from pooling.models import Pool, System
from pooling.pools.kernels.gathering import Overlap, overlap
from pooling.pools.rows import read_rows
from pooling.systems import family_of_kind
from pooling.systems.spec import FAMILIES
from pooling.training.train import family_of

NO_FAMILY = "not known"
Findings = tuple[np.ndarray, np.ndarray]


def pool_counts(pool: Pool) -> dict[str, Any]:
    """Count what needs no labels: seeds, pooled, filtered, to people, by reason, by relation category."""
    by_reason = {row["reason"]: row["n"] for row in pool.triples.order_by().values("reason").annotate(n=Count("id"))}
    category = dict(pool.graph.relations.values_list("index", "category"))
    by_category: dict[str, int] = {}
    for row in pool.triples.order_by().values("relation").annotate(n=Count("id")):
        key = category[row["relation"]] or "not in train"
        by_category[key] = by_category.get(key, 0) + row["n"]
    to_people = by_reason.pop("", 0)
    filtered = sum(by_reason.values())
    return {
        "seeds": pool.seeds.count(),
        "pooled": to_people + filtered,
        "filtered": filtered,
        "to_people": to_people,
        "by_reason": dict(sorted(by_reason.items())),
        "by_category": dict(sorted(by_category.items())),
    }


def contents_version(pool: Pool) -> str:
    """Return a text that changes when triples, seeds or findings are added, or other filters are chosen."""
    held = pool.triples.order_by("-id").values_list("id", "pool__growth", "pool__filters").first()
    return hashlib.sha256(str(held).encode()).hexdigest()[:16]


def pool_overlap(pool: Pool, findings: Findings | None = None) -> Overlap:
    """Count the pooled triples that each two contributors both found, and each alone, from the provenance."""
    return overlap(*(findings or _findings(pool)), len(pool.contributors))


def overlap_report(pool: Pool) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return one row a contributor (name, found, only, shared with each), and the families that found any triple.

    Both are empty if no finding is known.
    """
    findings = _findings(pool)
    shared, only = pool_overlap(pool, findings)
    if not shared.any():
        return [], {}
    rows = [
        {"name": name, "found": int(shared[i, i]), "only": int(only[i]), "shared": shared[i].tolist()}
        for i, name in enumerate(pool.contributors)
    ]
    families = pool_families(pool, findings)
    return rows, {family: of for family, of in families.items() if of["found"]}


def pool_families(pool: Pool, findings: Findings | None = None) -> dict[str, dict[str, Any]]:
    """Return by family its systems, the triples they found, and those that no other family found.

    Systems of one family tend to miss the same answers. The family of an outside contributor may be unknown.
    """
    own = families_named(pool, pool.contributors)
    families = [name for name in (*FAMILIES, NO_FAMILY) if name in own]
    if not families:
        return {}
    systems, indptr = findings or _findings(pool)
    number = np.array([families.index(family) for family in own])
    shared, only = overlap(number[systems], indptr, len(families))
    return {
        family: {
            "systems": [name for name, of in zip(pool.contributors, own, strict=True) if of == family],
            "found": int(shared[i, i]),
            "only": int(only[i]),
        }
        for i, family in enumerate(families)
    }


def families_named(pool: Pool, names: Sequence[str]) -> list[str]:
    """Return the family of each of these contributors or systems; NO_FAMILY if not known."""
    of_graph = System.objects.filter(graph=pool.graph_id).only("name", "kind", "settings")
    there = {system.name: family_of(system) for system in of_graph}
    return [there.get(name, family_of_kind(name)) or NO_FAMILY for name in names]


def _findings(pool: Pool) -> Findings:
    """Return the contributor of each finding, int[f], and where the findings of each triple begin, int[n + 1]."""
    _, gathered, _ = read_rows(pool)
    return gathered.findings["system"], gathered.indptr
