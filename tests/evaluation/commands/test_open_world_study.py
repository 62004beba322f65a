"""The command of a study: its tables, its JSON, and what it refuses."""

import json

import pytest
from django.core.management import CommandError, call_command

from tests.evaluation.studies import finish, make_study


@pytest.mark.django_db(transaction=True)
def test_open_world_study_finished_is_printed_and_nothing_is_trained(capsys):
    finish(make_study())
    call_command("open_world_study", "tiny")
    printed = capsys.readouterr().out
    titles = [line.split(". ")[0] for line in printed.splitlines() if ". " in line]
    assert sorted(titles) == [
        "Degradation and inconsistency",
        "What it rests on",
        *["When predictions decide what is missing"] * 2,
    ]
    call_command("open_world_study", "tiny", "--json", "--chooser", "transe")
    found = json.loads(capsys.readouterr().out)
    assert {view["chooser"] for view in found["views"]} == {"transe"}
    assert [(view["density"], view["division"]) for view in found["views"]] == [
        (density, division)
        for density in (0.9, 0.6)
        for division in ("independent", "predicted-present", "predicted-missing")
    ]


@pytest.mark.django_db
def test_open_world_study_with_other_options_refused():
    make_study()
    with pytest.raises(CommandError, match="Study tiny was made with other seed, densities"):
        call_command("open_world_study", "tiny", "--density", "0.5", "--seed", "9")
    with pytest.raises(CommandError, match="Study tiny was made with other settings"):
        call_command("open_world_study", "tiny", "--set", "epochs=9")
    with pytest.raises(CommandError, match="--set epochs: write KEY=VALUE"):
        call_command("open_world_study", "other", "--set", "epochs")
    with pytest.raises(CommandError, match="a density must lie within 0 and 1"):
        call_command("open_world_study", "other", "--density", "2")
