"""Is the order sure enough, how much judging is left, and where the next labels pay most."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from evaluation.planning.sections import plan_json
from pooling.pools.build import get_pool

FIRST = 10  # relations that are printed


class Command(BaseCommand):
    help = "Plan the judging of a pool: tau and its interval, labels and hours left, the yield of each relation."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            found = plan_json(get_pool(options["pool"]))
        if options["json"]:
            self.stdout.write(json.dumps(found))
            return
        for text in found["says"]:
            self.stdout.write(text)
        self.stdout.write(f"{'measure':16}{'tau':>8}{'low':>8}{'high':>8}  undecided pairs")
        for name, row in found["order"].items():
            numbers = "".join(_number(row[key], 8) for key in ("tau", "low", "high"))
            self.stdout.write(f"{name:16}{numbers}  {row['undecided']} of {row['pairs']}")
        self.stdout.write(f"{'labels left':16}{'':>8}{'low':>8}{'high':>8}  hours")
        for end, row in found["left"].items():
            labels, hours = row["labels"] or {}, row["hours"] or {}
            numbers = "".join(_number(labels.get(key), 8, 0) for key in ("value", "low", "high"))
            why = f"  {row['reason']}" if row["reason"] else ""
            self.stdout.write(f"to the {end:9}{numbers}  {_number(hours.get('value'), 0, 1)}{why}")
        self.stdout.write(f"{'positives a label':>18}{'expected':>10}{'unjudged':>10}  relation")
        for row in found["relations"][:FIRST]:
            expected = f"{_number(row['per_label'], 18, 3)}{_number(row['left'], 10, 1)}"
            self.stdout.write(f"{expected}{row['unjudged']:>10,}  {row['relation']}")
        if (more := len(found["relations"]) - FIRST) > 0:
            self.stdout.write(f"and {more:,} more relations: --json has all of them")


def _number(value: float | None, width: int, digits: int = 2) -> str:
    return f"{'–' if value is None else format(value, f',.{digits}f'):>{width}}"
