"""Replay orders of judging on labels that are known."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.management.shell import Ticker, user_errors
from evaluation.measures.registry import parse_measure
from evaluation.planning.replay import CLOSED_WORLD, POSITIVES, TAU, read_truth, replay_orders
from evaluation.sections import figure_cache
from pooling.orders import ORDERS
from pooling.pools.build import get_pool

_NAMED = 20  # skipped lines that are printed


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is no whole number from 1")
    return int(text)


def cell(spread: dict[str, float | None], digits: int) -> str:
    """0.87 ±0.02, without ± where there is one seed."""
    mean, high = spread["mean"], spread["high"]
    if mean is None:
        return "undefined"
    return f"{mean:,.{digits}f}" + (f" ±{high - mean:,.{digits}f}" if high is not None else "")


class Command(BaseCommand):
    help = "Judge a pool again whose labels are known, in each order, and see how soon it finds what. Writes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--truth", required=True, help=f"a label file, or {CLOSED_WORLD}")
        parser.add_argument("--order", default="all", help=f"all, or of {', '.join(ORDERS)}; comma-separated")
        parser.add_argument("--batch", type=positive, default=1, help="triples chosen at a time")
        parser.add_argument(
            "--whole-groups", action="store_true", help="batches of whole questions, as people get them"
        )
        parser.add_argument(
            "--depth-of-runs", action="store_true", help="depth is the best rank in the runs, not the pool's own"
        )
        parser.add_argument("--seeds", type=positive, default=5, help="replays of each order")
        parser.add_argument("--seed", type=int, default=0, help="of the first replay")
        parser.add_argument("--measures", default=",".join(figure_cache.DEFAULT_MEASURES), help="comma-separated")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        orders = list(ORDERS) if options["order"] == "all" else options["order"].split(",")
        if unknown := [name for name in orders if name not in ORDERS]:
            raise CommandError(f"--order {unknown[0]!r}: choose all, or of {', '.join(ORDERS)}.")
        if options["seed"] < 0:
            raise CommandError(f"--seed {options['seed']}: give 0 or more.")
        try:
            named = [parse_measure(name.strip()).name for name in options["measures"].split(",")]
        except ValueError as error:
            raise CommandError(f"--measures: {error}") from error
        ticker = Ticker(self.stderr)  # type: ignore[arg-type]
        with user_errors():
            pool = get_pool(options["pool"])
            truth = read_truth(pool, options["truth"])
            self._say_skipped(truth.notes)
            content = replay_orders(
                pool,
                truth,
                list(dict.fromkeys(orders)),
                measures=list(dict.fromkeys(named)),
                batch=options["batch"],
                whole_groups=options["whole_groups"],
                depth_of_runs=options["depth_of_runs"],
                seeds=range(options["seed"], options["seed"] + options["seeds"]),
                tell=lambda done, total: ticker("triples judged", done, total),
            )
        if options["json"]:
            self.stdout.write(json.dumps(content))
        else:
            self._write(content)

    def _say_skipped(self, notes: list[str]) -> None:
        for note in notes[:_NAMED]:
            self.stderr.write(f"{note} (skipped)")
        if len(notes) > _NAMED:
            self.stderr.write(f"… and {len(notes) - _NAMED:,} more lines skipped")

    def _write(self, content: dict[str, Any]) -> None:
        batch = f"{content['batch']:,} at a time" + (", whole questions" if content["whole_groups"] else "")
        many = len(content["seeds"])
        seeds = f"{many} seeds, ± 95 % of their mean" if many > 1 else "one seed"
        self.stdout.write(
            f"{content['pool']}: {content['triples']:,} triples for people, {content['positives']:,} positive; "
            f"{len(content['systems'])} systems; chosen {batch}; {seeds}"
        )
        for name, found in content["orders"].items():
            self.stdout.write(f"\n{name}: recall of positives, and tau with the ranking under all labels")
            columns = {"recall": found["recall"], **found["tau"]}
            self.stdout.write(f"{'judged':>15}  " + "  ".join(f"{column:>14}" for column in columns))
            for i, (share, judged) in enumerate(zip(content["shares"], content["judged"], strict=True)):
                cells = "  ".join(f"{cell(values[i], 2):>14}" for values in columns.values())
                self.stdout.write(f"{judged:>8,} {share:>4} %  {cells}")
        self.stdout.write(f"\ntriples until {POSITIVES:.0%} of the positives are found, and until tau stays at {TAU}")
        columns = {"positives": None, **dict.fromkeys(content["measures"])}
        self.stdout.write(f"{'order':>15}  " + "  ".join(f"{column:>14}" for column in columns))
        for name, found in content["orders"].items():
            values = [found["triples_for_positives"], *found["triples_until_stable"].values()]
            self.stdout.write(f"{name:>15}  " + "  ".join(f"{cell(value, 0):>14}" for value in values))
