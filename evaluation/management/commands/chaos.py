"""Label, kill, cut and fill; then check that nothing was lost. The work is in benchmarks/chaos, which no wheel has."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.jobs.worker import signals_interrupt
from core.management.shell import ShellCommand, names_in

FULL_SECONDS = 600
BOUNDS = {"people": (1, 200), "seconds": (20, 3600), "every": (1, 3600)}


class Command(ShellCommand):
    help = (
        "For development: let people label over HTTP while workers, web server, database, Redis, disk and clocks "
        "fail, and check that no label is lost or doubled and no state is wrong. It plays on this machine only, on a "
        "site and databases of its own, which are gone at the end. From ten minutes on, the table is written to "
        "docs/measured/benchmarks.md."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--database-url",
            default=os.environ.get("DATABASE_URL", ""),
            metavar="URL",
            help="a PostgreSQL server on 127.0.0.1 where a database can be made (default: that of DATABASE_URL)",
        )
        parser.add_argument(
            "--redis-url",
            default="redis://127.0.0.1:6379",
            metavar="URL",
            help="a Redis on 127.0.0.1 with an empty database (default redis://127.0.0.1:6379)",
        )
        parser.add_argument("--people", type=int, default=50, help="people who label (default 50, at most 200)")
        parser.add_argument("--seconds", type=int, default=FULL_SECONDS, help="how long (default 600, at most 3600)")
        parser.add_argument("--every", type=int, default=15, help="seconds between two faults (default 15)")
        parser.add_argument("--seed", type=int, default=1, help="of the faults and the answers")
        parser.add_argument("--quick", action="store_true", help="two minutes")
        parser.add_argument("--faults", metavar="NAMES", help="only these, comma-separated (default: all)")
        parser.add_argument("--list", action="store_true", help="only list the faults, in the order of --seed")
        parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep what the processes wrote there")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            from benchmarks.chaos import campaign
            from benchmarks.chaos.faults import FAULTS, draw
            from benchmarks.chaos.site import ChaosError
            from benchmarks.report import write_section
        except ImportError as error:
            raise CommandError("chaos is a tool for development: run it in a checkout of the repository.") from error

        if options["list"]:
            for _, fault in zip(FAULTS, draw(options["seed"]), strict=False):
                self.stdout.write(f"{fault.name}: {fault.about}")
            return
        for name, (least, most) in BOUNDS.items():
            if not least <= options[name] <= most:
                raise CommandError(f"--{name} {options[name]}: give a number from {least} to {most}.")
        if unknown := set(names_in(options["faults"])) - {fault.name for fault in FAULTS}:
            raise CommandError(f"There is no fault {', '.join(sorted(unknown))}: --list shows all of them.")
        if not options["database_url"].startswith(("postgresql://", "postgres://")):
            raise CommandError("Name a PostgreSQL server: --database-url postgresql://postgres@127.0.0.1:5432/postgres")
        chosen = campaign.Options(
            options["database_url"],
            options["redis_url"],
            options["people"],
            120 if options["quick"] else options["seconds"],
            options["every"],
            options["seed"],
            tuple(names_in(options["faults"])),
            options["logs"],
        )
        try:
            with signals_interrupt():
                result = campaign.play(chosen, self._say)
        except ChaosError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Stopped; nothing is left of the site.") from None
        self.stdout.write("\n".join(campaign.table(result)))
        self.warn(campaign.problems(result))
        if not result.is_good:
            raise CommandError("Labels were lost or doubled, a state is wrong, or the site failed: see above.")
        if chosen.seconds >= FULL_SECONDS and not chosen.faults:
            write_section("chaos", campaign.section(result))

    def _say(self, line: str) -> None:
        self.stderr.write(line)
        self.stderr.flush()
