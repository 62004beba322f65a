"""Show one row of a kind with all its fields."""

import json
from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand, hide_if_said
from evaluation.management.cells import cell
from evaluation.management.kinds import KINDS, one


class Command(ShellCommand):
    help = "Show one graph, system, pool … with all its fields."

    def add_arguments(self, parser: ArgumentParser) -> None:
        kind = parser.add_argument("kind", choices=list(KINDS), help="kind of thing to show")
        hide_if_said(parser, kind)
        name = "name: GRAPH/SYSTEM for a system or run, POOL/NAME for qrels, ID for an export or job"
        parser.add_argument("name", nargs="?", default="", help=name)
        parser.add_argument("--json", action="store_true", help="print it as JSON")

    def handle(self, *args: Any, **options: Any) -> str:
        row = one(options["kind"], options["name"])
        if options["json"]:
            return json.dumps(row, default=str)
        width = max(map(len, row))
        return "\n".join(f"{name:<{width}}  {cell(value)}" for name, value in row.items())
