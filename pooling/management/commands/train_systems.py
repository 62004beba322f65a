"""Train systems on a graph, as jobs."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.jobs.lifecycle import start_job
from core.management.shell import run_jobs, user_errors
from pooling.enums import PoolingJob, SystemState
from pooling.graphs.imports import get_graph
from pooling.models import System
from pooling.systems import SYSTEMS, USUAL
from pooling.training.train import create_systems, settings_of_kinds


class Command(BaseCommand):
    help = "Train systems on a graph. Each is a job; trained systems are kept, interrupted ones go on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph")
        parser.add_argument(
            "--systems", default=",".join(USUAL), help=f"comma-separated, or all; default: {','.join(USUAL)}"
        )
        parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
        parser.add_argument(
            "--set",
            nargs="+",
            action="extend",
            default=[],
            metavar="KEY=VALUE",
            help="settings other than the preset; each goes to those systems that have it",
        )
        parser.add_argument("--seeds", type=int, default=1, help="systems of each kind, seeds 0 to N-1")
        parser.add_argument(
            "--best",
            action="store_true",
            help="keep the best of the seeds by validation MRR and archive the others; a tie: the lower seed",
        )
        parser.add_argument("--json", action="store_true", help="print the trained systems as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        overrides = {}
        for pair in options["set"]:
            key, equals, value = pair.partition("=")
            if not equals:
                raise CommandError(f"--set {pair}: write KEY=VALUE")
            overrides[key] = value
        asked = ",".join(SYSTEMS) if options["systems"].strip() == "all" else options["systems"]
        kinds = [name.strip() for name in asked.split(",") if name.strip()]
        if not kinds:
            raise CommandError(
                f"--systems is empty: name some of {', '.join(SYSTEMS)}, say all, or leave it away for the usual six."
            )
        with user_errors():
            graph = get_graph(options["graph"])
            systems = create_systems(graph, kinds, overrides, options["seeds"], options["device"], options["best"])
            for kind, own in settings_of_kinds(kinds, overrides).items():
                if other := sorted(set(overrides) - set(own)):
                    self.stderr.write(f"{kind} has no {', '.join(other)}: left as it is")
            waiting = [s for s in systems if s.state != SystemState.TRAINED]
            for system in systems:
                if system not in waiting:
                    self.stderr.write(f"{system}: trained already")
            run_jobs([start_job(PoolingJob.TRAIN, system=system) for system in waiting], self.stderr)  # type: ignore[arg-type]
        trained = System.objects.filter(pk__in=[s.pk for s in systems]).order_by("id")
        if options["json"]:
            self.stdout.write(
                json.dumps(
                    {
                        s.name: {
                            "validation_mrr": s.validation_mrr,
                            "epochs": s.epochs_done,
                            "seconds": s.train_seconds,
                        }
                        for s in trained
                    }
                )
            )
            return
        for s in trained:
            self.stdout.write(
                f"{s.name:12} validation MRR {_number(s.validation_mrr)}  best epoch {s.best_epoch} of {s.epochs_done}"
                f"  {s.train_seconds:.0f} s on {s.device}{', archived' if s.archived else ''}"
                f"{f'; {s.note}' if s.note else ''}"
            )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
