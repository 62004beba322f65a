"""Train systems on a graph, as jobs."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from core.jobs.lifecycle import start_job
from core.management.shell import ShellCommand, add_set, also_called, key_values, names_in, run_jobs, value_text
from pooling.enums import PoolingJob, SystemState
from pooling.graphs.opening import get_graph
from pooling.models import System
from pooling.systems import SYSTEMS, USUAL
from pooling.training.train import create_systems, settings_of_kinds


class Command(ShellCommand):
    help = "Train systems on a graph. Each training is a job. Trained systems are kept, and interrupted ones continue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = ",".join(USUAL)
        parser.add_argument("graph")
        parser.add_argument("--systems", default=usual, help=f"comma-separated, or all; default: {usual}")
        parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
        add_set(parser, "change a setting of the preset, for every system that has it")
        many = "train N systems of each kind, with seeds 0 to N-1"
        number = parser.add_argument("--num-seeds", dest="seeds", metavar="N", type=int, default=1, help=many)
        also_called(parser, number, "--seeds")
        parser.add_argument(
            "--best",
            action="store_true",
            help="keep the best seed by validation MRR and archive the others; in a tie, the lower seed wins",
        )
        parser.add_argument("--json", action="store_true", help="print the trained systems as JSON")

    def handle(self, *args: Any, **options: Any) -> str:
        overrides = key_values(options["set"])
        kinds = list(SYSTEMS) if options["systems"].strip() == "all" else names_in(options["systems"])
        if not kinds:
            raise CommandError(
                f"--systems is empty: name some of {', '.join(SYSTEMS)}, say all, or leave it out for the usual six."
            )
        graph = get_graph(options["graph"])
        systems = create_systems(graph, kinds, overrides, options["seeds"], options["device"], options["best"])
        for kind, own in settings_of_kinds(kinds, overrides).items():
            if other := sorted(set(overrides) - set(own)):
                self.stderr.write(f"{kind} has no {', '.join(other)}: left as it is")
        waiting = [system for system in systems if system.state != SystemState.TRAINED]
        self.warn(f"{system}: trained already" for system in systems if system not in waiting)
        run_jobs([start_job(PoolingJob.TRAIN, system=system) for system in waiting], self.stderr)
        trained = System.objects.filter(pk__in=[system.pk for system in systems]).order_by("id")
        return json.dumps({s.name: _content(s) for s in trained}) if options["json"] else "\n".join(map(_line, trained))


def _content(s: System) -> dict[str, Any]:
    return {"validation_mrr": s.validation_mrr, "epochs": s.epochs_done, "seconds": s.train_seconds}


def _line(s: System) -> str:
    notes = f"{', archived' if s.archived else ''}{f'; {s.note}' if s.note else ''}"
    return (
        f"{s.name:12} validation MRR {value_text(s.validation_mrr)}  best epoch {s.best_epoch} of {s.epochs_done}"
        f"  {s.train_seconds:.0f} s on {s.device}{notes}"
    )
