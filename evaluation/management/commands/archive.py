"""Put a graph, system or pool into the archive, or take it back."""

from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand, hide_if_said
from evaluation.keeping import archive as keeping
from evaluation.keeping.removal import find_subject
from pooling.models import Graph, Pool, System
from pooling.training import upkeep


class Command(ShellCommand):
    help = "Archive a graph, system (GRAPH/SYSTEM) or pool: lists no longer show it. --back brings it back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        kind = parser.add_argument("kind", choices=["graph", "system", "pool"], help="kind of thing to archive")
        hide_if_said(parser, kind)
        parser.add_argument("name", help="name; GRAPH/SYSTEM for a system")
        parser.add_argument("--back", action="store_true", help="bring it back from the archive")

    def handle(self, *args: Any, **options: Any) -> str:
        subject, back = find_subject(options["kind"], options["name"]), options["back"]
        if isinstance(subject, System):
            (upkeep.restore if back else upkeep.archive)(subject, None)
        else:
            assert isinstance(subject, Graph | Pool)  # the choices of `kind` leave no other
            (keeping.take_back if back else keeping.archive)(subject, None)
        done = "is restored" if back else "is archived: lists no longer show it; --back restores it"
        return f"{subject} {done}."
