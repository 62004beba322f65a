"""Compute PROBE of a pool's systems: values at one sharpness and robustness, and shares of the map."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from evaluation.management.options import add_labels, add_questions, add_seeds, add_systems
from evaluation.probe.sections import probe_json
from evaluation.sections.compared import compared_notes
from evaluation.sections.settings import parse_settings
from pooling.management.pool_command import Options, PoolCommand
from pooling.models import Pool

TAKEN = ("labels", "questions", "sharpness", "robustness", "seeds", "systems")


class Command(PoolCommand):
    help = (
        "Print PROBE values: score ranks more or less sharply, weigh popular answers less, and show the best "
        "system for each setting."
    )

    def add_options(self, parser: ArgumentParser) -> None:
        add_labels(parser)
        add_questions(
            parser, "grown: every question with an answer; original: only the questions of the seeds among them"
        )
        parser.add_argument(
            "--sharpness", default="1", help="a, from 0 to 10: how strictly a rank is scored; 1 is as in MRR"
        )
        weight = "b, from 0 to 10: how much less popular answers weigh; 0 gives equal weights, as in MRR"
        parser.add_argument("--robustness", default="0", help=weight)
        add_seeds(parser)
        add_systems(parser)

    def find(self, pool: Pool, options: Options) -> dict[str, Any]:
        self.settings = parse_settings({name: options[name] for name in TAKEN}, TAKEN)
        found = probe_json(pool, self.settings)
        self.warn_left_out(found["left_out"], pool)
        self.warn(compared_notes(found["compared"]))
        return found

    def lines(self, found: dict[str, Any], options: Options) -> Iterator[str]:
        yield f"{found['labels']}: {found['n']:,} answers, {found['entities']:,} entities"
        if not found["n"]:
            yield "Undefined: no question has an answer under these labels."
            return
        point = f"a={self.settings.sharpness:g} b={self.settings.robustness:g}"
        rows = [["system", point, "best at"]]
        for name, value in found["systems"].items():
            rows.append([name, f"{value:.4f}", _percent(found["best"][name])])
            if family := found.get("families", {}).get(name):
                over = f"  mean of {len(family['seeds'])} seeds"
                rows += [[over, f"{family['mean']:.4f}", ""], ["  standard deviation", f"{family['sd']:.4f}", ""]]
        if found["several_best"]:
            rows.append(["several tie", "", _percent(found["several_best"])])
        width = max(len(name) for name, _, _ in [*rows, ("several tie", "", "")])
        yield from (f"{name:{width}}  {value:>12}  {share:>8}" for name, value, share in rows)
        same = f"at {100 * found['order_of_mrr']:.1f} % of its points that of MRR"
        self.warn(found.get("notes", ()))
        yield f"Orders of the systems on the map: {found['orders']}; {same}"


def _percent(share: float) -> str:
    return f"{100 * share:>6.1f} %"
