"""The console command: every command of manage.py has a verb, help at each level, did you mean."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command, get_commands, load_command_class

from core.errors import UserError
from evaluation.management.kinds import KINDS, listed, one
from triplepool.groups import FLAT, GROUPS, SINGLE, Call, Unknown, resolve

APPS = ("core", "pooling", "annotation", "evaluation")
OURS = {name for name, app in get_commands().items() if app in APPS}


def test_every_command_has_a_verb_and_every_verb_a_command():
    named = FLAT | {verb.command for verb in SINGLE.values()}
    assert named - {"migrate", "changepassword"} == OURS
    assert named <= set(get_commands())


def test_a_verb_is_its_command_and_flat_names_stay():
    assert resolve(["graph", "import", "town", "x"]) == Call("import_graph", ["town", "x"], "triplepool graph import")
    assert resolve(["pool", "remove", "p", "--yes"]) == Call("remove", ["pool", "p", "--yes"], "triplepool pool remove")
    assert resolve(["import_graph", "town"]) == Call("import_graph", ["town"], "triplepool import_graph")
    assert resolve(["serve", "--help"]) == Call("serve", ["--help"], "triplepool serve")


@pytest.mark.parametrize("words", [["town", "--labels", "qrels:v1"], ["--json", "town"]])
def test_a_flat_name_that_is_a_group_too_takes_what_is_no_verb(words):
    """`import_test_set` ends with "Next: evaluate POOL": this works after `triplepool` as after `manage.py`."""
    assert resolve(["evaluate", *words]) == Call("evaluate", words, "triplepool evaluate")


def test_groups_list_and_show():
    for name, group in GROUPS.items():
        assert {"list", "show"} <= set(group.verbs), name
        assert group.verbs["list"].first[0] in KINDS and group.verbs["show"].first == group.verbs["list"].first


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["graf", "import"], "triplepool graph"),
        (["graph", "imprt"], "triplepool graph import"),
        (["pool", "freze"], "triplepool pool freeze"),
        (["evaluate", "mesures", "town"], "triplepool evaluate measures"),
        (["import_graf"], "triplepool import_graph"),
        (["bakup"], "triplepool backup"),
    ],
)
def test_unknown_words_are_told_what_was_meant(words, meant):
    found = resolve(words)
    assert isinstance(found, Unknown) and not found.is_help
    assert f"Did you mean `{meant}`?" in found.message


def test_help_lists_groups_and_verbs():
    overview, group = resolve(["--help"]), resolve(["pool", "--help"])
    assert isinstance(overview, Unknown) and isinstance(group, Unknown) and overview.is_help and group.is_help
    for name in (*GROUPS, *SINGLE):
        assert f"\n  {name} " in overview.message
    for verb in GROUPS["pool"].verbs:
        assert f"\n  {verb} " in group.message
    assert resolve([]) == Unknown(overview.message, False)
    assert resolve(["pool"]) == Unknown(group.message, False)


def test_help_ends_quietly_where_nobody_reads_on():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from triplepool.shell import main; main(['--help'])"]
    ended = subprocess.run(command, cwd=settings.BASE_DIR, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


MANAGE = ["manage.py", "help", "--commands"]
CONSOLE = ["-c", "from triplepool.shell import main; main(['--help'])"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("command", [MANAGE, CONSOLE], ids=["manage.py", "triplepool"])
def test_output_that_cannot_be_written_is_one_line(command):
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, *command], cwd=settings.BASE_DIR, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (ended.returncode, ended.stderr) == (1, "The output could not be written: No space left on device.\n")


@pytest.mark.parametrize("closed", [1, 2])
@pytest.mark.parametrize("command", [MANAGE, CONSOLE], ids=["manage.py", "triplepool"])
def test_output_that_the_caller_closed_is_dropped(command, closed):
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}>&-', "-", sys.executable, *command],
        cwd=settings.BASE_DIR,
        capture_output=True,
    )
    assert (ended.returncode, ended.stderr, bool(ended.stdout)) == (0, b"", closed == 2)


def test_wrong_setting_is_one_line():
    command = [sys.executable, "-c", "from triplepool.shell import main; main(['graph', 'list'])"]
    wrong = os.environ | {"DATABASE_URL": "nonsense"}
    ended = subprocess.run(command, cwd=settings.BASE_DIR, env=wrong, capture_output=True, text=True)
    assert ended.returncode == 1 and ended.stderr.startswith("ImproperlyConfigured: DATABASE_URL")
    assert len(ended.stderr.splitlines()) == 1


# -- list and show -----------------------------------------------------------------------------------------------

NAMES = {
    "graph": "town",
    "system": "town/rotate",
    "run": "town/rotate",
    "pool": "town-pool",
    "campaign": "town-pool",
    "person": "annotator",
    "measure": "micro_mrr",
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_is_listed_and_shown(world, kind, capsys):
    within = "town-pool" if kind == "label" else ""
    call_command("list", kind, *([within] if within else []), "--json")
    rows = json.loads(capsys.readouterr().out)
    assert rows == json.loads(json.dumps(listed(kind, within), default=str))
    call_command("list", kind, *([within] if within else []))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(rows) + 1 and lines[0].split() == list(KINDS[kind].columns)
    if kind in NAMES:
        call_command("show", kind, NAMES[kind], "--json")
        assert json.loads(capsys.readouterr().out) in rows
    elif rows:
        name = KINDS[kind].name.format(**rows[0])
        assert json.loads(json.dumps(one(kind, name), default=str)) == rows[0]
    with pytest.raises(UserError, match="none-such"):
        one(kind, "none-such")


def test_show_without_a_name_asks_which(world):
    for kind, asks in (
        ("export", "Which export? Give it as ID. There are: none yet."),
        ("graph", "Which graph? Give it as NAME. There are: town."),
        ("label", "Which label? Give it as POOL/ID; the list of a pool has the ids."),
    ):
        with pytest.raises(CommandError) as caught:
            call_command("show", kind)
        assert str(caught.value) == asks


@pytest.mark.parametrize("command", ["list", "show", "archive", "remove"])
def test_help_of_a_verb_leaves_out_the_kind_that_its_group_says(command):
    made = load_command_class(get_commands()[command], command)
    assert "{graph," not in made.create_parser("triplepool graph", command).format_help()
    assert "{graph," in made.create_parser("manage.py", command).format_help()


def test_a_list_is_narrowed(world):
    assert "town-pool" in {row["name"] for row in listed("pool", "town")} and listed("pool", "none") == []
    assert {row["graph"] for row in listed("system", "town")} == {"town"}
    with pytest.raises(UserError, match="whole"):
        listed("measure", "town")
    with pytest.raises(UserError, match="of a pool"):
        listed("label")


def test_show_prints_a_field_a_line(world, capsys):
    call_command("show", "graph", "town")
    said = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert (said["name"], said["archived"]) == ("town", "no")
