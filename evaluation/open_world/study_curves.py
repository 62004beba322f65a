"""Compute sparse and full metrics of the checkpoints of a study, under three divisions of the open answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from core.files.artifacts import check_sha256
from core.files.storage import local
from evaluation.measures.prepared import Prepared
from evaluation.measures.rank_table import Flags, Floats
from evaluation.models import Study, StudyRun
from evaluation.open_world.kernels.study import (
    correlation,
    divide_by_prediction,
    filtered_ranks,
    metric_values,
    prepare_answers,
)
from evaluation.open_world.kernels.theory import expected_metric, expected_simulated
from evaluation.open_world.study import StudyError, options_of
from evaluation.open_world.study_files import StudyRanks, read_ranks
from pooling.systems.shown_names import shown_name

DIVISIONS = {  # how the missing ones are chosen among the open answers
    "independent": "drawn",
    "predicted-present": "what {chooser} predicts is there",
    "predicted-missing": "what {chooser} predicts is missing",
}


def division_words(division: str, chooser: str) -> str:
    """Say how the missing ones are chosen: "what ComplEx predicts is there"."""
    return DIVISIONS[division].format(chooser=shown_name(chooser))


class CheckpointValues(NamedTuple):
    """Values of one system under one division, a value per checkpoint in the order of the epochs."""

    epochs: list[int]
    full: dict[str, Floats]  # by metric, [checkpoints]
    sparse: dict[str, Floats]
    strength: Floats  # ℓ: share of the open answers above or level with which no wrong entity stands, [checkpoints]
    rho: float  # of "missing" and "predicted" at the last checkpoint
    asked: int  # questions with an open answer
    asked_sparse: int  # with a test answer
    open: int  # answers
    test: int


class SystemCurve(NamedTuple):
    """A run and its values."""

    run: StudyRun
    values: CheckpointValues

    @property
    def system(self) -> str:
        return self.run.system.name


@dataclass(frozen=True)
class DensityCurves:
    """All systems of one density under one division, without the `chooser`, whose predictions divide."""

    density: float
    curves: list[SystemCurve]
    chooser: str = ""


def chooser_of(study: Study, asked: str = "") -> str:
    """Return the system whose predictions divide: the chosen one, else the paper's ComplEx, else the first."""
    systems = options_of(study).systems
    names = [run.system.name for run in study.runs.select_related("system")] or list(systems)
    if asked and asked not in names:
        raise StudyError(f"Study {study.name} has no system {asked[:40]}: it has {', '.join(dict.fromkeys(names))}.")
    return asked or ("complex" if "complex" in names else names[0])


def densities_of(study: Study, division: str = "independent", chooser: str = "") -> list[DensityCurves]:
    """Return what was evaluated so far, the highest density first. StudyError for an unknown division."""
    if division not in DIVISIONS:
        raise StudyError(f"There is no division {division[:40]!r}: there are {', '.join(DIVISIONS)}.")
    runs = list(study.runs.filter(checkpoints__gt=0).select_related("study", "graph", "system"))
    chosen = "" if division == "independent" else chooser_of(study, chooser)
    found = []
    for density in dict.fromkeys(run.density for run in runs):
        here = [run for run in runs if run.density == density]
        by = next((run for run in here if run.system.name == chosen and run.sha256), None)
        if chosen and by is None:
            continue  # it divides by its last checkpoint, which is not there yet
        every = (_curve(run, division, by) for run in here if run != by)
        curves = [curve for curve in every if curve.values.asked_sparse]  # of no test answer there is no curve
        found.append(DensityCurves(density, curves, chosen))
    return found


def _curve(run: StudyRun, division: str, by: StudyRun | None) -> SystemCurve:
    chooser = (by.artifact, _stamp(by)) if by else (None, "")
    return SystemCurve(run, _values(run.artifact, _stamp(run), division, *chooser))


