"""Delete what has had its time: expired rows, old uploads, files that no row names."""

from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand
from evaluation.keeping.housekeeping import tidy


class Command(ShellCommand):
    help = (
        "Show how much has had its time: expired sessions, API tokens and invitations, failed sign-ins, rows of "
        "workers that ended, old uploads, files that no row names. --yes deletes it. Run it once a day."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="delete it; without this option, nothing changes")

    def handle(self, *args: Any, **options: Any) -> None:
        for about, number in tidy(delete=options["yes"]):
            self.stdout.write(f"{number:>12,} {about}")
        self.stdout.write("Deleted." if options["yes"] else "Nothing was deleted: --yes deletes it.")
