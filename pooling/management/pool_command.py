"""Base of the commands about one pool, and the options and lines that commands of pooling share."""

import json
from argparse import ArgumentParser
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.management.shell import ShellCommand
from pooling.models import Pool
from pooling.pools.build import get_pool
from pooling.pools.kernels.filters import parse_filters
from pooling.pools.kernels.seeds import STRATIFY
from pooling.pools.report import pool_counts
from pooling.pools.seeds import SEED
from pooling.runs.lacking import rows_advice

Options = dict[str, Any]


class PoolCommand(ShellCommand):
    """Base of commands that take a pool: `find` computes, `lines` says it in words; `--json` prints what was found.

    `add_options` adds a command's own options between the pool and `--json`.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        self.add_options(parser)
        parser.add_argument("--json", action="store_true")

    def add_options(self, parser: ArgumentParser) -> None:
        pass

    def handle(self, *args: Any, **options: Any) -> str:
        found = self.find(get_pool(options["pool"]), options)
        return json.dumps(self.content(found)) if options["json"] else "\n".join(self.lines(found, options))

    def find(self, pool: Pool, options: Options) -> Any:
        raise NotImplementedError

    def content(self, found: Any) -> Any:
        """Return what `--json` prints."""
        return found

    def lines(self, found: Any, options: Options) -> Iterator[str]:
        raise NotImplementedError

    def warn_left_out(self, systems: Collection[str], pool: Pool) -> None:
        """Name the systems without all rank rows on standard error."""
        if systems:
            self.stderr.write(f"Left out, rank rows missing: {', '.join(systems)}. {rows_advice(pool, systems)}")


def filters_named(text: str) -> list[str]:
    """Read the names of `--filters`; CommandError names those that exist."""
    if not text.strip(" ,"):
        raise CommandError("--filters is empty: name some, or none for a pool that people judge whole.")
    try:
        return parse_filters(text)
    except ValueError as error:
        raise CommandError(f"--filters: {error}") from error


def add_seeds(parser: ArgumentParser, file: str, share: str, count: str) -> None:
    """Add the options that choose seed triples; the texts are the help of `--seeds`, `--sample` and `--count`."""
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seeds", type=Path, metavar="FILE", help=file)
    seeds.add_argument("--sample", type=float, help=share)
    seeds.add_argument("--count", type=int, help=count)
    strata = f"sample each stratum in proportion to its size: {' or '.join(name for name in STRATIFY if name)}"
    parser.add_argument("--stratify", default="", metavar="BY", help=strata)
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the sample")


def seed_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the chosen seeds as arguments of create_pool and extend_pool."""
    return {**{name: options[name] for name in ("sample", "count", "stratify", "seed")}, "seeds_file": options["seeds"]}


def add_no_predictive(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--no-predictive",
        action="store_true",
        help="skip the predictive distributions for the max-k measures; score_runs can add them later",
    )


def add_score_again(parser: ArgumentParser) -> None:
    again = "for a raw pool: score questions again if their run lacks positions in the full list"
    parser.add_argument("--score-again", action="store_true", help=again)


def scoring_params(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a scoring job."""
    return {"predictive": False} if options["no_predictive"] else {}


def pool_line(pool: Pool) -> str:
    """Say how many triples a pool has, and who judges them."""
    counts = pool_counts(pool)
    return (
        f"{pool.name}: {counts['seeds']:,} seeds, {counts['pooled']:,} pooled triples, "
        f"{counts['filtered']:,} filtered, {counts['to_people']:,} to people"
    )


def irregular_lines(pool: Pool) -> Iterator[str]:
    """Name the lines of the file of an imported pool that were left out, with examples."""
    for entry in pool.report:
        yield f"left out, {entry['kind']}: {entry['count']} lines"
        yield from (f"  {example}" for example in entry["examples"])
