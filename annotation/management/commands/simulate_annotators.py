"""Let simulated annotators and an adjudicator label a pool, for demos, tests and studies."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from annotation.enums import Answer
from annotation.judging.label_file import read_truth
from annotation.management.campaign_command import CampaignCommand
from annotation.models import Campaign
from annotation.simulation.simulate import Simulation, simulate
from core.management.shell import Ticker
from pooling.graphs.opening import closed_world_triples, open_graph

MOST_SKIPPED = 20  # lines that are named


def share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


class Command(CampaignCommand):
    help = (
        "Let simulated people label a pool, through the same queue as real people. A second run continues an "
        "interrupted one."
    )

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--truth", required=True, help="a label file, or closed-world")
        parser.add_argument("--annotators", type=int, default=5, help="number of simulated people")
        parser.add_argument("--error-rate", type=share, default=0.05, help="share of wrong answers")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--limit", type=int, help="largest number of simulated labels in total")
        parser.add_argument("--leave", type=share, default=0.0, help="share of items left to real people")

    def act(self, campaign: Campaign, options: dict[str, Any]) -> str:
        graph, closed = campaign.pool.graph, options["truth"] == "closed-world"
        if closed:
            truth = dict.fromkeys(map(tuple, closed_world_triples(graph).tolist()), Answer.YES)
        else:
            path = Path(options["truth"])
            read, skipped = read_truth(path, open_graph(graph))
            truth = dict(read)
            for line in skipped[:MOST_SKIPPED]:
                self.stderr.write(f"{path.name}:{line.line}: {line.reason}; skipped")
            if len(skipped) > MOST_SKIPPED:
                self.stderr.write(f"… and {len(skipped) - MOST_SKIPPED:,} more lines that were skipped.")
        how = {name: options[name] for name in ("error_rate", "seed", "leave", "limit")}
        people = Simulation(truth, open_world=not closed, annotators=max(2, options["annotators"]), **how)
        ticker = Ticker(self.stderr)
        done = simulate(campaign, people, lambda given, total: ticker("labels", given, total))
        plain = done.labels - done.adjudicated
        return f"{plain:,} labels and {done.adjudicated:,} adjudications in {done.seconds:.1f} s"
