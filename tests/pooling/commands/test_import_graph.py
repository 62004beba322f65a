"""The import_graph command: what it prints, and what it refuses."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from pooling.models import Graph

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("import_graph", *arguments, stdout=out, stderr=err, no_color=True)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.tsv").write_text("a\tr\tb\nb\tr\tc\na\tr\tb\n")
    (tmp_path / "valid.tsv").write_text("a\tr\tc\n")
    (tmp_path / "test.tsv").write_text("c\tr\ta\n")
    return tmp_path


def test_import_graph_tsv_prints_counts_and_report(folder):
    out, err = run("tiny", "--tsv", str(folder))
    assert out == (
        "Graph tiny: 3 entities, 1 relation, 2 train triples, 1 valid triple, 1 test triple.\n"
        "- 1 triple stood more than once in a split; the first was kept.\n"
        "    train.tsv:3 repeats train.tsv:1 (a r b)\n"
    )
    assert err.startswith(f"reading {folder}\ncheck triples: 0 of 1\n")


def test_import_graph_json(folder):
    out, _ = run("tiny", "--tsv", str(folder), "--json")
    assert json.loads(out) == {
        "name": "tiny",
        "source": "tsv",
        "entities": 3,
        "relations": 1,
        "train": 2,
        "valid": 1,
        "test": 1,
        "closed_world": False,
        "report": [
            {
                "kind": "duplicate-triples",
                "count": 1,
                "message": "1 triple stood more than once in a split; the first was kept.",
                "examples": ["train.tsv:3 repeats train.tsv:1 (a r b)"],
            }
        ],
    }


def test_import_graph_family_tree_remembers_its_options():
    run("fam", "--family-tree", "--families", "2", "--people", "20", "--density", "0.9")
    graph = Graph.objects.get()
    assert graph.has_closed_world
    assert graph.options == {
        "family_tree": {"families": 2, "people": 20, "seed": 42, "density": 0.9, "train_share": 0.7, "grown": False},
        "unseen": "keep",
    }


def test_import_graph_pykeen():
    out, _ = run("nations", "--pykeen", "Nations")
    assert out == (
        "Graph nations: 14 entities, 55 relations, 1,592 train triples, 199 valid triples, 201 test triples.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("--pykeen", "Nations", "--seed", "3", "--train-share", "0.5"),
            "--seed, --train-share: only with --family-tree; leave it out or draw families.",
        ),
        (
            ("--tsv", "/no/such"),
            "/no/such is not a folder: give the folder that holds train.tsv, valid.tsv and test.tsv.",
        ),
        (("--family-tree", "--people", "1"), "Family trees: people must be from 3 to 1,000, not 1."),
    ],
)
def test_import_graph_refused(arguments, expected):
    with pytest.raises(CommandError) as caught:
        run("g", *arguments)
    assert str(caught.value) == expected
    assert not Graph.objects.exists()


def test_import_graph_existing_name_refused_before_reading(folder):
    run("tiny", "--tsv", str(folder))
    with pytest.raises(CommandError) as caught:
        run("tiny", "--tsv", "/no/such")
    assert str(caught.value) == ("There is a graph tiny already: choose another name, or delete that one first.")


def test_import_graph_needs_one_source():
    with pytest.raises(CommandError) as caught:
        run("g")
    assert str(caught.value) == ("Error: one of the arguments PATH --tsv --pykeen --family-tree is required")


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder in a layout that is not this program's own."""
    (tmp_path / "train.csv").write_text("subject,object,predicate\n" + "a,b,r\nb,c,r\nc,a,s\na,c,s\n" * 2)
    (tmp_path / "dev.csv").write_text("subject,object,predicate\na,c,r\n")
    (tmp_path / "test.csv").write_text("subject,object,predicate\nb,a,s\n")
    return tmp_path


def test_a_path_is_read_by_its_layout_and_shown_before(published: Path):
    out, err = run("g", str(published), "--yes")
    assert "Graph g: 3 entities, 2 relations, 4 train triples, 1 valid triple, 1 test triple." in out
    assert "    a | r | b" in err and "columns subject, object, predicate" in err
    graph = Graph.objects.get(name="g")
    assert graph.options["layout"] == "files of triples"
    repeats = next(entry for entry in graph.report if entry["kind"] == "duplicate-triples")
    assert repeats["examples"][0].startswith("train.csv:6")  # the header is line 1


@pytest.mark.parametrize(("answer", "made"), [("y", True), ("n", False), ("", False)])
def test_somebody_at_the_shell_is_asked(published: Path, answer: str, made: bool, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda: answer)
    out, err = run("g", str(published))
    assert "Import this? [y/N]" in err
    assert Graph.objects.filter(name="g").exists() == made
    assert ("Nothing was imported." in out) == (not made)


def test_a_script_says_yes_or_nothing_is_imported(published: Path, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    with pytest.raises(CommandError, match="add --yes to import it as shown"):
        run("g", str(published))
    assert not Graph.objects.exists()
