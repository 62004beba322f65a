"""Put a graph, system or pool into the archive, or take it back."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.management.shell import user_errors
from evaluation.keeping import archive as keeping
from evaluation.keeping.removal import find_subject
from pooling.models import Graph, Pool, System
from pooling.training import upkeep


class Command(BaseCommand):
    help = "Take a graph, system (GRAPH/SYSTEM) or pool out of the lists; with --back put it there again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=["graph", "system", "pool"])
        parser.add_argument("name")
        parser.add_argument("--back", action="store_true", help="take it back from the archive")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            subject = find_subject(options["kind"], options["name"])
            if isinstance(subject, System):
                (upkeep.restore if options["back"] else upkeep.archive)(subject, None)
            else:
                assert isinstance(subject, Graph | Pool)  # no other kind is asked for
                (keeping.take_back if options["back"] else keeping.archive)(subject, None)
        self.stdout.write(
            f"{subject} is in the lists again."
            if options["back"]
            else f"{subject} is archived: it is in no list, and --back takes it back."
        )
