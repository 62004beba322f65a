"""open_world in a shell: numbers of settings or of a pool, JSON for scripts, errors that say what to do."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError

from evaluation.open_world.sections import ANALYSIS
from evaluation.open_world.theory_page import sections_of
from evaluation.open_world.theory_settings import TheorySettings
from pooling.models import Pool
from tests.evaluation.cases import context_of
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--pool", "none"), "There is no pool 'none'"),
        (("--pool", "p", "--labels", "seeds"), "No candidate is judged under seeds only"),
        (("--pool", "p", "--n", "3"), "--n is not of a pool: leave it out, or --pool"),
        (("--labels", "seeds"), "--labels is of a pool: name it with --pool"),
        (("--beta", "2"), "β (beta) is '2'"),
    ],
)
def test_what_cannot_be_is_refused(labelled: Pool, arguments: tuple[str, ...], words: str):
    with pytest.raises(CommandError) as error:
        run("open_world", *arguments)
    assert words in str(error.value)
