"""Describe the progress of a pool: for each stage its state, its counts and the next step."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from django.urls import reverse

from annotation.campaigns.pool_states import campaign_pill, whole_percent
from annotation.enums import ItemState
from annotation.questions.reading import write_address
from config.stages import STAGES, Stage
from core.jobs.registry import JOB_TYPES
from core.models import Job
from core.people.roles import CampaignRole
from evaluation.overview.counts import StageCounts
from pooling.enums import PoolState, SystemState


class State(StrEnum):
    """Name the state of a stage: values are css classes, labels are what people read."""

    NOT_STARTED = "waiting"
    RUNNING = "running"
    DONE = "done"
    ATTENTION = "attention"
    CLOSED = "cancelled"

    @property
    def label(self) -> str:
        said = {"waiting": "not started", "running": "under way", "attention": "needs attention", "cancelled": "closed"}
        return said.get(self.value, self.value)


class Step(NamedTuple):
    """Suggest what to do next: a sentence, with a page to open, or a button that posts to the address."""

    text: str
    url: str
    act: str = ""  # label of the button
    for_all: bool = False  # who sees the pool may take it, not managers only


class Count(NamedTuple):
    label: str
    value: int
    of: int | None = None


class Summary(NamedTuple):
    """Hold state, counts and next step of a stage."""

    state: State
    figures: Sequence[Count] = ()
    step: Step | None = None
    words: str = ""  # of its pill; the label of the state if empty


class StageStatus(NamedTuple):
    stage: Stage
    url: str
    state: State
    figures: Sequence[Count]
    step: Step | None
    jobs: list[Job]
    words: str


def stage_statuses(counts: StageCounts) -> list[StageStatus]:
    """Return the status of all stages in order."""
    statuses = []
    for stage in STAGES:
        summary = _SUMMARIES[stage.key](counts)
        jobs = [job for job in counts.live_jobs if JOB_TYPES[job.kind].stage == stage.key]
        state = State.RUNNING if jobs and summary.state != State.ATTENTION else summary.state
        words = (state == summary.state and summary.words) or state.label
        statuses.append(StageStatus(stage, stage.url(counts.pool), state, summary.figures, summary.step, jobs, words))
    return statuses


def next_status(statuses: list[StageStatus]) -> StageStatus | None:
    """Return the stage to turn to: the first that needs attention, else the first with a step left."""
    open_stages = [s for s in statuses if s.step is not None and s.state != State.DONE]
    return next((s for s in open_stages if s.state == State.ATTENTION), open_stages[0] if open_stages else None)


def _graph(counts: StageCounts) -> Summary:
    graph = counts.pool.graph
    size = [Count("entities", graph.num_entities), Count("relations", graph.num_relations)]
    return Summary(State.DONE, [*size, Count("train triples", graph.num_train), Count("test triples", graph.num_test)])


def _systems(counts: StageCounts) -> Summary:
    url = reverse("systems", args=[counts.pool.graph.name])
    states = [system.state for system in counts.systems]
    trained, failed = states.count(SystemState.TRAINED), states.count(SystemState.FAILED)
    if not states:
        return Summary(State.NOT_STARTED, step=Step("Train systems, to compare them on this pool.", url))
    figures = [Count("trained", trained, len(states))]
    if failed:
        return Summary(State.ATTENTION, [*figures, Count("failed", failed)], Step("See why training failed.", url))
    if SystemState.TRAINING in states:
        return Summary(State.RUNNING, figures)
    if trained == len(states):
        return Summary(State.DONE, figures)
    return Summary(State.ATTENTION if trained else State.NOT_STARTED, figures, Step("Train those that wait.", url))


def _runs(counts: StageCounts) -> Summary:
    trained = [system for system in counts.systems if system.state == SystemState.TRAINED]
    if not trained:
        return Summary(State.NOT_STARTED)
    covering = sum(counts.covers(system) for system in trained)
    figures = [Count("systems scored for this pool", covering, len(trained))]
    if covering == len(trained):
        return Summary(State.DONE, [*figures, Count("rank rows", counts.rank_rows)])
    if counts.pool.state != PoolState.READY:
        return Summary(State.NOT_STARTED, figures)
    score = reverse("pool-score", args=[counts.pool.name])
    step = Step("Score the pooled triples with every trained system.", score, "Score systems")
    return Summary(State.ATTENTION if covering else State.NOT_STARTED, figures, step)


def _pool(counts: StageCounts) -> Summary:
    size = [Count("seed triples", counts.seeds), Count("pooled triples", counts.pooled)]
    figures = [*size, Count("depth", counts.pool.depth)]
    if counts.pool.state == PoolState.FAILED:
        return Summary(State.ATTENTION, figures, Step("See why building failed, and start it again.", reverse("jobs")))
    if counts.pool.state == PoolState.CANCELLED:
        return Summary(State.ATTENTION, figures, Step("Building was cancelled. Start its job again.", reverse("jobs")))
    if counts.pool.state == PoolState.READY:
        return Summary(State.DONE, figures)
    step = None if counts.live_jobs else Step("Nothing is building it. Start its job again.", reverse("jobs"))
    return Summary(State.RUNNING if counts.live_jobs else State.ATTENTION, figures, step)


def _filter(counts: StageCounts) -> Summary:
    if counts.pool.state != PoolState.READY:
        return Summary(State.NOT_STARTED)
    filtered = Count("filtered", counts.pooled - counts.to_people, counts.pooled)
    figures = [filtered, Count("to people", counts.to_people, counts.pooled)]
    if counts.pooled and not counts.to_people:
        url = reverse("pool-filter", args=[counts.pool.name])
        step = Step("The filters took all triples: nobody is asked anything.", url)
        return Summary(State.ATTENTION, figures, step)
    return Summary(State.DONE, figures)


def _questions(counts: StageCounts) -> Summary:
    if counts.pool.state != PoolState.READY:
        return Summary(State.NOT_STARTED)
    if not counts.to_people:
        return Summary(State.NOT_STARTED)
    asked, unread = counts.relations_asked, counts.relations_unread
    figures = [Count("relations asked about", asked), Count("ready to ask", asked - unread, asked)]
    if n := counts.relations_without_words:
        whose = "1 relation whose name is not a word" if n == 1 else f"{n:,} relations whose names are not words"
        return Summary(State.ATTENTION, figures, Step(f"Write the questions of {whose}.", write_address(counts.pool)))
    if not unread:
        return Summary(State.DONE, figures)
    opens = counts.campaign is None and counts.imported < counts.to_people
    text = "Read the automatic questions of 1 relation." if unread == 1 else ""
    text = text or f"Read the automatic questions of {unread:,} relations."
    step = Step(text, f"{reverse('pool-questions', args=[counts.pool.name])}?made=unread") if opens else None
    return Summary(State.RUNNING if unread < asked else State.NOT_STARTED, figures, step)


def _labels(counts: StageCounts) -> Summary:
    name = counts.pool.name
    if counts.pool.state != PoolState.READY:
        return Summary(State.NOT_STARTED)
    imported = [Count("judged elsewhere", counts.imported, counts.to_people)] if counts.imported else []
    if counts.campaign is None:
        text = "Let people judge the rest." if imported else "Invite people, then open the campaign."
        step = Step(text, reverse("campaign", args=[name])) if counts.imported < counts.to_people else None
        if imported and step:
            return Summary(
                State.RUNNING, imported, step, f"{whole_percent(counts.imported, counts.to_people)} % elsewhere"
            )
        return Summary(State.DONE if imported else State.NOT_STARTED, imported, step)
    items = sum(counts.items.values())
    people, judges = (counts.members.get(role, 0) for role in (CampaignRole.ANNOTATOR, CampaignRole.ADJUDICATOR))
    labels = "labels on released triples" if counts.unreleased else "labels"  # the pill is of all triples
    figures = [*imported, Count(labels, counts.labels, 2 * items)]
    if counts.unreleased:
        figures.append(Count("triples not released yet", counts.unreleased, counts.to_people))
    figures += [Count("annotators", people), Count("adjudicators", judges)]
    if not counts.items.get(ItemState.OPEN) and not counts.unreleased:
        return Summary(State.DONE, figures)
    wanted = 2 * (items + counts.unreleased)
    words = campaign_pill(counts.campaign.state, counts.labels, wanted, disputed=0).words
    if counts.campaign.is_closed:
        return Summary(State.CLOSED, figures, words=words)
    url = reverse("campaign", args=[name])
    if counts.campaign.is_paused:
        return Summary(State.ATTENTION, figures, Step("The campaign is paused. Open it again to go on.", url))
    if people < 2:
        return Summary(State.ATTENTION, figures, Step("Add annotators: each triple needs two.", url))
    state = State.RUNNING if counts.labels else State.NOT_STARTED
    left = wanted - counts.labels
    step = Step(f"{left:,} label{'' if left == 1 else 's'} to go. See progress.", url)
    return Summary(state, figures, step, words if counts.labels else "")


def _adjudication(counts: StageCounts) -> Summary:
    disputed = counts.items.get(ItemState.DISPUTED, 0)
    figures = [
        Count("waiting", disputed),
        Count("decided by a third person", counts.third_labels),
        Count("undecided", counts.items.get(ItemState.UNDECIDED, 0)),
    ]
    if counts.campaign is None or not counts.labels:
        return Summary(State.NOT_STARTED)
    if counts.campaign.is_closed:
        return Summary(State.CLOSED if disputed else State.DONE, figures)
    if disputed and not counts.members.get(CampaignRole.ADJUDICATOR):
        url = reverse("campaign", args=[counts.pool.name])
        return Summary(State.ATTENTION, figures, Step("Add an adjudicator: labels differ, and nobody decides.", url))
    if disputed:
        url = f"{reverse('campaign-triples', args=[counts.pool.name])}?state={ItemState.DISPUTED}"
        step = Step(f"{disputed:,} dispute{'' if disputed == 1 else 's'} to decide. See them.", url)
        return Summary(State.RUNNING, figures, step, f"{disputed:,} to decide")
    more = counts.items.get(ItemState.OPEN) or counts.unreleased
    return Summary(State.RUNNING if more else State.DONE, figures)


def _qrels(counts: StageCounts) -> Summary:
    judged = [Count("positive", counts.positive), Count("negative", counts.negative)]
    url = reverse("export", args=[counts.pool.name])
    if not counts.qrels and not counts.judged:
        return Summary(State.NOT_STARTED)
    if not counts.qrels:
        return Summary(State.NOT_STARTED, judged, Step("Freeze the current judgements.", url))
    figures = [
        Count("frozen versions", counts.qrels),
        *judged,
        Count("judged since the last frozen version", counts.judged_since),
    ]
    step = Step("Freeze a newer version when labels are in.", url) if counts.judged_since else None
    return _checked(counts, not counts.judged_since, figures, step)


def _measures(counts: StageCounts) -> Summary:
    covered = any(system.state == SystemState.TRAINED and counts.covers(system) for system in counts.systems)
    if counts.pool.state != PoolState.READY or not covered:
        return Summary(State.NOT_STARTED)
    figures = [Count("systems compared", sum(counts.covers(system) for system in counts.systems))]
    step = Step("See how the systems compare.", reverse("evaluation", args=[counts.pool.name]), for_all=True)
    return _checked(counts, True, figures, step) if counts.judged else Summary(State.NOT_STARTED, figures, step)


def _test_set(counts: StageCounts) -> Summary:
    if not counts.judged:
        return Summary(State.NOT_STARTED)
    step = Step("Download the completed test set.", reverse("export", args=[counts.pool.name]), for_all=True)
    figures = [Count("positive with the seeds", counts.positive)]
    if not counts.qrels:
        return Summary(State.NOT_STARTED, figures)
    if not counts.exports:
        return Summary(State.NOT_STARTED, figures, step._replace(text="Write the completed test set."))
    return _checked(counts, not counts.judged_since, figures, step)


def _checked(counts: StageCounts, is_newest: bool, figures: Sequence[Count], step: Step | None) -> Summary:
    """Return a stage that rests on the labels: done only if these are complete, and nothing is newer than it."""
    if is_newest and not counts.is_under_way:
        return Summary(State.DONE, figures, step)
    return Summary(State.RUNNING, figures, step, "provisional")


_SUMMARIES: dict[str, Callable[[StageCounts], Summary]] = {
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
