"""plan and reusability in a shell: words for people, JSON for scripts, errors that say what to do."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError

from evaluation.planning.sections import plan_json
from evaluation.reusability.sections import reusability_json
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.evaluation.commands.test_commands import run


def test_plan(labelled: Pool):
    found = plan_json(labelled)
    assert json.loads(run("plan", "p", "--json")[0]) == found
    out = run("plan", "p")[0].splitlines()
    assert out[:2] == found["says"]
    assert out[3].split()[0] == "micro_mrr" and out[3].split()[4:] == [
        str(found["order"]["micro_mrr"]["undecided"]),
        "of",
        "3",
    ]
    left = found["left"]["pool"]["labels"]
    row = next(line for line in out if line.startswith("to the pool"))
    assert row.split()[3:] == [*(f"{left[key]:,.0f}" for key in ("value", "low", "high")), "–"]
    assert next(line for line in out if line.startswith("to the budget")).endswith("the campaign has no budget")
    assert out[-1].endswith(found["relations"][-1]["relation"])


def test_plan_prints_the_first_relations_only(labelled: Pool, monkeypatch):
    monkeypatch.setattr("evaluation.management.commands.plan.FIRST", 1)
    out = run("plan", "p")[0].splitlines()
    more = len(plan_json(labelled)["relations"]) - 1
    assert out[-1] == f"and {more} more relations: --json has all of them"


def test_reusability(labelled: Pool):
    settings = Settings(measures=("micro_mrr", "bpref"), share=0.5)
    found = json.loads(json.dumps(reusability_json(labelled, settings)))
    arguments = ("reusability", "p", "--measures", "micro_mrr,bpref", "--judged-share", "0.5")
    assert json.loads(run(*arguments, "--json")[0]) == found
    out = run(*arguments)[0].splitlines()
    assert out[: len(found["says"])] == found["says"]
    assert [line for line in out if "without one" in line] == [
        f"{name}, without one {what}:" for what in ("system", "family") for name in ("micro_mrr", "bpref")
    ]
    assert [line.split()[0] for line in out[-3:]] == list(found["judged"])
    assert [line.split()[-1] for line in out[-3:]] == ["yes"] * 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "none"), "There is no pool 'none'"),
        (("reusability", "none"), "There is no pool 'none'"),
        (("reusability", "p", "--labels", "full-test"), "was not pooled"),
        (("reusability", "p", "--share", "2"), "share is '2': give a number from 0 to 1."),
        (("reusability", "p", "--measures", "nope"), "unknown measure 'nope'"),
    ],
)
def test_what_cannot_be_is_said(labelled: Pool, arguments, words):
    with pytest.raises(CommandError, match=words):
        run(*arguments)
