"""Replay orders of judging on labels that are known."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.core.management.base import CommandError

from core.management.shell import Ticker, also_called, names_in
from evaluation.management.options import add_systems
from evaluation.measures.registry import USUAL_NAMES, parse_measure
from evaluation.planning.replay import CLOSED_WORLD, POSITIVES, TAU, read_truth, replay_orders
from evaluation.sections.compared import compared_notes
from pooling.management.pool_command import Options, PoolCommand
from pooling.models import Pool
from pooling.orders import ORDERS

_NAMED = 20  # skipped lines that are printed


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a whole number from 1")
    return int(text)


class Command(PoolCommand):
    help = (
        "Replay the judging of a pool with known labels, in each order, and compare how fast the orders find the "
        "answers. Writes nothing."
    )

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--truth", required=True, help=f"a label file, or {CLOSED_WORLD}")
        parser.add_argument(
            "--order", default="all", help=f"orders, comma-separated: {', '.join(ORDERS)}; or all (default)"
        )
        size = parser.add_argument(
            "--batch-size", dest="batch", metavar="N", type=positive, default=1, help="triples per batch"
        )
        also_called(parser, size, "--batch")
        for name, text in (
            ("--whole-groups", "use batches of whole questions, as in a campaign"),
            ("--depth-of-runs", "use the best rank in the runs as depth, instead of the pool's depth"),
        ):
            parser.add_argument(name, action="store_true", help=text)
        times = parser.add_argument(
            "--replays", dest="seeds", metavar="N", type=positive, default=5, help="number of replays of each order"
        )
        also_called(parser, times, "--seeds")
        parser.add_argument("--seed", type=int, default=0, help="seed of the first replay")
        parser.add_argument("--measures", default=",".join(USUAL_NAMES), help="names of measures, comma-separated")
        add_systems(parser)

    def find(self, pool: Pool, options: Options) -> dict[str, Any]:
        orders = list(ORDERS) if options["order"] == "all" else options["order"].split(",")
        if unknown := [name for name in orders if name not in ORDERS]:
            raise CommandError(f"--order {unknown[0]!r}: choose all, or of {', '.join(ORDERS)}.")
        if options["seed"] < 0:
            raise CommandError(f"--seed {options['seed']}: give 0 or more.")
        try:
            measures = [parse_measure(name.strip()).name for name in options["measures"].split(",")]
        except ValueError as error:
            raise CommandError(f"--measures: {error}") from error
        truth, ticker = read_truth(pool, options["truth"]), Ticker(self.stderr)
        self.warn(_skipped(truth.notes))
        found = replay_orders(
            pool,
            truth,
            list(dict.fromkeys(orders)),
            measures=list(dict.fromkeys(measures)),
            systems=names_in(options["systems"]),
            seeds=range(options["seed"], options["seed"] + options["seeds"]),
            tell=lambda done, total: ticker("triples judged", done, total),
            **{name: options[name] for name in ("batch", "whole_groups", "depth_of_runs")},
        )
        self.warn(compared_notes(found["compared"]))
        return found

    def lines(self, found: dict[str, Any], options: Options) -> Iterator[str]:
        batch = f"{found['batch']:,} at a time" + (", whole questions" if found["whole_groups"] else "")
        many = len(found["seeds"])
        seeds = f"{many} seeds, ± 95 % of their mean" if many > 1 else "one seed"
        yield (
            f"{found['pool']}: {found['triples']:,} triples for people, {found['positives']:,} positive; "
            f"{len(found['systems'])} systems; chosen {batch}; {seeds}"
        )
        for name, one in found["orders"].items():
            yield f"\n{name}: recall of positives, and tau with the ranking under all labels"
            columns = {"recall": one["recall"], **one["tau"]}
            yield _row("judged", columns)
            for i, (share, judged) in enumerate(zip(found["shares"], found["judged"], strict=True)):
                yield _row(f"{judged:>8,} {share:>4} %", [_spread(values[i], 2) for values in columns.values()])
        yield f"\ntriples until {POSITIVES:.0%} of the positives are found, and until tau stays at {TAU}"
        yield _row("order", ["positives", *dict.fromkeys(found["measures"])])
        for name, one in found["orders"].items():
            values = [one["triples_for_positives"], *one["triples_until_stable"].values()]
            yield _row(name, [_spread(value, 0) for value in values])


def _skipped(notes: Sequence[str]) -> Iterator[str]:
    yield from (f"{note} (skipped)" for note in notes[:_NAMED])
    if len(notes) > _NAMED:
        yield f"… and {len(notes) - _NAMED:,} more lines skipped"


def _row(first: str, cells: Iterable[str]) -> str:
    return "  ".join([f"{first:>15}", *(f"{cell:>14}" for cell in cells)])


def _spread(spread: dict[str, float | None], digits: int) -> str:
    """Write 0.87 ±0.02, without ± where there is one seed."""
    mean, high = spread["mean"], spread["high"]
    if mean is None:
        return "undefined"
    return f"{mean:,.{digits}f}" + (f" ±{high - mean:,.{digits}f}" if high is not None else "")
