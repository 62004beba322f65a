"""Build a pool from the runs of trained systems."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from core.jobs.lifecycle import start_job
from core.management.shell import ShellCommand, names_in, run_jobs
from pooling.enums import PoolingJob, PoolRule
from pooling.graphs.opening import get_graph
from pooling.management.pool_command import (
    add_no_predictive,
    add_score_again,
    add_seeds,
    filters_named,
    pool_line,
    scoring_params,
    seed_options,
)
from pooling.pools.build import create_pool, unfinished_pool
from pooling.pools.kernels.filters import DEFAULT_TEXT, FILTERS_HELP
from pooling.pools.report import pool_counts
from pooling.pools.seeds import SHARE


class Command(ShellCommand):
    help = (
        "Build a pool: take the top candidates of every system for both questions of each seed triple, and filter them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph")
        parser.add_argument("--name", required=True)
        share = f"share of the test triples (default {SHARE})"
        add_seeds(parser, "TSV of test triples", share, "number of test triples, instead of a share")
        parser.add_argument(
            "--depth", type=int, default=10, help="pool depth: candidates taken from each list (default 10)"
        )
        rules = [PoolRule.FILTERED, PoolRule.RAW]
        about = "; ".join(rule.label for rule in rules)
        parser.add_argument("--rule", choices=[rule.value for rule in rules], default="filtered", help=about)
        add_score_again(parser)
        parser.add_argument("--systems", help="comma-separated; default: all trained systems")
        parser.add_argument("--filters", default=DEFAULT_TEXT, help=f"{FILTERS_HELP} (default {DEFAULT_TEXT})")
        add_no_predictive(parser)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> str:
        systems = names_in(options["systems"])
        if options["systems"] is not None and not systems:
            raise CommandError("--systems is empty: name some, or leave it out for all trained ones.")
        if options["seeds"] is not None and options["stratify"]:
            raise CommandError("--stratify is about a sample: leave it out with --seeds.")
        filters, name, depth = filters_named(options["filters"]), options["name"], options["depth"]
        graph = get_graph(options["graph"])
        pool = unfinished_pool(graph, name)
        if pool is not None:
            self.stderr.write(
                f"{pool.name} was begun before ({pool.seed_source}, depth {pool.depth}, {pool.rule}): going on."
            )
        else:
            asked = {name: options[name] for name in ("rule", "score_again")} | seed_options(options)
            pool = create_pool(graph, name=name, systems=systems or None, depth=depth, filters=filters, **asked)
        run_jobs([start_job(PoolingJob.BUILD_POOL, pool=pool, params=scoring_params(options))], self.stderr)
        return json.dumps(pool_counts(pool)) if options["json"] else pool_line(pool)
