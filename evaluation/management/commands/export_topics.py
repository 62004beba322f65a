"""Write the questions of a pool as TREC topics."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from core.files.artifacts import writing
from core.management.shell import ShellCommand
from evaluation.test_sets.trec import pool_topics, seed_topics
from pooling.pools.build import get_pool


class Command(ShellCommand):
    help = "Export both questions of every seed triple and pooled triple: question id, side, entity, relation, text."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("file", type=Path, help="file to write")
        some = parser.add_mutually_exclusive_group()
        some.add_argument(
            "--lacking",
            default="",
            metavar="SYSTEM",
            help="only the questions that the run of this system was not asked",
        )
        some.add_argument("--seeds-alone", action="store_true", help="only the questions of the seed triples")

    def handle(self, *args: Any, **options: Any) -> str:
        pool = get_pool(options["pool"])
        lines = list(seed_topics(pool) if options["seeds_alone"] else pool_topics(pool, options["lacking"]))
        with writing(options["file"]) as aside:
            aside.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return f"{options['file']}: {len(lines) - 1:,} questions"
