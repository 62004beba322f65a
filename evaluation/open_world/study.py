"""Make open-world studies: the same facts at several densities, systems trained on each, checkpoints evaluated.

A study is made in two steps that may be repeated: its graphs and systems (`prepare_study`), then one job a system.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from core.callbacks import TellStage
from core.database import named_once
from core.enums import LIVE
from core.errors import UserError
from core.files.artifacts import artifact_path, sha256_of
from core.files.storage import delete, local, publish
from core.jobs.fencing import fenced
from core.jobs.lifecycle import start_job
from core.jobs.progress import Progress
from core.models import Job
from core.people.audit_log import record
from evaluation.enums import EvaluationAct, EvaluationJob
from evaluation.models import Study, StudyRun
from evaluation.open_world.study_files import StudyRanks, open_answers, rank_answers, read_ranks, untrained, write_ranks
from pooling.enums import SystemState
from pooling.graphs.bundled import FamilyOptions, family_tree
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import get_graph
from pooling.models import Graph, System
from pooling.systems import get_system
from pooling.systems.spec import SystemSpec
from pooling.training.train import create_systems, settings_of_kinds, train_system

LONGEST_NAME = 60


class StudyError(UserError):
    """A study does not exist, or cannot be made as asked."""


@dataclass(frozen=True)
class StudyOptions:
    """Options of a study; the defaults are the paper's sizes."""

    families: int = 20
    people: int = 300  # most people of one family
    densities: tuple[float, ...] = (0.95, 0.85, 0.75, 0.65)
    train_share: float = 0.7  # η: of the facts that are not missing
    systems: tuple[str, ...] = ("rotate", "protate", "complex", "distmult", "transe", "betae")
    settings: Mapping[str, str] = field(default_factory=dict)  # other than the preset, for systems that have them
    questions: int = 500
    min_answers: int = 10  # of a question, in the full graph
    checkpoints: int = 24  # evaluated of each system, denser in the first epochs
    seed: int = 42
    device: str = "auto"

    def check(self) -> None:
        """Raise StudyError that names every value with which no study is possible."""
        outside = any(not 0 < d < 1 for d in self.densities)
        checks = (
            (not self.densities, "name one density at least"),
            (outside, "a density must lie within 0 and 1 (at 1 nothing is missing)"),
            (len(set(map(density_name, self.densities))) < len(self.densities), "a density is there twice"),
            (not self.systems, "name one system at least"),
            (len(set(self.systems)) < len(self.systems), "a system is there twice"),
            (self.questions < 1, f"questions must be 1 or more, not {self.questions}"),
            (self.min_answers < 2, f"answers of a question must be 2 or more, not {self.min_answers}"),
            (not 2 <= self.checkpoints <= 500, f"checkpoints must be from 2 to 500, not {self.checkpoints}"),
        )
        if problems := [text for bad, text in checks if bad]:
            raise StudyError(f"Open-world study: {'; '.join(problems)}.")
        for kind in settings_of_kinds(self.systems, self.settings):
            if not isinstance(get_system(kind), SystemSpec):
                raise StudyError(f"{kind} is not trained by epochs, so it has no checkpoints: leave it out.")
        self.family(self.densities[0]).check()

    def family(self, density: float) -> FamilyOptions:
        return FamilyOptions(self.families, self.people, self.seed, density, self.train_share, grown=True)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "densities": list(self.densities), "systems": list(self.systems)}


SMALL = StudyOptions(
    families=2,
    densities=(0.95, 0.75, 0.65),
    systems=("complex", "distmult", "transe", "rotate"),
    settings={"learning_rate": "0.005", "epochs": "30"},  # slow enough for a curve
)


def options_of(study: Study) -> StudyOptions:
    kept = {f.name: study.options[f.name] for f in fields(StudyOptions) if f.name in study.options}
    return StudyOptions(**{**kept, "densities": tuple(kept["densities"]), "systems": tuple(kept["systems"])})


