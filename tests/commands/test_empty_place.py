"""Every command in a place without a database, and before a reader who has seen enough: words, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

# Calls each command as its parser wants it, and tells by what it ended; all in one process, since each takes a second
# to start.
PROGRAM = """
import contextlib, io, json, sys
import django
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

django.setup()
file = sys.argv[1]
GIVEN = {"import_graph": ["x", "--family-tree", "--families", "1", "--people", "20"], "list": ["graph"],
         "demo": ["--no-serve"], "show": ["graph", "x"], "open_world": ["--pool", "x"],
         "backup": ["x.tar"], "import_test_set": ["x", file, "--name", "x"], "filter_pool": ["x", "--filters", "none"]}
told = {}
for name, app in sorted(get_commands().items()):
    if app not in ("core", "pooling", "annotation", "evaluation") or name == "restore":  # it makes the tables
        continue
    command = load_command_class(app, name)
    words = list(GIVEN.get(name, []))
    for action in command.create_parser("manage.py", name)._actions if name not in GIVEN else []:
        value = str(next(iter(action.choices))) if action.choices else {"Path": file, "int": "1"}.get(
            getattr(action.type, "__name__", ""), "x")
        if action.required:
            words += [*action.option_strings[-1:], value]
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            command = load_command_class(app, name)
            command.stdout._out, command.stderr._out = out, err
            command.run_from_argv(["manage.py", name, *words])
        ended = "well"
    except SystemExit as error:
        ended = error.code
    except BaseException as error:
        ended = f"{type(error).__name__}: {error}"
    told[name] = [ended, err.getvalue()]
print(json.dumps(told))
"""
# Has each command print into a pipe that nobody reads, by way of manage.py.
PIPED = """
import json, os, runpy, sys
import django
from django.core.management import get_commands, load_command_class

django.setup()
from core.management.shell import ShellCommand

kept, (reader, writer) = os.dup(1), os.pipe()
os.close(reader)
ended = {}
for name, app in sorted(get_commands().items()):
    if app not in ("core", "pooling", "annotation", "evaluation"):
        continue
    kind = type(load_command_class(app, name))
    assert issubclass(kind, ShellCommand), name
    kind.handle = lambda self, *args, **options: self.stdout.write("line\\n" * 200_000)
    kind.add_arguments = lambda self, parser: None
    os.dup2(writer, 1)
    sys.stdout = open(1, "w", closefd=False)
    sys.argv = ["manage.py", name]
    try:
        runpy.run_path(os.path.join(os.environ["PYTHONPATH"], "manage.py"), run_name="__main__")
        ended[name] = "well"
    except SystemExit as error:
        ended[name] = error.code
os.write(kept, json.dumps(ended).encode())
"""
NO_TABLES = "The database has no tables yet: run `python manage.py migrate` (or `triplepool migrate`) first."
# what needs no table, or has something else to say first
OTHERS = {"restore": "x"}
NEEDS_NO_TABLE = {"chaos"}  # it plays on a site of its own


def environment(tmp_path: Path) -> dict[str, str]:
    usual = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "ARTIFACT_ROOT")}
    root, var = str(settings.BASE_DIR), str(tmp_path / "var")
    return {**usual, "TRIPLEPOOL_VAR": var, "PYTHONPATH": root, "DJANGO_SETTINGS_MODULE": "config.settings"}


def test_every_command_ends_quietly_before_a_reader_who_has_seen_enough(tmp_path: Path):
    command = [sys.executable, "-c", PIPED]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    ended = json.loads(done.stdout)
    assert len(ended) > 40 and ended == dict.fromkeys(ended, 141)


def test_every_command_in_an_empty_place_says_to_migrate(tmp_path: Path):
    (tmp_path / "file.tsv").write_text("a\tr\tb\tY\n")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "file.tsv")]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told) > 40
    assert {name for name, said in told.items() if said != [1, f"CommandError: {NO_TABLES}\n"]} == NEEDS_NO_TABLE
