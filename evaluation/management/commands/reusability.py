"""Would the labels be fair to a system that was not in the pool, and which systems can they compare."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from evaluation.labels.label_sets import HELP
from evaluation.reusability.sections import reusability_json
from evaluation.sections.settings import RANKING, parse_settings
from pooling.pools.build import get_pool

TAKEN = ("labels", "measures", "questions", "assumed", "share")


class Command(BaseCommand):
    help = "Leave each system, and each family, out of a pool; say how much of every system is judged."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--measures", default=",".join(RANKING), help="comma-separated")
        parser.add_argument("--labels", default="current", help=f"{HELP}; not full-test")
        parser.add_argument("--questions", default="grown", help="grown or original")
        parser.add_argument("--assumed", default="judged", help="judged or unjudged: filtered triples")
        parser.add_argument(
            "--share", default="0.9", help="judged share of the first candidates from which a system is comparable"
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            settings = parse_settings({name: options[name] for name in TAKEN}, TAKEN)
            found = reusability_json(get_pool(options["pool"]), settings)
        if options["json"]:
            self.stdout.write(json.dumps(found))
            return
        for text in found["says"]:
            self.stdout.write(text)
        self._left_out(found)
        self.stdout.write(f"{'system':18}{'pooled':>8}{'judged':>11}{'to judge':>10}  comparable")
        for name, row in found["judged"].items():
            pooled, comparable = ("yes" if row[key] else "no" for key in ("pooled", "comparable"))
            share = _number(row["at"][str(row["k"])])
            self.stdout.write(f"{name:18}{pooled:>8}{share:>11}{row['missing']:>10,}  {comparable}")

    def _left_out(self, found: dict[str, Any]) -> None:
        for what, groups in found["without"].items():
            for measure in found["measures"]:
                self.stdout.write(f"{measure}, without one {what}:")
                self.stdout.write(f"  {'left out':18}{'only it':>9}{'positive':>9}{'tau':>7}  places, all and without")
                for name, row in groups.items():
                    one = row["measures"][measure]
                    moves = ", ".join(f"{s} {b} to {a}" for s, (b, a) in one["own"].items())
                    self.stdout.write(
                        f"  {name:18}{row['triples']:>9,}{row['positives']:>9,}{_number(one['tau']):>7}  {moves}"
                    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
