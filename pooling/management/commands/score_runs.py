"""Fill in what a pool's evaluation misses: rank rows, then predictive distributions."""

from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand, names_in, run_jobs
from pooling.management.pool_command import add_no_predictive, scoring_params
from pooling.pools.build import get_pool
from pooling.runs.lacking import check_asked, lacking_words
from pooling.runs.start_scoring import start_scoring, systems_to_score


class Command(ShellCommand):
    help = (
        "Add missing scores of pooled and test triples for every trained system of the graph: rank rows first, then "
        "the predictive distributions for the max-k measures."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument(
            "--systems",
            help="comma-separated; default: all trained systems of the graph, and the imported runs that answer a "
            "seed question of the pool",
        )
        add_no_predictive(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        names, pool = names_in(options["systems"]), get_pool(options["pool"])
        systems = systems_to_score(pool, names)
        check_asked(pool, systems)
        run_jobs(start_scoring(pool, systems, params=scoring_params(options)), self.stderr)
        for system in systems:
            system.refresh_from_db()
            if system.is_imported and (why := lacking_words(pool, system)):
                self.stderr.write(why)
            run = system.run
            self.stdout.write(f"{system.name:12} {run.num_rank_rows:,} rank rows, {run.num_questions:,} questions")
