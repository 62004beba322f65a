"""open_world in a shell: numbers of settings or of a pool, JSON for scripts, errors that say what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError

from evaluation.open_world.sections import ANALYSIS
from evaluation.open_world.theory_page import sections_of
from evaluation.open_world.theory_settings import TheorySettings
from evaluation.sections.compared import compared_notes, compared_of
from pooling.models import Pool
from tests.evaluation.cases import context_of, lists_of_transe_without_some
from tests.evaluation.commands.test_commands import run


def as_json(sections) -> list:
    return json.loads(json.dumps([section.content() for section in sections]))


def test_settings():
    arguments = ("open_world", "--n", "20", "--beta", "0.5", "--metric", "p_mrr", "--rho=-0.1")
    settings = TheorySettings(n=20, beta=0.5, metric="p_mrr", rho=-0.1)
    assert json.loads(run(*arguments, "--json")[0]) == as_json(sections_of(settings))
    out = run(*arguments)[0]
    assert "At these settings" in out and "An example" not in out
    row = next(line for line in out.splitlines() if line.startswith("p-MRR"))
    expected = sections_of(settings)[1].tables[0].rows[0]
    assert row.split() == ["p-MRR", *(f"{value:.4f}" for value in expected[1:])]


def test_a_pool(labelled: Pool):
    (part,) = ANALYSIS.parts
    found = part.compute(context_of(labelled))
    assert json.loads(run("open_world", "--pool", "p", "--json")[0]) == as_json(found)
    out = run("open_world", "--pool", "p")[0]
    for section in found:
        assert f"\n{section.title}\n{section.finding}\n" in out


def test_chosen_systems_are_compared_on_their_common_questions(labelled: Pool, tmp_path: Path):
    lists_of_transe_without_some(labelled, tmp_path)
    (part,) = ANALYSIS.parts
    for systems in ((), ("transe", "theirs"), ("transe", "distmult")):
        context = context_of(labelled, systems=systems)
        out, err = run("open_world", "--pool", "p", "--json", "--systems", ",".join(systems))
        assert json.loads(out) == as_json(part.compute(context))
        assert err.splitlines() == list(compared_notes(compared_of(context)))
        assert bool(err) == (systems != ("transe", "distmult"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--pool", "none"), "There is no pool 'none'"),
        (("--pool", "p", "--labels", "seeds"), "No candidate is judged under seeds only"),
        (("--pool", "p", "--n", "3"), "--n is not of a pool: leave it out, or --pool"),
        (("--pool", "p", "--systems", "rotate"), "rotate: not evaluated on this pool. A private run is"),
        (("--systems", "transe"), "--systems is of a pool: name it with --pool"),
        (("--labels", "seeds"), "--labels is of a pool: name it with --pool"),
        (("--beta", "2"), "β (beta) is '2'"),
    ],
)
def test_what_cannot_be_is_refused(labelled: Pool, arguments: tuple[str, ...], words: str):
    with pytest.raises(CommandError) as error:
        run("open_world", *arguments)
    assert words in str(error.value)
