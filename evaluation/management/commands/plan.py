"""Say whether the order of systems is sure enough, how much judging is left, and where the next labels pay most."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from core.management.shell import names_in, value_text
from evaluation.management.options import add_systems
from evaluation.planning.sections import plan_json
from pooling.management.pool_command import Options, PoolCommand
from pooling.models import Pool

FIRST = 10  # relations that are printed


class Command(PoolCommand):
    help = "Print what you need to plan the judging: tau with its interval, labels and hours left, yield by relation."

    def add_options(self, parser: ArgumentParser) -> None:
        add_systems(parser)

    def find(self, pool: Pool, options: Options) -> dict[str, Any]:
        return plan_json(pool, names_in(options["systems"]))

    def lines(self, found: dict[str, Any], options: Options) -> Iterator[str]:
        yield from found["says"]
        yield f"{'measure':16}{'tau':>8}{'low':>8}{'high':>8}  undecided pairs"
        for name, row in found["order"].items():
            numbers = "".join(_number(row[key], 8) for key in ("tau", "low", "high"))
            yield f"{name:16}{numbers}  {row['undecided']} of {row['pairs']}"
        yield f"{'labels left':16}{'':>8}{'low':>8}{'high':>8}  hours"
        for end, row in found["left"].items():
            labels, hours = row["labels"] or {}, row["hours"] or {}
            numbers = "".join(_number(labels.get(key), 8, 0) for key in ("value", "low", "high"))
            why = f"  {row['reason']}" if row["reason"] else ""
            yield f"to the {end:9}{numbers}  {_number(hours.get('value'), 0, 1)}{why}"
        yield f"{'positives a label':>18}{'expected':>10}{'unjudged':>10}  relation"
        for row in found["relations"][:FIRST]:
            expected = f"{_number(row['per_label'], 18, 3)}{_number(row['left'], 10, 1)}"
            yield f"{expected}{row['unjudged']:>10,}  {row['relation']}"
        if (more := len(found["relations"]) - FIRST) > 0:
            yield f"and {more:,} more relations: --json has all of them"


def _number(value: float | None, width: int, digits: int = 2) -> str:
    return f"{value_text(value, f',.{digits}f', '–'):>{width}}"
