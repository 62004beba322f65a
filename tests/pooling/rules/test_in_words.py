"""Rules in words, as they stand in the file; a system that mines them is trained, ranked and shown like others."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.files.artifacts import ArtifactError, artifact_path, sha256_of
from pooling.enums import SystemState
from pooling.graphs.opening import open_graph
from pooling.models import Graph, System
from pooling.questions.default_templates import default_template
from pooling.rules.in_words import WEIGHTS, RuleRow, rules_in_words, rules_page, rules_tsv, statement_of
from pooling.rules.kernels.rule_table import read_rules
from pooling.runs.score import score_system
from pooling.training.train import create_systems
from tests.factories import make_system
from tests.pooling.relatives import mine_relatives

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def system(db, tmp_path: Path) -> System:
    return mine_relatives(tmp_path / "tsv")


def test_training_mines_and_fills_the_row(system: System):
    assert (system.state, system.epochs_done, system.device) == (SystemState.TRAINED, 1, "cpu")
    assert system.sha256 == sha256_of(artifact_path(system.artifact) / "rules.npz")
    assert system.validation_mrr == 1.0
    assert [(row["epoch"], row["loss"], row["validation_mrr"]) for row in system.history] == [(1, None, 1.0)]


def test_rules_are_said_with_the_words_of_the_graph(system: System):
    assert rules_in_words(system, relation=2) == [
        RuleRow(
            "uncle of", "If X is a brother of A and A is mum or dad of Y then X is an uncle of Y.", 5, 7, 5 / 12, 1, ()
        )
    ]


def test_inverse_atoms_are_said_forwards(system: System):
    (rule,) = [row for row in rules_in_words(system, relation=0) if row.confidence == 5 / 10]
    assert rule.words == "If X is an uncle of A and Y is mum or dad of A then X is a brother of Y."


def test_page_shows_the_first_of_all_or_of_one_relation(system: System, monkeypatch):
    every = rules_page(system, None)
    assert every is not None
    assert [name for _, name, _ in every.relations] == ["brother of", "parent of", "uncle of"]
    assert every.total == len(every.rows) == sum(count for *_, count in every.relations)
    confidences = [row.confidence for row in every.rows]
    assert confidences == sorted(confidences, reverse=True)
    one = rules_page(system, "2")
    assert one is not None and (one.rows, one.total, one.chosen) == (rules_in_words(system, 2), 1, 2)
    assert rules_page(system, "99") == rules_page(system, "x") == rules_page(system, "2" * 5000) == every
    assert rules_in_words(system, limit=1) == every.rows[:1]


@pytest.mark.parametrize(("kind", "number"), [("plogicnet", 1), ("rnnlogic", 2), ("rnnlogic-plus", 2)])
def test_learned_weights_stand_beside_the_rules(tmp_path: Path, kind: str, number: int):
    system = mine_relatives(tmp_path / "tsv", kind)
    page, kept = rules_page(system, None), read_rules(artifact_path(system.artifact) / "rules.npz")
    assert page is not None and page.weights == WEIGHTS[number]
    assert len(page.rows) == len(kept) > 0
    largest = [max(row.weights) for row in page.rows]
    assert largest == sorted(largest, reverse=True) and {len(row.weights) for row in page.rows} == {number}
    head, *lines = [line.rstrip("\n").split("\t") for line in rules_tsv(system)]
    assert head[6:] == [name.replace(" ", "_") for name in WEIGHTS[number]]
    written = [[float(cell) for cell in line[6:]] for line in lines]
    assert written == [pytest.approx(weights, rel=1e-5) for weights in kept.weight.tolist()]
    uncle = open_graph(system.graph).test
    run = score_system(system, seeds=uncle, triples=uncle)
    assert (run.num_questions, run.num_rank_rows) == (2, 2)


def test_systems_without_rules_show_none(system: System, town: Graph):
    vectors = make_system(town, "transe", trained=False)
    vectors.sha256 = system.sha256
    assert rules_page(vectors, None) is None
    (waiting,) = create_systems(town, ["rules"], {})
    assert rules_page(waiting, None) is None


def test_tsv_has_every_rule_with_its_variables(system: System):
    head, *lines = rules_tsv(system)
    assert head.rstrip("\n").split("\t") == ["relation", "body", "support", "cases", "share_counted", "confidence"]
    assert "uncleOf\tbrotherOf(X, A), parentOf(A, Y)\t5\t7\t1\t0.416667\n" in lines
    assert "brotherOf\tuncleOf(X, A), parentOf(Y, A)\t5\t5\t1\t0.5\n" in lines
    assert len(lines) == rules_page(system, None).total


def test_a_file_that_was_changed_is_not_read(system: System):
    (artifact_path(system.artifact) / "rules.npz").write_bytes(b"something else")
    for read in (rules_in_words, rules_tsv):
        with pytest.raises(ArtifactError, match=r"rules\.npz is not the file that was written"):
            read(system)


def test_rules_are_ranked_like_any_system(system: System):
    uncle = open_graph(system.graph).test
    run = score_system(system, seeds=uncle, triples=uncle)
    assert (run.num_questions, run.num_rank_rows) == (2, 2)


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        ("parentOf", "{subject} is a parent of {object}"),
        ("/film/film/genre", "{object} is a genre of {subject}"),
        ("treats", "{subject} treats {object}"),
        ("carries", "{subject} carries {object}"),
        ("teaches", "{subject} teaches {object}"),
        ("plays", "{subject} plays {object}"),
        ("works_for", "{subject} works for {object}"),
        ("has_part", "{subject} has {object} as part"),
        ("partially_contains", "{subject} partially contains {object}"),
        ("/film/film/music", "the music of {subject} is by {object}"),
        ("P31", "“P31” leads from {subject} to {object}"),
    ],
)
def test_statements_of_default_templates(relation: str, said: str):
    assert statement_of(default_template(relation).statement) == said


def test_statement_of_other_words():
    assert statement_of("Did {subject} marry {object}?") == "{subject} did marry {object}"
    assert statement_of("In {object}, is {subject} king?") == ("the answer to “In {object}, is {subject} king?” is yes")
