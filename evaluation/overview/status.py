"""Where a pool stands: for each stage its state, its figures and the next step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from django.urls import reverse

from annotation.enums import CampaignRole, ItemState
from config.stages import STAGES, Stage
from core.jobs.registry import JOB_TYPES
from core.models import Job
from evaluation.overview.counts import Standing
from pooling.enums import PoolState, SystemState


class State(StrEnum):
    """Values are the names of the css classes; labels are what people read."""

    NOT_STARTED = "waiting"
    RUNNING = "running"
    DONE = "done"
    ATTENTION = "attention"

    @property
    def label(self) -> str:
        return {"waiting": "not started", "attention": "needs attention"}.get(self.value, self.value)


@dataclass(frozen=True)
class Step:
    """What to do next: a sentence, with a page to go to or a command to type on the server."""

    text: str
    url: str = ""
    command: str = ""


@dataclass(frozen=True)
class Figure:
    label: str
    value: int
    of: int | None = None


@dataclass
class Told:
    """What one stage says of itself, before it is put beside its name."""

    state: State
    figures: list[Figure] = field(default_factory=list)
    step: Step | None = None


@dataclass(frozen=True)
class StageStatus:
    stage: Stage
    url: str
    state: State
    figures: list[Figure]
    step: Step | None
    jobs: list[Job]


def stage_statuses(at: Standing) -> list[StageStatus]:
    """All stages in order."""
    statuses = []
    for stage in STAGES:
        told = _TELL[stage.key](at)
        jobs = [job for job in at.live_jobs if JOB_TYPES[job.kind].stage == stage.key]
        state = State.RUNNING if jobs and told.state != State.ATTENTION else told.state
        statuses.append(StageStatus(stage, stage.url(at.pool), state, told.figures, told.step, jobs))
    return statuses


def next_status(statuses: list[StageStatus]) -> StageStatus | None:
    """The stage to turn to: the first that needs attention, else the first with a step left."""
    open_stages = [s for s in statuses if s.step is not None and s.state != State.DONE]
    return next((s for s in open_stages if s.state == State.ATTENTION), open_stages[0] if open_stages else None)


def _graph(at: Standing) -> Told:
    graph = at.pool.graph
    return Told(
        State.DONE,
        [
            Figure("entities", graph.num_entities),
            Figure("relations", graph.num_relations),
            Figure("train triples", graph.num_train),
            Figure("test triples", graph.num_test),
        ],
    )


def _systems(at: Standing) -> Told:
    url = reverse("systems", args=[at.pool.graph.name])
    states = [system.state for system in at.systems]
    trained, failed = states.count(SystemState.TRAINED), states.count(SystemState.FAILED)
    if not states:
        return Told(State.NOT_STARTED, [], Step("Train systems, to compare them on this pool.", url))
    figures = [Figure("trained", trained, len(states))]
    if failed:
        return Told(State.ATTENTION, [*figures, Figure("failed", failed)], Step("See why training failed.", url))
    if SystemState.TRAINING in states:
        return Told(State.RUNNING, figures)
    if trained == len(states):
        return Told(State.DONE, figures)
    return Told(State.ATTENTION if trained else State.NOT_STARTED, figures, Step("Train those that wait.", url))


def _runs(at: Standing) -> Told:
    trained = [system for system in at.systems if system.state == SystemState.TRAINED]
    if not trained:
        return Told(State.NOT_STARTED)
    covering = sum(at.covers(system) for system in trained)
    figures = [Figure("systems scored for this pool", covering, len(trained))]
    if covering == len(trained):
        return Told(State.DONE, [*figures, Figure("rank rows", at.rank_rows)])
    if at.pool.state != PoolState.READY:
        return Told(State.NOT_STARTED, figures)
    step = Step("Score the pooled triples with every trained system.", command=f"score_runs {at.pool.name}")
    return Told(State.ATTENTION if covering else State.NOT_STARTED, figures, step)


def _pool(at: Standing) -> Told:
    figures = [Figure("seed triples", at.seeds), Figure("pooled triples", at.pooled), Figure("depth", at.pool.depth)]
    if at.pool.state == PoolState.FAILED:
        return Told(State.ATTENTION, figures, Step("See why building failed, and start it again.", reverse("jobs")))
    if at.pool.state == PoolState.CANCELLED:
        return Told(State.ATTENTION, figures, Step("Building was cancelled. Start its job again.", reverse("jobs")))
    if at.pool.state == PoolState.READY:
        return Told(State.DONE, figures)
    step = None if at.live_jobs else Step("Nothing is building it. Start its job again.", reverse("jobs"))
    return Told(State.RUNNING if at.live_jobs else State.ATTENTION, figures, step)


def _filter(at: Standing) -> Told:
    if at.pool.state != PoolState.READY:
        return Told(State.NOT_STARTED)
    filtered = at.pooled - at.to_people
    return Told(State.DONE, [Figure("filtered", filtered, at.pooled), Figure("to people", at.to_people, at.pooled)])


def _questions(at: Standing) -> Told:
    figures = [Figure("relations asked about", at.relations_asked), Figure("in your own words", at.relations_worded)]
    if at.pool.state != PoolState.READY:
        return Told(State.NOT_STARTED)
    step = Step("Read the questions over.", reverse("pool-questions", args=[at.pool.name]))
    return Told(State.DONE, figures, step)


def _labels(at: Standing) -> Told:
    name = at.pool.name
    if at.pool.state != PoolState.READY:
        return Told(State.NOT_STARTED)
    imported = [Figure("judged elsewhere", at.imported, at.to_people)] if at.imported else []
    if at.campaign is None:
        text = "Let people judge the rest." if imported else "Open the campaign, so that people can be added."
        step = Step(text, command=f"open_campaign {name}") if at.imported < at.to_people else None
        return Told(State.DONE if imported else State.NOT_STARTED, imported, step)
    items = sum(at.items.values())
    people = at.members.get(CampaignRole.ANNOTATOR, 0)
    figures = [*imported, Figure("labels", at.labels, 2 * items), Figure("annotators", people)]
    if at.unreleased:
        figures.insert(-1, Figure("triples not released yet", at.unreleased, at.to_people))
    if not at.items.get(ItemState.OPEN) and not at.unreleased:
        return Told(State.DONE, figures)
    url = reverse("campaign", args=[name])
    if people < 2:
        return Told(State.ATTENTION, figures, Step("Add annotators: each triple needs two.", url))
    state = State.RUNNING if at.labels else State.NOT_STARTED
    return Told(state, figures, Step("Watch the labels come in.", url))


def _adjudication(at: Standing) -> Told:
    disputed = at.items.get(ItemState.DISPUTED, 0)
    figures = [
        Figure("waiting", disputed),
        Figure("decided by a third person", at.third_labels),
        Figure("undecided", at.items.get(ItemState.UNDECIDED, 0)),
    ]
    if at.campaign is None or not at.labels:
        return Told(State.NOT_STARTED)
    if disputed and not at.members.get(CampaignRole.ADJUDICATOR):
        url = reverse("campaign", args=[at.pool.name])
        return Told(State.ATTENTION, figures, Step("Add an adjudicator: labels differ, and nobody decides.", url))
    if disputed:
        return Told(State.RUNNING, figures)
    more = at.items.get(ItemState.OPEN) or at.unreleased
    return Told(State.RUNNING if more else State.DONE, figures)


def _qrels(at: Standing) -> Told:
    judged = [Figure("positive", at.positive), Figure("negative", at.negative)]
    url = reverse("export", args=[at.pool.name])
    if at.qrels == 0:
        if not at.judged:
            return Told(State.NOT_STARTED)
        return Told(State.NOT_STARTED, judged, Step("Freeze the judgements there are.", url))
    figures = [Figure("frozen versions", at.qrels), *judged, Figure("judged since the last", at.judged_since)]
    step = Step("Freeze a newer version when labels are in.", url) if at.judged_since else None
    return Told(State.DONE, figures, step)


def _measures(at: Standing) -> Told:
    if not any(system.state == SystemState.TRAINED and at.covers(system) for system in at.systems):
        return Told(State.NOT_STARTED)
    figures = [Figure("systems compared", sum(at.covers(system) for system in at.systems))]
    step = Step("See how the systems compare.", reverse("evaluation", args=[at.pool.name]))
    return Told(State.DONE if at.judged else State.NOT_STARTED, figures, step)


def _test_set(at: Standing) -> Told:
    if not at.judged:
        return Told(State.NOT_STARTED)
    step = Step("Take the completed test set away.", reverse("export", args=[at.pool.name]))
    return Told(State.DONE if at.qrels else State.NOT_STARTED, [Figure("positive with the seeds", at.positive)], step)


_TELL: dict[str, Callable[[Standing], Told]] = {
    "graph": _graph,
    "systems": _systems,
    "runs": _runs,
    "pool": _pool,
    "filter": _filter,
    "questions": _questions,
    "labels": _labels,
    "adjudication": _adjudication,
    "qrels": _qrels,
    "measures": _measures,
    "test-set": _test_set,
}

__all__ = ["Figure", "StageStatus", "State", "Step", "next_status", "stage_statuses"]
