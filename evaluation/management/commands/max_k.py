"""Precision, recall and F1 of every system when it may return at most k entities, beside the limits of an oracle."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from evaluation.labels.label_sets import HELP
from evaluation.labels.pool_table import EvaluationError
from evaluation.max_k.performance import max_k_json
from evaluation.max_k.stored_runs import WHICH
from evaluation.sections.settings import QUESTION_SETS
from pooling.pools.build import get_pool


class Command(BaseCommand):
    help = "Max-k: P, R and F1 at k of TopK, Sampling and Greedy, filtered and raw, with the limits of top-k and max-k."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--labels", default="current", help=HELP)
        parser.add_argument("--k", default="1,10,100", help="comma-separated, each from 1 to 100")
        parser.add_argument(
            "--questions",
            choices=QUESTION_SETS,
            default="grown",
            help="every question with an answer, or of these only the questions of the seeds",
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            found = max_k_json(
                get_pool(options["pool"]), options["labels"], _numbers(options["k"]), options["questions"]
            )
        for name, reason in found["left_out"].items():
            self.stderr.write(f"Left out: {name}, {reason}")
        if options["json"]:
            self.stdout.write(json.dumps(found))
            return
        self.stdout.write(f"{found['name']}: {found['questions']:,} questions")
        width = max(map(len, [*found["systems"], "max-k limit"]))
        for which in WHICH:
            self._table(which, found, width)

    def _table(self, which: str, found: dict[str, Any], width: int) -> None:
        answers = "are wrong" if which == "filtered" else "are right"
        self.stdout.write(f"\n{which} (answers of train and valid {answers})")
        ks = list(found["limits"][which]["top-k"])
        head = "".join(f"{f'{short}@{k}':>8}" for k in ks for short in ("P", "R", "F1"))
        self.stdout.write(f"{'':{width}}  {'':8}{head}")
        for name, one in found["systems"].items():
            for protocol, by_k in one[which]["protocols"].items():
                self.stdout.write(f"{name:{width}}  {protocol:8}{_row(by_k)}")
            self.stdout.write(
                f"{'':{width}}  α {one['alpha']:g}, TVD {one['tvd']:.4f},"
                f" mass of the right answers {one[which]['mass']:.4f}"
            )
        for bound, by_k in found["limits"][which].items():
            self.stdout.write(f"{bound + ' limit':{width}}  {'':8}{_row(by_k)}")


def _row(by_k: dict[str, dict[str, float]]) -> str:
    return "".join(f"{values[part]:8.3f}" for values in by_k.values() for part in ("precision", "recall", "f1"))


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise EvaluationError(f"--k is {text[:40]!r}: give numbers with commas, as 1,10,100.") from error
