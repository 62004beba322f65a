"""Make a pool deeper, or add systems or seeds to it."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.management.shell import run_jobs, user_errors
from pooling.management.options import add_no_predictive
from pooling.pools.build import get_pool
from pooling.pools.growth import extend_pool
from pooling.pools.kernels.seeds import STRATIFY
from pooling.pools.seeds import SEED


class Command(BaseCommand):
    help = "Make a pool deeper, or add systems or seeds to it; its triples and labels stay as they are."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--depth", type=int, help="the new depth")
        parser.add_argument("--systems", help="comma-separated names of systems to add")
        seeds = parser.add_mutually_exclusive_group()
        seeds.add_argument("--seeds", type=Path, metavar="FILE", help="TSV of test triples to add")
        seeds.add_argument("--sample", type=float, help="share of the test triples to add")
        seeds.add_argument("--count", type=int, help="number of test triples to add")
        parser.add_argument(
            "--stratify",
            default="",
            metavar="BY",
            help=f"as many of each stratum as is its share; {' or '.join(name for name in STRATIFY if name)}",
        )
        parser.add_argument("--seed", type=int, default=SEED, help="of the sample")
        add_no_predictive(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        systems = [s.strip() for s in (options["systems"] or "").split(",") if s.strip()]
        if options["systems"] is not None and not systems:
            raise CommandError("--systems is empty: name some, or leave it away.")
        if options["stratify"] and options["sample"] is None and options["count"] is None:
            raise CommandError("--stratify is about a sample: give --sample or --count with it.")
        with user_errors():
            pool = get_pool(options["pool"])
            job = extend_pool(
                pool,
                depth=options["depth"],
                systems=systems,
                sample=options["sample"],
                count=options["count"],
                stratify=options["stratify"],
                seed=options["seed"],
                seeds_file=options["seeds"],
                predictive=not options["no_predictive"],
            )
            run_jobs([job], self.stderr)  # type: ignore[arg-type]
        pool.refresh_from_db()
        entry = next((entry for entry in pool.growth if entry.get("job") == job.pk), None)
        if entry is None:
            told = "nothing was left to add, since another extension had added all of it"
        else:
            told = f"{entry['what']}: {entry['triples']:,} new triples, {entry['to_people']:,} to people"
        self.stdout.write(f"{pool.name}: {told}")
