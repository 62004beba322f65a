"""probe in a shell: values and shares as the page has them, words for what is undefined or cannot be."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError

from evaluation.probe.sections import probe_json
from evaluation.sections.settings import Settings
from pooling.models import Pool
from tests.evaluation.commands.test_commands import run


def test_probe(labelled: Pool):
    found = probe_json(labelled, Settings(labels="seeds", sharpness=0.25, robustness=1.0))
    arguments = ("probe", "p", "--labels", "seeds", "--sharpness", "0.25", "--robustness", "1")
    assert json.loads(run(*arguments, "--json")[0]) == json.loads(json.dumps(found))
    first, header, *lines, last = run(*arguments)[0].splitlines()
    assert first == f"seeds only: {found['n']} answers, {found['entities']} entities"
    assert header.split() == ["system", "a=0.25", "b=1", "best", "at"]
    shown = {name: (value, share) for name, value, share, _ in (line.split() for line in lines[:3])}
    assert shown == {
        name: (f"{value:.4f}", f"{100 * found['best'][name]:.1f}") for name, value in found["systems"].items()
    }
    assert last == (
        f"Orders of the systems on the map: {found['orders']}; at {100 * found['order_of_mrr']:.1f} % of its points"
        " that of MRR"
    )


def test_probe_without_an_answer_says_so(labelled: Pool):
    labelled.seeds.all().delete()
    labelled.judgements.all().delete()
    assert run("probe", "p")[0].splitlines()[1] == "Undefined: no question has an answer under these labels."
    found = json.loads(run("probe", "p", "--json")[0])
    assert set(found["systems"].values()) == set(found["best"].values()) == {None}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none",), "There is no pool 'none'"),
        (("p", "--labels", "nope"), "Unknown label set 'nope'"),
        (("p", "--sharpness", "-1"), "sharpness is '-1': give a number from 0 to 10."),
        (("p", "--robustness", "nan"), "robustness is 'nan': give a number from 0 to 10."),
    ],
)
def test_what_cannot_be_is_said(labelled: Pool, arguments, words):
    with pytest.raises(CommandError, match=words):
        run("probe", *arguments)


def test_probe_prints_mean_and_deviation_below_the_chosen_seed(with_seeds: Pool):
    out, err = run("probe", "p", "--seeds", "families")
    family = probe_json(with_seeds, Settings(seeds="families"))["families"]["transe-s1"]
    lines = out.splitlines()[2:]
    assert [line.split()[0] for line in lines[:5]] == ["transe-s1", "mean", "standard", "distmult", "complex"]
    assert lines[1].split() == ["mean", "of", "3", "seeds", f"{family['mean']:.4f}"]
    assert lines[2].split() == ["standard", "deviation", f"{family['sd']:.4f}"]
    assert "transe-s1 of 3" in err