def _stamp(run: StudyRun) -> str:
    return f"{run.sha256}/{run.checkpoints}"


@lru_cache(maxsize=512)
def _values(reference: str, stamp: str, division: str, by: str | None, by_stamp: str) -> CheckpointValues:
    ranks, prepared = _opened(reference, stamp)
    every = np.ones_like(ranks.test)
    test = ranks.test if by is None else _divided(ranks, *_opened(by, by_stamp), division)
    found = filtered_ranks(prepared, every) <= 1
    return CheckpointValues(
        ranks.epochs.tolist(),
        metric_values(prepared, every),
        metric_values(prepared, test),
        found.mean(axis=1),
        correlation(~test, found[-1]),
        np.unique(ranks.question).size,
        np.unique(ranks.question[test]).size,
        len(test),
        int(np.count_nonzero(test)),
    )


def _opened(reference: str, stamp: str) -> tuple[StudyRanks, Prepared]:
    path = local(reference, newest=True)  # it grows until the last checkpoint
    if sha256 := stamp.partition("/")[0]:
        check_sha256(path, sha256)
    ranks = read_ranks(path)
    if ranks is None:
        raise StudyError(f"{path.name} of the study is missing: restore the artifact folder.")
    return ranks, prepare_answers(ranks.question, ranks.entity, ranks.strict, ranks.optimistic, ranks.pessimistic)


def _divided(ranks: StudyRanks, chooser: StudyRanks, prepared: Prepared, division: str) -> Flags:
    """Return the test answers, bool [w], where the last checkpoint of a system divides.

    Equal ranks are drawn alike for all systems.
    """
    if not np.array_equal(ranks.entity, chooser.entity):
        raise StudyError("Two systems of one density were asked different questions: make the study anew.")
    last = filtered_ranks(prepared, np.ones_like(ranks.test))[-1]
    missing = division == "predicted-missing"
    return divide_by_prediction(ranks.question, last, ranks.test, missing, np.random.default_rng(0))


@dataclass(frozen=True)
class StudyView:
    """The part of a study that a page shows: one density under one division of the open answers."""

    density: float
    division: str
    chooser: str  # whose predictions divide, where they do

    @property
    def words(self) -> str:
        return division_words(self.division, self.chooser)


def view_of(study: Study, asked: Mapping[str, str]) -> StudyView:
    """Return the view that an address asks for. StudyError names the known values where it has another one."""
    densities = options_of(study).densities
    text = asked.get("density", "").strip()
    try:
        density = float(text) if text else densities[len(densities) // 2]
    except ValueError:
        density = 0.0
    if density not in densities:
        known = ", ".join(f"{d:g}" for d in densities)
        raise StudyError(f"Study {study.name} has no density {text[:20]}: it has {known}.")
    division = asked.get("division", "") or "independent"
    if division not in DIVISIONS:
        raise StudyError(f"There is no division {division[:40]!r}: there are {', '.join(DIVISIONS)}.")
    return StudyView(density, division, chooser_of(study, asked.get("chooser", "")))


def theory_curve(run: StudyRun, metric: str, points: int = 26) -> tuple[Floats, Floats]:
    """Return the full and sparse metric [points] that theory expects at strengths 0 … 1 on the questions of a run.

    Averaged over the questions, each with its own number of open answers; one β, the share of missing ones.
    """
    ranks, _ = _opened(run.artifact, _stamp(run))
    strength = np.linspace(0, 1, points)
    answers, count = np.unique(np.unique(ranks.question, return_counts=True)[1], return_counts=True)
    beta, entities = float((~ranks.test).mean()), int(ranks.entities[0])
    full = [expected_metric(int(n), 0.0, strength, metric, entities=entities) for n in answers]
    sparse = [expected_simulated(int(n), beta, strength, metric, entities=entities) for n in answers]
    return np.average(full, axis=0, weights=count), np.average(sparse, axis=0, weights=count)
