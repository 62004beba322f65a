"""Build a pool from the runs of trained systems."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.jobs.lifecycle import start_job
from core.management.shell import run_jobs, user_errors
from pooling.enums import PoolingJob
from pooling.graphs.imports import get_graph
from pooling.management.options import add_no_predictive, filters_named, scoring_params
from pooling.pools.build import create_pool, unfinished_pool
from pooling.pools.kernels.filters import FILTERS
from pooling.pools.kernels.seeds import STRATIFY
from pooling.pools.report import pool_counts
from pooling.pools.seeds import SEED, SHARE


class Command(BaseCommand):
    help = "Pool the first candidates of every system for both questions of the seed triples, and filter."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph")
        parser.add_argument("--name", required=True)
        seeds = parser.add_mutually_exclusive_group()
        seeds.add_argument("--seeds", type=Path, metavar="FILE", help="TSV of test triples")
        seeds.add_argument("--sample", type=float, help=f"share of the test triples, default {SHARE}")
        seeds.add_argument("--count", type=int, help="number of test triples, instead of a share")
        parser.add_argument(
            "--stratify",
            default="",
            metavar="BY",
            help=f"as many of each stratum as is its share; {' or '.join(name for name in STRATIFY if name)}",
        )
        parser.add_argument("--seed", type=int, default=SEED, help="of the sample")
        parser.add_argument("--depth", type=int, default=10)
        parser.add_argument("--systems", help="comma-separated; default: all trained ones")
        parser.add_argument("--filters", default="category,types", help=f"of {', '.join(FILTERS)}; or category, none")
        add_no_predictive(parser)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        systems = options["systems"] and [s.strip() for s in options["systems"].split(",") if s.strip()]
        if options["systems"] is not None and not systems:
            raise CommandError("--systems is empty: name some, or leave it away for all trained ones.")
        if options["seeds"] is not None and options["stratify"]:
            raise CommandError("--stratify is about a sample: leave it away with --seeds.")
        filters = filters_named(options["filters"])
        with user_errors():
            graph = get_graph(options["graph"])
            pool = unfinished_pool(graph, options["name"])
            if pool is not None:
                self.stderr.write(f"{pool.name} was begun before ({pool.seed_source}, depth {pool.depth}): going on.")
            else:
                pool = create_pool(
                    graph,
                    name=options["name"],
                    systems=systems or None,
                    depth=options["depth"],
                    sample=options["sample"],
                    count=options["count"],
                    stratify=options["stratify"],
                    seed=options["seed"],
                    seeds_file=options["seeds"],
                    filters=filters,
                )
            job = start_job(PoolingJob.BUILD_POOL, pool=pool, params=scoring_params(options))
            run_jobs([job], self.stderr)  # type: ignore[arg-type]
        counts = pool_counts(pool)
        if options["json"]:
            self.stdout.write(json.dumps(counts))
        else:
            self.stdout.write(
                f"{pool.name}: {counts['seeds']:,} seeds, {counts['pooled']:,} pooled triples, "
                f"{counts['filtered']:,} filtered, {counts['to_people']:,} to people"
            )
