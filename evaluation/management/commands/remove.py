"""Delete a graph, system, pool or study with all that goes with it."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand
from django.template.defaultfilters import filesizeformat

from core.management.shell import user_errors
from evaluation.keeping.removal import KINDS, Preview, find_subject, preview, remove


class Command(BaseCommand):
    help = "Show what goes with a graph, system (GRAPH/SYSTEM), pool or study; with --yes delete it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=KINDS)
        parser.add_argument("name")
        parser.add_argument("--yes", action="store_true", help="delete it; without it nothing is changed")
        parser.add_argument("--with-labels", action="store_true", help="delete labels of people and frozen qrels too")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            subject = find_subject(options["kind"], options["name"])
            if options["yes"]:
                found = remove(subject, None, with_labels=options["with_labels"])
            else:
                found = preview(subject, with_labels=options["with_labels"])
        if options["json"]:
            self.stdout.write(json.dumps({**asdict(found), "rows": dict(found.rows), "deleted": options["yes"]}))
            return
        self._write(found)
        if options["yes"]:
            self.stdout.write(f"{found.name} is deleted.")
        else:
            self.stdout.write("Nothing was deleted." if found.refused else "Nothing was deleted: --yes deletes it.")

    def _write(self, found: Preview) -> None:
        self.stdout.write(f"With {found.kind} {found.name} go:")
        for kind, n in found.rows:
            self.stdout.write(f"{n:>12,} {kind}")
        self.stdout.write(f"{found.files:>12,} files, {filesizeformat(found.bytes)}")
        for reason in found.refused:
            self.stdout.write(f"It stays: {reason}")
