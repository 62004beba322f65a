"""Fill what a pool's evaluation still misses: rank rows, then predictive distributions."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.jobs.lifecycle import start_job
from core.management.shell import run_jobs, user_errors
from pooling.enums import PoolingJob
from pooling.management.options import add_no_predictive, scoring_params
from pooling.pools.build import get_pool
from pooling.runs.imports import imported_for
from pooling.training.train import get_systems


class Command(BaseCommand):
    help = (
        "Score the pooled and test triples of a pool with every trained system of its graph, where missing: rank "
        "rows, then the predictive distributions that the max-k measures read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument(
            "--systems",
            help="comma-separated; default: all trained ones of the graph, and the imported runs that answer a seed "
            "question of the pool",
        )
        add_no_predictive(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        names = options["systems"] and [s.strip() for s in options["systems"].split(",") if s.strip()]
        with user_errors():
            pool = get_pool(options["pool"])
            systems = get_systems(pool.graph, names or None)
            if not names:
                systems += imported_for(pool)
            params = scoring_params(options)
            jobs = [start_job(PoolingJob.SCORE, pool=pool, system=system, params=params) for system in systems]
            run_jobs(jobs, self.stderr)  # type: ignore[arg-type]
        for system in systems:
            system.refresh_from_db()
            run = system.run
            self.stdout.write(f"{system.name:12} {run.num_rank_rows:,} rank rows, {run.num_questions:,} questions")