def density_name(density: float) -> str:
    """Write a density as names have it: d95, or d7-5 for 0.075 (a name has no dot)."""
    return "d" + f"{density * 100:.6g}".replace(".", "-")


def get_study(name: str) -> Study:
    """Return the study of a name; StudyError names the existing ones."""
    try:
        return Study.objects.get(name=name)
    except Study.DoesNotExist:
        names = ", ".join(Study.objects.values_list("name", flat=True)) or "none yet"
        raise StudyError(f"There is no open-world study {name}. Studies: {names}.") from None


def create_study(name: str, options: StudyOptions, user: User | None = None) -> Study:
    """Create the row of a study; `prepare_study` makes its graphs and systems."""
    try:
        validate_slug(name)
    except ValidationError:
        raise StudyError(f"{name!r} cannot name a study: use letters, digits, - and _ only.") from None
    if len(name) > LONGEST_NAME:
        raise StudyError(f"{name!r} is too long for a study's name: {LONGEST_NAME} characters at most.")
    options.check()

    def check() -> None:
        if Study.objects.filter(name=name).exists():
            raise StudyError(f"There is a study {name} already: choose another name, or go on with that one.")
        taken = [graph_name(name, d) for d in options.densities]
        if found := Graph.objects.filter(name__in=taken).values_list("name", flat=True):
            raise StudyError(f"There is a graph {found[0]} already: choose another name for the study.")

    check()
    with named_once(check):
        record(user, EvaluationAct.STUDY_MADE, about=name)
        return Study.objects.create(name=name, options=options.to_json(), created_by=user)


def change_asked(study: Study, given: Mapping[str, Any]) -> None:
    """Raise StudyError where `given` fields of StudyOptions differ from those that the study was made with."""
    options = options_of(study)
    if other := [key for key, value in given.items() if getattr(options, key) != value]:
        raise StudyError(
            f"Study {study.name} was made with other {', '.join(other)}: leave that away to go on with it, or "
            "choose another name."
        )


def graph_name(study: str, density: float) -> str:
    return f"{study}-{density_name(density)}"


def prepare_study(study: Study, tell: TellStage | None = None) -> list[StudyRun]:
    """Make the missing graphs and systems of all densities, and return all runs."""
    options = options_of(study)
    tell = tell or (lambda stage, done, total: None)
    # patience 0: a curve goes on to the last epoch
    overrides = {"patience": "0", **options.settings}
    for done, density in enumerate(options.densities):
        tell("make graphs", done, len(options.densities))
        graph = _graph(study, density, options)
        if not study.runs.filter(density=density).exists():
            _check_answers(study, graph, options)
        for system in create_systems(graph, options.systems, overrides, device=options.device):
            run, _ = StudyRun.objects.get_or_create(
                system=system, defaults={"study": study, "graph": graph, "density": density}
            )
            if not run.artifact:
                StudyRun.objects.filter(pk=run.pk).update(artifact=f"studies/{study.pk}/{run.pk}.npz")
    tell("make graphs", len(options.densities), len(options.densities))
    return list(study.runs.select_related("graph", "system"))


def _graph(study: Study, density: float, options: StudyOptions) -> Graph:
    name = graph_name(study.name, density)
    if Graph.objects.filter(name=name).exists():
        return get_graph(name)
    family = options.family(density)
    asked = {"family_tree": vars(family), "study": study.name}
    return import_graph(name, family_tree(family), options=asked, created_by=study.created_by)


def _check_answers(study: Study, graph: Graph, options: StudyOptions) -> None:
    """Raise StudyError where no question has an answer to rank in the test set: every curve would be empty."""
    answers = open_answers(graph, questions=options.questions, least=options.min_answers, seed=options.seed)
    if answers.test.any():
        return
    asked = len(answers.questions.entity)
    why = (
        f"the test set answers 0 of its {asked:,} questions"
        if asked
        else f"no tail question has {options.min_answers:,} answers or more"
    )
    raise StudyError(
        f"There is nothing to compare in graph {graph.name}, of {graph.num_entities:,} people: {why}. Make a study "
        f"under another name with more families, people or questions; "
        f"`remove study {study.name} --yes` deletes this one."
    )


