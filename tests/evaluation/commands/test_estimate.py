"""The command estimate: the same values as the domain, as text and as JSON; its refusal."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.campaigns.lifecycle import open_campaign
from evaluation.estimates.estimate import TEXTS, estimate
from evaluation.estimates.kernels.quantities import LISTS, MEASURED, MODELLED, NO_INTERVAL
from pooling.models import Pool
from tests.factories import judge


@pytest.fixture
def sampled(pool: Pool) -> Pool:
    open_campaign(pool, order="random", batch_size=27, whole_questions=False, seed=3)
    for item in pool.campaign.items.exclude(place=None).select_related("triple"):
        judge(item.triple, "positive" if item.place % 3 == 0 else "negative")
    return pool


def run(*args: str) -> str:
    out = StringIO()
    call_command("estimate", *args, stdout=out)
    return out.getvalue()


def test_json_has_every_estimate_with_its_interval(sampled: Pool):
    given = json.loads(run("p", "--json", "--questions", "original", "--seed", "5", "--assumed", "unjudged"))
    found = estimate(sampled, questions="original", assumed_is_judged=False, seed=5)
    triples = sampled.triples.filter(reason="").count()
    assert given["strata"] == [{"name": "all triples", "triples": triples, "judged": 27, "positive": 9, "undecided": 0}]
    assert (given["order"], given["waiting"], given["behind"], given["aside"]) == ("Random", 0, 0, 0)
    assert (given["notes"], given["narrow"], given["texts"]) == ([], "", TEXTS)
    assert list(given["systems"]) == found.systems and found.plain is not None
    for i, system in enumerate(found.systems):
        row = given["systems"][system]
        assert row["infap"] == found.plain[i]
        for name in (*MEASURED, *(one.name for one in LISTS)):
            why = NO_INTERVAL["unbiased" if name in MEASURED else "lists"]
            value = found.unbiased[name].value[i]
            assert row["unbiased"][name] == {"value": value, "low": None, "high": None, "no_interval": why}
        assert row["modelled"] == {
            name: {"value": one.value[i], "low": one.low[i], "high": one.high[i]}
            for name in (*MEASURED, *MODELLED)
            for one in [found.modelled[name]]
        }
    assert given["infap_no_interval"] == NO_INTERVAL["lists"]
    for name in ("positives", "answers", "questions"):
        for key, one in (("counts", found.unbiased[name]), ("counts_modelled", found.modelled[name])):
            expected = {"value": one.value[0], "low": one.low[0], "high": one.high[0]}
            if name == "questions":
                why = NO_INTERVAL["unbiased" if key == "counts" else "questions"]
                expected |= {"low": None, "high": None, "no_interval": why}
            assert given[key][name] == expected, (key, name)


def test_text_has_the_sample_and_a_line_for_each_system(sampled: Pool):
    sampled.campaign.items.get(place=20).triple.judgement.delete()
    found = estimate(sampled)
    lines = run("p").splitlines()
    triples = sampled.triples.filter(reason="").count()
    assert lines[0] == f"all triples: 26 of {triples} triples drawn and judged, 9 positive"
    assert lines[1] == found.drawn.notes[0]
    positives = [part[0] for part in found.unbiased["positives"]]
    assert lines[2].startswith("Positive triples: {:.0f} ({:.0f} to {:.0f}); by the model ".format(*positives))
    questions = found.unbiased["questions"].value[0]
    assert lines[4].startswith(f"Questions with an answer: {questions:.0f} (no interval); by the model ")
    at = lines.index("macro_mrr, by the model:")
    first = [part[0] for part in found.modelled["macro_mrr"]]
    assert lines[at + 1].split() == "{} {:.4f} ({:.4f} to {:.4f})".format(found.systems[0], *first).split()
    assert lines[lines.index("xinfap, lists:") - 1] == f"Lists. {TEXTS['lists']} No interval: {NO_INTERVAL['lists']}"
    assert len(lines) == 2 + 3 + 3 + (2 * len(MEASURED) + len(MODELLED) + len(LISTS)) * (1 + len(found.systems))


def test_refusal_is_in_words(labelled: Pool):
    with pytest.raises(CommandError, match="Pool p has no campaign, so nothing was drawn for judging"):
        run("p")
    with pytest.raises(CommandError, match="nope"):
        run("nope")


def test_text_says_where_intervals_are_too_short(pool: Pool):
    open_campaign(pool, order="random", batch_size=9, whole_questions=False, seed=3)
    for item in pool.campaign.items.select_related("triple"):
        judge(item.triple, "negative")
    narrow = (
        "All judged triples of all triples have the same label, which tells nothing of their spread: the intervals of"
        " unbiased counts are too short."
    )
    assert run("p").splitlines()[1] == narrow
    assert json.loads(run("p", "--json"))["narrow"] == narrow
