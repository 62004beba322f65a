"""The shell: a database without tables is named, and a reader who has seen enough ends a command quietly."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError, ProgrammingError

from core.errors import UserError
from core.management.shell import ShellCommand, refuse_other_bytes, user_errors

SHELL = [sys.executable, "manage.py"]


def environment(tmp_path: Path) -> dict[str, str]:
    usual = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    return {**usual, "TRIPLEPOOL_VAR": str(tmp_path)}


def test_a_command_in_an_empty_place_says_to_migrate(tmp_path: Path) -> None:
    run = subprocess.run(
        [*SHELL, "pool_report", "p"], cwd=settings.BASE_DIR, env=environment(tmp_path), capture_output=True, text=True
    )
    assert run.returncode == 1
    words = "The database has no tables yet: run `python manage.py migrate` (or `triplepool migrate`) first."
    assert run.stderr.strip() == f"CommandError: {words}"


@pytest.mark.parametrize(
    ("error", "is_named"),
    [
        (OperationalError("no such table: pooling_pool"), True),
        (ProgrammingError('relation "pooling_pool" does not exist\nLINE 1: SELECT'), True),
        (OperationalError('database "triplepool" does not exist'), False),
        (OperationalError("database is locked"), False),
    ],
)
def test_only_missing_tables_are_told_so(error: Exception, is_named: bool) -> None:
    with pytest.raises(CommandError if is_named else type(error)), user_errors():
        raise error


def test_a_reader_who_stops_early_sees_no_trace(tmp_path: Path) -> None:
    run = subprocess.Popen(
        [*SHELL, "shell", "--no-imports", "-c", "print('line\\n' * 200_000)"],
        cwd=settings.BASE_DIR,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None and run.stderr is not None
    assert run.stdout.readline() == "line\n"
    run.stdout.close()
    assert run.stderr.read() == ""
    assert run.wait() == 141


WAIT = "print('ready', flush=True); import time; time.sleep(60)"


@pytest.mark.parametrize(
    "command",
    [
        [*SHELL, "shell", "--no-imports", "-c", WAIT],
        [sys.executable, "-c", f"from triplepool.shell import quiet_end\nwith quiet_end(): {WAIT}"],
    ],
    ids=["manage.py", "triplepool"],
)
def test_ctrl_c_ends_a_command_without_a_trace_and_as_shells_expect(tmp_path: Path, command: list[str]) -> None:
    run = subprocess.Popen(
        command,
        cwd=settings.BASE_DIR,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None and run.stdout.readline() == "ready\n"
    run.send_signal(signal.SIGINT)
    assert (*run.communicate(timeout=50), run.returncode) == ("", "", -signal.SIGINT)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Talking(ShellCommand):
    requires_system_checks = ()

    def handle(self, *args: object, **options: object) -> None:
        self.stderr.write("reading")
        raise UserError("no file")


def test_only_errors_have_the_colour_of_errors() -> None:
    screen = Terminal()
    command = Talking(stderr=screen, force_color=True)
    with pytest.raises(CommandError, match="no file") as caught:
        call_command(command)
    command.stderr.write(str(caught.value))  # as Django does
    assert screen.getvalue() == "reading\n" + command.style.ERROR("no file\n")
    assert command.style.ERROR("no file") != "no file"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["open_world_study", b"\xff"], r"graph: \xff is not UTF-8"),
        (["import_graph", "g", b"/nowhere/caf\xe9"], r"path: /nowhere/caf\xe9 is not UTF-8"),  # a file
        (["open_world_study", "g", "--set", "a=1", b"b=\xfe"], r"set: b=\xfe is not UTF-8"),  # one of several
    ],
)
def test_arguments_that_are_not_utf_8_are_named(tmp_path: Path, arguments: list[str | bytes], told: str) -> None:
    run = subprocess.run(
        [*SHELL, *arguments], cwd=settings.BASE_DIR, env=environment(tmp_path), capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stderr.startswith(f"CommandError: {told}.")


@pytest.mark.parametrize("source", [[""], ["--pykeen", ""]])
def test_empty_source_of_a_graph_is_a_message(source: list[str], db: None) -> None:
    with pytest.raises(CommandError, match="source of the graph is empty"):
        call_command("import_graph", "g", *source)


@pytest.mark.parametrize("text", ["ascii", "Zürich", "知识", "\N{PILE OF POO}", Path("/données"), 7, None, ["ä", 1.5]])
def test_arguments_of_utf_8_are_taken(text: object) -> None:
    refuse_other_bytes(text, "name")


def test_path_that_is_too_long_is_a_message(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Give a shorter name"), user_errors():
        (tmp_path / ("x" * 5000)).stat()
    with pytest.raises(FileNotFoundError), user_errors():
        (tmp_path / "x").stat()
