"""PROBE of every system of a pool: its value at one sharpness and robustness, and where on the map it is the best."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from evaluation.labels.label_sets import HELP
from evaluation.probe.sections import probe_json
from evaluation.sections.settings import parse_settings
from pooling.pools.build import get_pool

TAKEN = ("labels", "questions", "sharpness", "robustness")


class Command(BaseCommand):
    help = "Score ranks more or less sharply and weigh popular answers less: values, and who is the best where."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--labels", default="current", help=HELP)
        parser.add_argument("--questions", default="grown", help="grown or original")
        parser.add_argument("--sharpness", default="1", help="a, 0 to 10: how strictly a rank is scored; 1, as in MRR")
        parser.add_argument(
            "--robustness", default="0", help="b, 0 to 10: how much less popular answers weigh; 0, all alike, as in MRR"
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            settings = parse_settings({name: options[name] for name in TAKEN}, TAKEN)
            found = probe_json(get_pool(options["pool"]), settings)
        if found["left_out"]:
            self.stderr.write(
                f"Left out, rank rows missing: {', '.join(found['left_out'])}; run score_runs {options['pool']}."
            )
        if options["json"]:
            self.stdout.write(json.dumps(found))
            return
        self.stdout.write(f"{found['labels']}: {found['n']:,} answers, {found['entities']:,} entities")
        if not found["n"]:
            self.stdout.write("Undefined: no question has an answer under these labels.")
            return
        width = max(len(name) for name in [*found["systems"], "several tie"])
        point = f"a={settings.sharpness:g} b={settings.robustness:g}"
        self.stdout.write(f"{'system':{width}}  {point:>12}  {'best at':>8}")
        for name, value in found["systems"].items():
            self.stdout.write(f"{name:{width}}  {value:>12.4f}  {_percent(found['best'][name])}")
        if found["several_best"]:
            self.stdout.write(f"{'several tie':{width}}  {'':>12}  {_percent(found['several_best'])}")
        self.stdout.write(
            f"Orders of the systems on the map: {found['orders']};"
            f" at {100 * found['order_of_mrr']:.1f} % of its points that of MRR"
        )


def _percent(share: float) -> str:
    return f"{100 * share:>6.1f} %"
