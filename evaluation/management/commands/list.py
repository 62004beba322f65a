"""List rows of a kind: graphs, systems, pools …"""

import json
from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand, hide_if_said
from evaluation.management.cells import cell, table
from evaluation.management.kinds import KINDS, listed


class Command(ShellCommand):
    help = "List everything of a kind, oldest first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        kind = parser.add_argument("kind", choices=list(KINDS), help="kind of thing to list")
        hide_if_said(parser, kind)
        parser.add_argument("within", nargs="?", default="", help="list only those of this graph or pool")
        parser.add_argument("--json", action="store_true", help="print all fields as JSON")

    def handle(self, *args: Any, **options: Any) -> str:
        kind, rows = options["kind"], listed(options["kind"], options["within"])
        if options["json"]:
            return json.dumps(rows, default=str)
        columns = KINDS[kind].columns
        return table(columns, [[cell(row[name]) for name in columns] for row in rows])
