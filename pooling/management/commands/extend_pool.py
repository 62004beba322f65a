"""Make a pool deeper, or add systems or seeds to it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from core.management.shell import ShellCommand, names_in, run_jobs
from pooling.management.pool_command import add_no_predictive, add_score_again, add_seeds, seed_options
from pooling.pools.build import get_pool
from pooling.pools.growth import extend_pool
from pooling.runs.lacking import lacking_runs


class Command(ShellCommand):
    help = "Make a pool deeper, or add systems or seeds. Existing triples and labels stay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--depth", type=int, help="the new depth")
        parser.add_argument("--systems", help="comma-separated names of systems to add")
        share, count = "share of the test triples to add", "number of test triples to add"
        add_seeds(parser, "TSV of test triples to add", share, count)
        add_score_again(parser)
        add_no_predictive(parser)

    def handle(self, *args: Any, **options: Any) -> str:
        systems = names_in(options["systems"])
        if options["systems"] is not None and not systems:
            raise CommandError("--systems is empty: name some, or leave it out.")
        if options["stratify"] and options["sample"] is None and options["count"] is None:
            raise CommandError("--stratify is about a sample: give --sample or --count with it.")
        pool, predictive = get_pool(options["pool"]), not options["no_predictive"]
        seeds = seed_options(options) | {"score_again": options["score_again"]}
        job = extend_pool(pool, depth=options["depth"], systems=systems, predictive=predictive, **seeds)
        run_jobs([job], self.stderr)
        pool.refresh_from_db()
        for name, count in lacking_runs(pool).items():
            topics = f"export_topics {pool.name} FILE --lacking {name}"
            self.stderr.write(f"{name} was not asked {count:,} questions of {pool.name}. {topics} writes them.")
        entry = next((entry for entry in pool.growth if entry.get("job") == job.pk), None)
        if entry is None:
            return f"{pool.name}: nothing was left to add, since another extension had added all of it"
        return f"{pool.name}: {entry['what']}: {entry['triples']:,} new triples, {entry['to_people']:,} to people"
