"""Delete a graph, system, pool or study with all that goes with it."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.template.defaultfilters import filesizeformat

from core.management.shell import ShellCommand, hide_if_said
from evaluation.keeping.removal import KINDS, Preview, find_subject, preview, remove


class Command(ShellCommand):
    help = "Show what would be deleted with a graph, system (GRAPH/SYSTEM), pool or study; --yes deletes it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        kind = parser.add_argument("kind", choices=KINDS, help="kind of thing to delete")
        hide_if_said(parser, kind)
        parser.add_argument("name", help="name; GRAPH/SYSTEM for a system")
        parser.add_argument("--yes", action="store_true", help="delete it; without this option, nothing changes")
        parser.add_argument("--with-labels", action="store_true", help="also delete people's labels and frozen qrels")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> str:
        subject, labels = find_subject(options["kind"], options["name"]), options["with_labels"]
        found = remove(subject, None, with_labels=labels) if options["yes"] else preview(subject, with_labels=labels)
        if options["json"]:
            return json.dumps({**asdict(found), "rows": dict(found.rows), "deleted": options["yes"]})
        kept = "Nothing was deleted." if found.refused else "Nothing was deleted: --yes deletes it."
        return "\n".join([*_lines(found), f"{found.name} is deleted." if options["yes"] else kept])


def _lines(found: Preview) -> Iterator[str]:
    yield f"With {found.kind} {found.name} go:"
    yield from (f"{n:>12,} {kind}" for kind, n in found.rows)
    yield f"{found.files:>12,} files, {filesizeformat(found.bytes)}"
    yield from (f"It stays: {reason}" for reason in found.refused)