def start_preparing(study: Study, user: User | None = None) -> Job:
    """Start the job that makes graphs and systems, and then starts the jobs of the systems."""
    return start_job(EvaluationJob.OPEN_WORLD, params={"study": study.name}, user=user)


def begin_study(name: str, options: StudyOptions, user: User | None = None) -> Study:
    """Make a study and start the job that prepares it: both or neither."""
    with transaction.atomic():
        study = create_study(name, options, user)
        start_preparing(study, user)
    return study


def continue_study(study: Study, user: User) -> None:
    """Start what is not finished: the audit log says who did it."""
    with transaction.atomic():
        start_preparing(study, user)
        record(user, EvaluationAct.STUDY_CONTINUED, about=study.name)


def start_study(study: Study, user: User | None = None) -> list[Job]:
    """Start a job for every unfinished system that has none under way."""
    waiting = study.runs.filter(sha256="").select_related("graph", "system__graph")
    return [
        start_job(EvaluationJob.OPEN_WORLD, graph=run.graph, system=run.system, params={"study": study.name}, user=user)
        for run in waiting
    ]


def jobs_of(study: Study) -> list[Job]:
    """Return all jobs of a study, the newest first."""
    jobs = Job.objects.filter(kind=EvaluationJob.OPEN_WORLD, params={"study": study.name})
    return list(jobs.select_related("graph", "system__graph").defer("log").order_by("-pk"))


def is_under_way(study: Study) -> bool:
    return any(job.state in LIVE for job in jobs_of(study))


def checkpoint_epochs(epochs: int, checkpoints: int) -> set[int]:
    """Return the epochs to evaluate: 0, before training, and 1 … epochs at equal ratios."""
    return {0, epochs, *np.rint(np.geomspace(1, epochs, min(checkpoints, epochs))).astype(int).tolist()}


def run_study(job: Job, progress: Progress) -> None:
    """Run a job of a study: train and evaluate its system, or without one make all systems and start their jobs."""
    study = get_study(job.params["study"])
    if job.system is None:
        prepare_study(study, lambda stage, done, total: progress.report(stage, done, total, "graphs"))
        start_study(study, job.created_by)
    else:
        run_system(StudyRun.objects.select_related("study", "graph").get(system=job.system), job.system, progress)


def run_system(run: StudyRun, system: System, progress: Progress) -> None:
    """Train a system from its last checkpoint on, and rank the open answers at the epochs to evaluate."""
    options, place = options_of(run.study), run.artifact
    row = StudyRun.objects.filter(pk=run.pk)
    answers = open_answers(run.graph, questions=options.questions, least=options.min_answers, seed=options.seed)
    kept = read_ranks(local(place, newest=True)) or StudyRanks.of(answers)
    wanted = checkpoint_epochs(int(system.settings["epochs"]), options.checkpoints)
    own = f"studies/{run.study_id}/{run.pk}-{uuid.uuid4().hex[:12]}.npz"  # of this attempt: see fencing.py

    def on_epoch(epoch: int, scorer: Callable[[], Any]) -> None:
        nonlocal kept, place
        if epoch in wanted and epoch not in kept.epochs:
            kept = kept.with_epoch(epoch, rank_answers(scorer(), answers, options.seed))
            write_ranks(artifact_path(own), kept)
            publish(own, replaces=True, last=False)
            with fenced():
                row.update(checkpoints=len(kept.epochs), artifact=own)
            if place != own:
                delete(place)
            place = own

    if system.state != SystemState.TRAINED:
        on_epoch(0, lambda: untrained(run.graph, system))
        train_system(system, progress, on_epoch)
    if not len(kept.epochs):
        raise StudyError(
            f"{system.name} was trained by another job, and its checkpoints were not evaluated. Make a study under "
            "another name."
        )
    sha256 = sha256_of(local(place))
    publish(place, replaces=True)
    with fenced():
        row.update(checkpoints=len(kept.epochs), sha256=sha256)
