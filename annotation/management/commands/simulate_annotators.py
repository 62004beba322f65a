"""Simulated annotators and an adjudicator, for demos, tests and studies."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from annotation.campaigns.opening import get_campaign
from annotation.enums import Answer
from annotation.judging.label_file import read_truth
from annotation.simulation.simulate import Simulation, simulate
from core.management.shell import Ticker, user_errors
from pooling.graphs.imports import closed_world, open_graph


def share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


class Command(BaseCommand):
    help = "Label a pool by simulated people, through the queue of everybody. Stopped, it continues."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--truth", required=True, help="a label file, or closed-world")
        parser.add_argument("--annotators", type=int, default=5)
        parser.add_argument("--error-rate", type=share, default=0.05)
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--limit", type=int, help="labels of simulated people in all")
        parser.add_argument("--leave", type=share, default=0.0, help="share of items left to people")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            campaign = get_campaign(options["pool"])
            graph = campaign.pool.graph
            closed = options["truth"] == "closed-world"
            if closed:
                truth = dict.fromkeys(map(tuple, closed_world(graph).tolist()), Answer.YES)
            else:
                truth = dict(read_truth(Path(options["truth"]), open_graph(graph)))
            how = Simulation(
                truth,
                open_world=not closed,
                annotators=max(2, options["annotators"]),
                error_rate=options["error_rate"],
                seed=options["seed"],
                leave=options["leave"],
                limit=options["limit"],
            )
            ticker = Ticker(self.stderr)  # type: ignore[arg-type]
            done = simulate(campaign, how, lambda given, total: ticker("labels", given, total))
        self.stdout.write(
            f"{campaign}: {done.labels - done.adjudicated:,} labels and {done.adjudicated:,} adjudications "
            f"in {done.seconds:.1f} s"
        )
