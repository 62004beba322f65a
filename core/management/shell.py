"""Parts that management commands share: clear errors, progress on standard error, cells of printed tables."""

import contextlib
import errno
import re
import sys
import time
from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.db import OperationalError, ProgrammingError, connection
from django.db.migrations.loader import MigrationLoader

from core.enums import JobState
from core.errors import GoneError, UserError
from core.files.file_names import in_utf8
from core.files.lines import too_many_bytes
from core.jobs.registry import JOB_TYPES
from core.jobs.worker import failures, wait_for, worker_for_a_while
from core.models import Job
from core.version import APPS

Out = TextIO | OutputWrapper
NO_TABLES = re.compile(r'no such table|relation "\w+" does not exist')  # in the words of SQLite and PostgreSQL
NO_TABLES_YET = "The database has no tables yet: run `python manage.py migrate` (or `triplepool migrate`) first."


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """Turn a UserError, a GoneError, a database without tables or a path that is too long into a CommandError.

    A command ends with its message and code 1, without a trace.
    """
    try:
        yield
    except (UserError, GoneError) as error:
        raise CommandError(str(error)) from error
    except (OperationalError, ProgrammingError) as error:
        if not NO_TABLES.search(str(error)):
            raise
        raise CommandError(NO_TABLES_YET) from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise CommandError(f"{str(error.filename)[:80]}…: {error.strerror}. Give a shorter name.") from error


def refuse_other_bytes(value: Any, name: str) -> None:
    """Raise CommandError if an argument has bytes that are not UTF-8; a list is checked item by item.

    Neither the database nor the terminal takes them.
    """
    for item in value if isinstance(value, list | tuple) else [value]:
        text = str(item) if isinstance(item, str | Path) else ""
        if (shown := in_utf8(text)) != text:
            raise CommandError(f"{name}: {shown} is not UTF-8. Write it in UTF-8; rename a file of such a name.")


def check_migrated() -> None:
    """Raise CommandError where the database has no tables, or not yet those of this version."""
    loader = MigrationLoader(connection)
    if lacking := sorted(key for key in loader.disk_migrations.keys() - loader.applied_migrations if key[0] in APPS):
        raise CommandError(
            f"The database is older than this version of the program ({'.'.join(lacking[0])} is missing): run `python "
            "manage.py migrate` (or `triplepool migrate`) first."
            if loader.applied_migrations
            else NO_TABLES_YET
        )


# help of arguments that say the same in every command; a command's own help comes before it
USUAL_HELP = {
    "pool": "name of the pool",
    "graph": "name of the graph",
    "--json": "print the result as JSON",
    "--name": "name of the new pool",
    "--seed": "seed of the random choices",
    "--filters": "filters, comma-separated; or category, none",
    "--format": "format of the file",
    "--device": "device for training; auto uses a GPU if there is one",
    "--measures": "names of measures, comma-separated",
}


class ShellCommand(BaseCommand):
    """Base of all commands: a UserError ends one with its message and code 1. `handle` may return what it prints."""

    # they load every page, which takes longer than most commands: `check` and `migrate` have them
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        for action in parser._actions:
            names = [name for name in (*action.option_strings, action.dest) if name in USUAL_HELP]
            if action.help is None and names:
                action.help = USUAL_HELP[names[0]]
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.stderr.style_func = None  # progress and previews are not errors
        try:
            for name, value in options.items():
                refuse_other_bytes(value, name)
            with user_errors():
                return super().execute(*args, **options)
        except CommandError:
            self.stderr.style_func = self.style.ERROR  # Django writes the message next
            raise

    def warn(self, lines: Iterable[str]) -> None:
        """Write lines to standard error."""
        for line in lines:
            self.stderr.write(line)


def file_bytes(path: Path, most: int) -> bytes:
    """Read a file of at most `most` bytes; CommandError if it cannot be read, LinesTooLargeError if it is larger."""
    try:
        if path.stat().st_size > most:
            raise too_many_bytes(path.name, most)
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error


def also_called(parser: ArgumentParser, action: Action, old: str) -> None:
    """Take an option by its earlier name too, which help does not list."""
    kind: Any = action.type  # None: text
    parser.add_argument(old, dest=action.dest, type=kind, choices=action.choices, default=SUPPRESS, help=SUPPRESS)


def hide_if_said(parser: ArgumentParser, action: Action) -> None:
    """Leave an argument out of help if the words of the console command say it, as in `triplepool graph show`."""
    if len((parser.prog or "").split()) > 2:
        action.help = SUPPRESS


def names_in(text: str | None) -> list[str]:
    """Split names at commas, without spaces and empty ones."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def add_set(parser: ArgumentParser, text: str) -> None:
    """Add the option `--set KEY=VALUE …`, which key_values reads."""
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help=text)


def key_values(pairs: Sequence[str]) -> dict[str, str]:
    """Read the KEY=VALUE pairs of `--set`; CommandError names the first that is not one."""
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise CommandError(f"--set {pair}: write KEY=VALUE")
        found[key] = value
    return found


def value_text(value: float | None, spec: str = ".4f", missing: str = "undefined") -> str:
    """Format a value of a printed table."""
    return missing if value is None else format(value, spec)


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Ticker:
    """Show the progress of one act: one line, rewritten on a terminal, and every five seconds elsewhere."""

    def __init__(self, out: Out = sys.stderr) -> None:
        self.out = out
        self.live = out.isatty()
        self._last = 0.0
        self._begun: dict[str, float] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        begun = self._begun.setdefault(stage, now)
        finished = done >= total
        if not finished and now - self._last < (0.5 if self.live else 5.0):
            return
        self._last = now
        spent = now - begun
        left = f", {duration(spent / done * (total - done))} left" if done and not finished else ""
        rate = f", {done / spent:,.0f}/s" if spent > 0.5 else ""
        self.line(f"{stage}: {done:,} of {total:,}{rate}{left}", end=finished)

    def line(self, text: str, end: bool = True) -> None:
        lead = "\r\x1b[K" if self.live else ""
        self.out.write(f"{lead}{text}{'' if self.live and not end else chr(10)}")
        self.out.flush()


def _tell(out: Out) -> Callable[[list[Job]], None]:
    said: dict[int, tuple[str, float]] = {}

    def tell(jobs: list[Job]) -> None:
        now = time.monotonic()
        for job in jobs:
            state, at = said.get(job.pk, ("", 0.0))
            if job.state == state and (job.state != JobState.RUNNING or now - at < 5):
                continue
            said[job.pk] = (job.state, now)
            left = "" if job.time_left is None else f", {duration(job.time_left)} left"
            where = f"{job.percent:3d} %  {job.stage}{left}" if job.stage else ""
            words = {JobState.RUNNING: where or "started", JobState.FAILED: f"failed: {job.error}"}
            out.write(f"{job}: {words.get(JobState(job.state), job.state)}\n")
        out.flush()

    return tell


def run_jobs(jobs: Sequence[Job], out: Out = sys.stderr) -> list[Job]:
    """Have a worker do the jobs and show their progress; CommandError if one failed."""
    if not jobs:
        return []
    tell = _tell(out)
    queues = {JOB_TYPES[job.kind].queue for job in jobs}
    with user_errors(), worker_for_a_while(queues) as look_after:

        def every_second(rows: list[Job]) -> None:
            tell(rows)
            look_after()

        rows = wait_for(jobs, every_second)
    if problems := failures(rows):
        raise CommandError("\n".join(problems))
    return rows
