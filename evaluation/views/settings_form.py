"""The form of settings above the analysis pages and the report."""

from collections.abc import Collection
from typing import Any

from django.http import HttpRequest

from evaluation.labels.label_sets import LabelChoice, label_sets
from evaluation.measures.registry import parse_measure
from evaluation.sections.settings import ANSWERS, ASSUMED, QUESTION_SETS, Settings, offered_measures
from pooling.models import Pool
from pooling.training.train import systems_with_runs


def settings_form(request: HttpRequest, pool: Pool, taken: Collection[str], settings: Settings) -> dict[str, Any]:
    """Return the context of analysis_form.html; `taken` names the settings that the page takes."""
    choices = label_sets(pool, request.user) if {"labels", "against"} & set(taken) else []
    for key in {settings.labels, settings.against} - {choice.key for choice in choices}:
        if not key.startswith("until:"):  # the form offers what the address asks for, too
            choices.append(LabelChoice(key, key, "Chosen"))
    return {
        "settings": settings,
        "label_choices": choices,
        "measure_choices": [parse_measure(name) for name in offered_measures((*settings.measures, settings.measure))],
        "question_sets": QUESTION_SETS,
        "assumed_choices": ASSUMED,
        "answers_choices": ANSWERS,
        "system_choices": [s.name for s in systems_with_runs(pool)] if "system" in taken else [],
    }
