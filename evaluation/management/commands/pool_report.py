"""Counts of a pool: reasons, categories, depths, judgements, overlap of its systems."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from evaluation.overview.pool_report import pool_report
from pooling.pools.build import get_pool


class Command(BaseCommand):
    help = "What a pool holds: by reason, category, system and depth; how its systems overlap."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            report = pool_report(get_pool(options["pool"]))
        if options["json"]:
            self.stdout.write(json.dumps(report))
            return
        for key in ("seeds", "pooled", "filtered", "to_people"):
            self.stdout.write(f"{key.replace('_', ' '):18}{report[key]:>9,}")
        for title, key in (
            ("by reason", "by_reason"),
            ("left out, without a filter", "left_out"),
            ("by relation category", "by_category"),
            ("by smallest depth", "by_depth"),
            ("by system", "by_system"),
            ("found by one system only", "only_by"),
        ):
            if report[key]:
                self.stdout.write(f"{title}:")
                for name, count in report[key].items():
                    self.stdout.write(f"  {name:16}{count:>9,}")
        if report["families"]:
            self.stdout.write("by family of systems, and found by no other family:")
            for name, family in report["families"].items():
                self.stdout.write(
                    f"  {name:16}{family['found']:>9,}{family['only']:>9,}  {', '.join(family['systems'])}"
                )
        self.stdout.write("seeds and pooled triples by state:")
        for key in ("positive", "negative", "assumed_negative", "unjudged"):
            self.stdout.write(f"  {key.replace('_', ' '):16}{report[key]:>9,}")
        if report["overlap"]:
            names = list(report["overlap"])
            self.stdout.write("triples that two systems both found:")
            self.stdout.write(" " * 14 + "".join(f"{name[:9]:>10}" for name in names))
            for name in names:
                cells = "".join(f"{report['overlap'][name][other]:>10,}" for other in names)
                self.stdout.write(f"  {name:12}{cells}")
