"""max_k in a shell: words for people, JSON for scripts, errors that say what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError

from evaluation.max_k.sections import max_k_json
from pooling.models import Pool
from tests.evaluation.cases import lists_of_transe_without_some
from tests.evaluation.commands.test_commands import run
from tests.evaluation.max_k.test_stored_runs import store, stored  # noqa: F401 - a fixture


def test_json(stored: Pool):  # noqa: F811
    out, err = run("max_k", "p", "--labels", "seeds", "--k", "1, 5", "--questions", "original", "--json")
    assert json.loads(out) == max_k_json(stored, "seeds", [1, 5], "original")
    assert err == ""


def test_words(stored: Pool):  # noqa: F811
    found = max_k_json(stored, "current", [1, 10, 100])
    lines = run("max_k", "p")[0].splitlines()
    assert lines[0] == f"current labels: {found['questions']:,} questions"
    assert lines[2] == "filtered (answers of train and valid are wrong)"
    assert lines[3].split() == ["P@1", "R@1", "F1@1", "P@10", "R@10", "F1@10", "P@100", "R@100", "F1@100"]
    row = next(line for line in lines if line.split()[:2] == ["distmult", "Greedy"])
    greedy = found["systems"]["distmult"]["filtered"]["protocols"]["Greedy"]
    assert row.split()[2:] == [f"{value:.3f}" for by_k in greedy.values() for value in by_k.values()]
    about = next(line for line in lines[lines.index(row) :] if line.split()[0] == "α")
    one = found["systems"]["distmult"]
    assert about.strip() == (
        f"α {one['alpha']:g}, TVD {one['tvd']:.4f}, mass of the right answers {one['filtered']['mass']:.4f}"
    )
    last = found["limits"]["raw"]["max-k"]
    assert lines[-1].split()[2:] == [f"{value:.3f}" for by_k in last.values() for value in by_k.values()]


def test_who_is_left_out_is_said(labelled: Pool):
    store(labelled, "distmult")
    out, err = run("max_k", "p", "--k", "5")
    assert err.startswith("Left out: transe, its run lacks its distributions; score_runs p stores them")
    assert "distmult" in out and "transe" not in out


def test_an_imported_run_that_was_not_asked_all_is_named_and_takes_no_question(stored: Pool, tmp_path: Path):  # noqa: F811
    every = max_k_json(stored, "current", [5])
    lists_of_transe_without_some(stored, tmp_path)
    out, err = run("max_k", "p", "--k", "5", "--json")
    found = json.loads(out)
    assert found["questions"] == found["compared"]["questions"] == found["compared"]["of"] == every["questions"]
    assert err.splitlines() == [f"Left out: theirs, {found['left_out']['theirs']}"]
    assert (list(found["left_out"]), found["compared"]["lacking"]) == (["theirs"], {})
    out, err = run("max_k", "p", "--k", "5", "--json", "--systems", ",".join(every["systems"]))
    assert (json.loads(out), err) == (every, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none",), "There is no pool 'none'"),
        (("p", "--k", "ten"), "--k is 'ten': give numbers with commas"),
        (("p", "--k", "0"), "k is 0: a run keeps the first 100"),
        (("p", "--labels", "nonsense"), "Unknown label set"),
    ],
)
def test_what_cannot_be_is_said(stored: Pool, arguments, words):  # noqa: F811
    with pytest.raises(CommandError, match=words):
        run("max_k", *arguments)
