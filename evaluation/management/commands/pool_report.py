"""Count the triples of a pool by reason, category, depth and judgement, and the overlap of its systems."""

from collections.abc import Iterator
from typing import Any

from evaluation.overview.counts import pool_report
from pooling.management.pool_command import Options, PoolCommand
from pooling.models import Pool

TITLES = {
    "by_reason": "by reason",
    "left_out": "left out, without a filter",
    "by_category": "by relation category",
    "by_depth": "by smallest depth",
    "by_system": "by system",
    "only_by": "found by one system only",
}


class Command(PoolCommand):
    help = "Count the triples of a pool by reason, category, system and depth, and show how its systems overlap."

    def find(self, pool: Pool, options: Options) -> dict[str, Any]:
        return pool_report(pool)

    def lines(self, found: dict[str, Any], options: Options) -> Iterator[str]:
        for key in ("seeds", "pooled", "filtered", "to_people"):
            yield f"{key.replace('_', ' '):18}{found[key]:>9,}"
        yield f"{'pooling rule':18}{found['rule']:>9}"
        for key, title in TITLES.items():
            if found[key]:
                yield f"{title}:"
                yield from (f"  {name:16}{count:>9,}" for name, count in found[key].items())
        if found["families"]:
            yield "by family of systems, and found by no other family:"
            for name, family in found["families"].items():
                yield f"  {name:16}{family['found']:>9,}{family['only']:>9,}  {', '.join(family['systems'])}"
        yield "seeds and pooled triples by state:"
        for key in ("positive", "negative", "assumed_negative", "unjudged"):
            yield f"  {key.replace('_', ' '):16}{found[key]:>9,}"
        if overlap := found["overlap"]:
            yield "triples that two systems both found:"
            yield " " * 14 + "".join(f"{name[:9]:>10}" for name in overlap)
            for name, row in overlap.items():
                yield f"  {name:12}" + "".join(f"{row[other]:>10,}" for other in overlap)
