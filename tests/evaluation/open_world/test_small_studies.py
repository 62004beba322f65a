"""Studies so small that something in them is empty: a message or a page, never a traceback."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.core.management import call_command

from core.errors import UserError
from evaluation.management.commands.open_world_study import NOTHING
from evaluation.open_world import study as module
from evaluation.open_world.study import create_study, options_of, prepare_study
from evaluation.open_world.study_curves import DIVISIONS, StudyView, chooser_of
from evaluation.open_world.study_sections import study_sections
from pooling.models import System
from tests.evaluation.studies import TINY, finish

SHOWN = {
    "nearly nothing is missing": {"densities": (0.999,)},
    "nearly all is missing": {"densities": (0.05,)},
    "one system": {"systems": ("distmult",)},
    "one epoch": {"settings": {"epochs": "1", "embedding_dim": "4"}},
    "little to train on": {"train_share": 0.1, "densities": (0.3,)},
    "all but a fact to train on": {"train_share": 0.99, "densities": (0.99,)},
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", SHOWN)
def test_study_of_little_is_shown(what: str):
    study = create_study("little", replace(TINY, **SHOWN[what]))
    prepare_study(study)
    finish(study)
    for density in options_of(study).densities:
        for division in DIVISIONS:
            sections = study_sections(study, StudyView(density, division, chooser_of(study)))
            assert (what == "one system" and division != "independent") or len(sections) >= 9
            json.dumps([section.content() for section in sections], allow_nan=False)


REFUSED = {
    "few people": ({"people": 4, "families": 2}, "no tail question has 4 answers or more"),
    "one question": ({"questions": 1}, "the test set answers 0 of its 1 questions"),
    "no such question": ({"min_answers": 10_000}, "no tail question has 10,000 answers or more"),
    "three people": ({"people": 3, "families": 1, "densities": (0.95,)}, "nothing to compare|Family trees"),
}


@pytest.mark.django_db
@pytest.mark.parametrize("what", REFUSED)
def test_study_with_nothing_to_compare_says_so_and_trains_nothing(what: str):
    changed, words = REFUSED[what]
    study = create_study("little", replace(TINY, **changed))
    for _ in range(2):  # asked again, it says the same
        with pytest.raises(UserError, match=words):
            prepare_study(study)
    assert not System.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_study_made_before_this_was_refused_has_no_curves(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(module, "_check_answers", lambda *_: None)
    study = create_study("little", replace(TINY, questions=1, densities=(0.9,)))
    prepare_study(study)
    finish(study)
    assert study_sections(study, StudyView(0.9, "independent", "")) == []
    call_command("open_world_study", "little")
    assert capsys.readouterr().out == f"little: {NOTHING}\n"
