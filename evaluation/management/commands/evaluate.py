"""Measures of every system of a pool's graph under a label set."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.management.shell import user_errors
from evaluation.labels.label_sets import HELP
from evaluation.sections import figure_cache
from pooling.pools.build import get_pool


class Command(BaseCommand):
    help = "Evaluate the runs of a pool's systems. A label never touches a model: this reads rank rows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--measures", default=",".join(figure_cache.DEFAULT_MEASURES), help="comma-separated")
        parser.add_argument("--labels", default="current", help=HELP)
        parser.add_argument(
            "--assumed",
            choices=["judged", "unjudged"],
            default="judged",
            help="whether filtered triples count as judged negatives",
        )
        parser.add_argument(
            "--questions",
            choices=["grown", "original"],
            default="grown",
            help="every question with an answer under these labels, or of these only the questions of the seeds",
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        measures = [name.strip() for name in options["measures"].split(",") if name.strip()]
        if not measures:
            raise CommandError("--measures is empty: name some, or leave it away for the usual ones.")
        try:
            with user_errors():
                content = figure_cache.metrics(
                    get_pool(options["pool"]),
                    options["labels"],
                    measures,
                    options["assumed"] == "judged",
                    options["questions"],
                )
        except ValueError as error:
            raise CommandError(f"--measures: {error}") from error
        if content["left_out"]:
            self.stderr.write(
                f"Left out, rank rows missing: {', '.join(content['left_out'])}; run score_runs {options['pool']}."
            )
        if options["json"]:
            reasons = {system: why for system, why in content["reasons"].items() if why}
            self.stdout.write(
                json.dumps({"labels": content["labels"], "systems": content["systems"], "reasons": reasons})
            )
            return
        counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in content["counts"].items())
        asked = ", questions of the seeds only" if options["questions"] == "original" else ""
        self.stdout.write(f"{content['name']}{asked}: {counts}")
        width = max(len(name) for name in [*content["systems"], "system"])
        names = list(content["n"])
        self.stdout.write(f"{'system':{width}}  " + "  ".join(f"{name:>13}" for name in names))
        for system, row in content["systems"].items():
            cells = "  ".join(f"{'undefined' if row[n] is None else format(row[n], '.4f'):>13}" for n in names)
            self.stdout.write(f"{system:{width}}  {cells}")
        self.stdout.write(f"{'n':{width}}  " + "  ".join(f"{content['n'][name]:>13,}" for name in names))
        self._say_why(content["reasons"])

    def _say_why(self, reasons: dict[str, dict[str, str]]) -> None:
        """Each reason for an undefined value once, with the measures and systems that it is about."""
        about: dict[str, list[str]] = {}
        for system, of_measure in reasons.items():
            for measure, why in of_measure.items():
                about.setdefault(why, []).append(f"{measure} of {system}")
        for why, values in about.items():
            more = f" and {len(values) - 3:,} more" if len(values) > 3 else ""
            self.stderr.write(f"Undefined, since {why}: {', '.join(values[:3])}{more}.")
