"""The status page: the state, figures and next step of every stage, in a fixed number of queries."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign, set_state
from annotation.enums import ItemState, JudgementOrigin, Verdict
from annotation.models import Item, Judgement, Membership
from annotation.questions.reading import mark_read
from annotation.questions.templates import save_template
from config.stages import STAGES
from core.enums import JobState
from core.jobs.registry import JOB_TYPES
from core.models import AuditEntry, Job, Worker
from core.people.audit_log import record
from evaluation.enums import EvaluationAct
from evaluation.models import Export, Qrels
from evaluation.overview.counts import stage_counts
from evaluation.overview.status import State, next_status, stage_statuses
from pooling.enums import PoolingJob, PoolState, SystemState
from pooling.models import Pool, System
from pooling.pools.states import Pill, pool_states
from tests.page import element, has, parse
from tests.pages.world import make_graph, make_job, make_person, make_pool, make_system, make_worker

STATUS_QUERIES = 23  # two of them the session and the person


def states(pool: Pool) -> dict[str, str]:
    return {status.stage.key: status.state.value for status in stage_statuses(stage_counts(pool))}


def words(pool: Pool, key: str) -> str:
    return next(status.words for status in stage_statuses(stage_counts(pool)) if status.stage.key == key)


def figures(pool: Pool, key: str) -> dict[str, tuple[int, int | None]]:
    found = next(s for s in stage_statuses(stage_counts(pool)) if s.stage.key == key)
    return {figure.label: (figure.value, figure.of) for figure in found.figures}


@pytest.fixture
def graph(db, tmp_path: Path):
    return make_graph(tmp_path / "tsv")


def test_every_stage_and_every_kind_of_job_has_its_place():
    assert {one.stage for one in JOB_TYPES.values()} <= {stage.key for stage in STAGES}


def test_imported_pool_without_systems(graph):
    pool = make_pool(graph)
    assert states(pool) == {
        "graph": "done",
        "systems": "waiting",
        "runs": "waiting",
        "pool": "done",
        "filter": "done",
        "questions": "waiting",
        "labels": "waiting",
        "adjudication": "waiting",
        "qrels": "waiting",
        "measures": "waiting",
        "test-set": "waiting",
    }
    assert figures(pool, "filter") == {"filtered": (3, 7), "to people": (4, 7)}
    assert figures(pool, "pool") == {"seed triples": (2, None), "pooled triples": (7, None), "depth": (10, None)}
    step = next_status(stage_statuses(stage_counts(pool)))
    assert (step.stage.key, step.step.url) == ("systems", "/graphs/town/systems")


def test_a_pool_whose_filters_took_all_triples_says_so_and_leads_to_them(graph):
    pool = make_pool(graph, systems=[make_system(graph, "rotate")])
    make_job(PoolingJob.BUILD_POOL, JobState.DONE, pool=pool)
    pool.triples.update(reason="self-loop")
    found = next_status(stage_statuses(stage_counts(pool)))
    assert (found.stage.key, found.step.url) == ("filter", "/pools/town-pool/filter")
    assert (states(pool)["filter"], states(pool)["questions"]) == ("attention", "waiting")


def test_nothing_is_measured_while_a_pool_is_built(graph):
    pool = make_pool(graph, systems=[make_system(graph, "rotate")])
    Pool.objects.update(state=PoolState.BUILDING)
    pool.refresh_from_db()
    make_job(PoolingJob.BUILD_POOL, JobState.DONE, pool=pool)
    (measures,) = (one for one in stage_statuses(stage_counts(pool)) if one.stage.key == "measures")
    assert (measures.state, measures.step) == (State.NOT_STARTED, None)


def test_questions_are_done_when_a_person_has_read_or_written_all(graph):
    pool, boss = make_pool(graph, systems=[make_system(graph, "rotate")]), make_person("boss", site="manager")
    make_job(PoolingJob.BUILD_POOL, JobState.DONE, pool=pool)
    found = next_status(stage_statuses(stage_counts(pool)))
    assert (found.stage.key, found.step.url) == ("questions", "/pools/town-pool/questions?made=unread")
    assert figures(pool, "questions") == {"relations asked about": (1, None), "ready to ask": (0, 1)}
    assert mark_read(pool, boss) == 1
    assert states(pool)["questions"] == "done"
    assert next_status(stage_statuses(stage_counts(pool))).stage.key == "labels"


def test_a_relation_without_words_needs_attention_until_somebody_writes_its_questions(graph):
    pool = make_pool(graph)
    relation = graph.relations.get(index=0)
    relation.key = "P131"
    relation.save()
    found = next_status(stage_statuses(stage_counts(pool)))
    assert (found.stage.key, found.step.url) == ("questions", "/pools/town-pool/questions?made=odd")
    save_template(relation, "Is {subject} in {object}?", "Where is {subject}?", "What is in {object}?")
    assert states(pool)["questions"] == "done"


def test_open_campaign_leaves_no_step_at_questions_that_nobody_has_read(graph):
    pool = make_pool(graph)
    open_campaign(pool)
    (found,) = (one for one in stage_statuses(stage_counts(pool)) if one.stage.key == "questions")
    assert (found.state, found.step) == (State.NOT_STARTED, None)


def test_built_pool_is_covered_by_the_job_that_built_it(graph):
    system = make_system(graph, "rotate")
    pool = make_pool(graph, systems=[system])
    assert states(pool)["runs"] == "waiting"
    make_job(PoolingJob.BUILD_POOL, JobState.DONE, pool=pool)
    assert states(pool)["runs"] == "done"
    assert figures(pool, "runs") == {"systems scored for this pool": (1, 1), "rank rows": (40, None)}


def test_the_button_of_a_pool_that_is_not_scored_starts_a_job_for_each_system(graph, client):
    systems = [make_system(graph, name) for name in ("rotate", "transe")]
    pool = make_pool(graph)
    client.force_login(make_person("boss", site="manager"))
    page = parse(client.get(pool.get_absolute_url()))
    (form, *_) = [form for form in page.all(tag="form") if form["action"] == "/pools/town-pool/score"]
    assert form.has(tag="button")
    assert client.post(form["action"])["Location"] == "/pools/town-pool"
    assert list(Job.objects.order_by("pk").values_list("kind", "system_id", "pool_id")) == [
        (PoolingJob.SCORE, system.pk, pool.pk) for system in systems
    ]
    client.post(form["action"])  # they are under way: nothing is started, nor recorded
    told = AuditEntry.objects.filter(act="scoring-started").order_by("pk")
    assert list(told.values_list("person__username", "pool", "about")) == [("boss", pool.pk, str(s)) for s in systems]


def test_without_a_trained_system_nothing_is_scored(graph, client):
    make_pool(graph)
    client.force_login(make_person("boss", site="manager"))
    page = parse(client.post("/pools/town-pool/score", follow=True))
    assert "has no trained system" in page.messages[0]
    assert not Job.objects.exists()


def test_run_that_is_newer_than_an_imported_pool_covers_it(graph):
    system = make_system(graph, "rotate")
    pool = make_pool(graph)
    assert states(pool)["runs"] == "waiting"
    system.run.save()
    assert states(pool)["runs"] == "done"


def test_building_pool_with_and_without_a_job(graph):
    pool = make_pool(graph, systems=[make_system(graph, "rotate")])
    pool.triples.all().delete()
    Pool.objects.update(state=PoolState.BUILDING)
    pool.refresh_from_db()
    assert states(pool)["pool"] == "attention"
    make_job(PoolingJob.BUILD_POOL, pool=pool)
    assert states(pool)["pool"] == "running"
    assert [states(pool)[key] for key in ("filter", "questions", "labels")] == ["waiting"] * 3


def test_failed_training_needs_attention(graph):
    system = make_system(graph, "rotate", run=False, state=SystemState.FAILED)
    assert states(make_pool(graph, systems=[system]))["systems"] == "attention"


def test_failed_building_needs_attention(graph):
    pool = make_pool(graph)
    Pool.objects.update(state=PoolState.FAILED)
    pool.refresh_from_db()
    assert next_status(stage_statuses(stage_counts(pool))).stage.key == "pool"


def test_cancelled_building_needs_attention_and_is_not_called_failed(graph, client):
    pool = make_pool(graph)
    Pool.objects.update(state=PoolState.CANCELLED)
    pool.refresh_from_db()
    told = next(status for status in stage_statuses(stage_counts(pool)) if status.stage.key == "pool")
    assert told.step is not None
    assert (told.state, told.step.text, told.step.url) == (
        State.ATTENTION,
        "Building was cancelled. Start its job again.",
        "/jobs",
    )
    client.force_login(make_person("boss", site="manager"))
    assert parse(client.get("/pools")).one(class_="badge badge-cancelled").text == PoolState.CANCELLED.label.lower()


def test_campaign_needs_two_annotators(graph):
    pool = make_pool(graph)
    campaign = open_campaign(pool)
    make_person("one", campaign=campaign, role="annotator")
    assert states(pool)["labels"] == "attention"
    make_person("two", campaign=campaign, role="annotator")
    assert states(pool)["labels"] == "waiting"
    assert figures(pool, "labels") == {"labels": (0, 8), "annotators": (2, None), "adjudicators": (0, None)}


def label(campaign, person, number: int, count: int) -> None:
    for item in Item.objects.filter(campaign=campaign)[:count]:
        item.slots.filter(number=number).update(state="answered", annotator=person)


def test_a_paused_campaign_needs_attention_and_a_closed_one_is_over(graph):
    pool = make_pool(graph)
    campaign = open_campaign(pool)
    for name in ("one", "two"):
        make_person(name, campaign=campaign, role="annotator")
    set_state(campaign, "paused")
    assert states(pool)["labels"] == "attention"
    assert next_status(stage_statuses(stage_counts(pool))).step.url == "/pools/town-pool/campaign"
    set_state(campaign, "closed")
    assert (states(pool)["labels"], words(pool, "labels")) == ("cancelled", "closed at 0 %")
    judge(pool, Verdict.POSITIVE, 1)
    make_system(graph, "rotate").run.save()
    assert next_status(stage_statuses(stage_counts(pool))).stage.key == "qrels"


def test_dispute_without_adjudicator_needs_attention(graph):
    pool = make_pool(graph)
    campaign = open_campaign(pool)
    people = [make_person(name, campaign=campaign, role="annotator") for name in ("one", "two")]
    label(campaign, people[0], 1, 4)
    label(campaign, people[1], 2, 3)
    assert (states(pool)["labels"], states(pool)["adjudication"]) == ("running", "running")
    Item.objects.filter(pk=campaign.items.first().pk).update(state=ItemState.DISPUTED)
    assert states(pool)["adjudication"] == "attention"
    assert figures(pool, "adjudication")["waiting"] == (1, None)
    Membership.objects.create(campaign=campaign, person=make_person("judge"), role="adjudicator")
    assert states(pool)["adjudication"] == "running"
    Item.objects.update(state=ItemState.SETTLED)
    assert (states(pool)["labels"], states(pool)["adjudication"]) == ("done", "done")


def judge(pool: Pool, verdict: Verdict, count: int, origin: JudgementOrigin = JudgementOrigin.IMPORT) -> None:
    free = pool.triples.filter(judgement=None, reason="")[:count]
    Judgement.objects.bulk_create(
        Judgement(pool=pool, triple=triple, verdict=verdict, origin=origin, decided_at=timezone.now())
        for triple in free
    )


def test_imported_labels_and_frozen_qrels(graph):
    pool = make_pool(graph)
    judge(pool, Verdict.POSITIVE, 1)
    judge(pool, Verdict.NEGATIVE, 2)
    assert (states(pool)["labels"], words(pool, "labels")) == ("running", "75 % elsewhere")
    assert figures(pool, "labels") == {"judged elsewhere": (3, 4)}
    assert figures(pool, "qrels") == {"positive": (3, None), "negative": (2, None)}
    Qrels.objects.create(
        pool=pool,
        name="first",
        artifact="x",
        sha256="0",
        num_positive=3,
        num_negative=2,
        num_assumed_negative=3,
        num_unjudged=1,
    )
    assert figures(pool, "qrels")["judged since the last frozen version"] == (0, None)
    test_set = stage_statuses(stage_counts(pool))[-1]
    assert (test_set.state, test_set.step.url) == (State.NOT_STARTED, "/pools/town-pool/export")
    entry = record(None, EvaluationAct.TEST_SET_EXPORTED, pool=pool)  # by the command, to a folder
    assert states(pool)["test-set"] == "done"
    entry.delete()
    Export.objects.create(qrels=Qrels.objects.get(), artifact="x", sha256="0" * 64)
    assert states(pool)["test-set"] == "done"
    judge(pool, Verdict.NEGATIVE, 1)
    assert figures(pool, "qrels")["judged since the last frozen version"] == (1, None)
    assert [states(pool)[key] for key in ("labels", "qrels", "test-set")] == ["done", "running", "running"]


def test_what_rests_on_labels_is_provisional_until_the_last_is_given_and_decided(graph):
    pool = make_pool(graph, systems=[make_system(graph, "rotate")])
    make_job(PoolingJob.BUILD_POOL, JobState.DONE, pool=pool)
    campaign = open_campaign(pool)
    people = [make_person(name, campaign=campaign, role="annotator") for name in ("one", "two")]
    Membership.objects.create(campaign=campaign, person=make_person("judge"), role="adjudicator")
    label(campaign, people[0], 1, 2)
    assert words(pool, "labels") == pool_states([pool])[pool.pk].words == "labelling 25 %"
    judge(pool, Verdict.POSITIVE, 1)
    counted = {
        "artifact": "x",
        "sha256": "0" * 64,
        "num_positive": 3,
        "num_negative": 2,
        "num_assumed_negative": 3,
        "num_unjudged": 1,
    }
    qrels = Qrels.objects.create(pool=pool, name="first", **counted)
    Export.objects.create(qrels=qrels, artifact="x", sha256="0" * 64)
    resting = ("qrels", "measures", "test-set")
    assert {(states(pool)[key], words(pool, key)) for key in resting} == {("running", "provisional")}
    for number in (1, 2):
        label(campaign, people[number - 1], number, 4)
    Item.objects.update(state=ItemState.SETTLED)
    Item.objects.filter(pk=campaign.items.first().pk).update(state=ItemState.DISPUTED)
    assert (states(pool)["labels"], words(pool, "adjudication")) == ("done", "1 to decide")
    assert pool_states([pool])[pool.pk] == Pill("1 dispute left", "running")
    assert {states(pool)[key] for key in resting} == {"running"}
    assert next_status(stage_statuses(stage_counts(pool))).step.url.endswith("?state=disputed")
    Item.objects.update(state=ItemState.SETTLED)
    assert {states(pool)[key] for key in resting} == {"done"}
    assert pool_states([pool])[pool.pk] == Pill("labelled", "done")


def test_researchers_get_the_steps_that_are_theirs_too(graph, client):
    pool = make_pool(graph, systems=[make_system(graph, "rotate")])
    make_job(PoolingJob.BUILD_POOL, JobState.DONE, pool=pool)
    open_campaign(pool)
    judge(pool, Verdict.POSITIVE, 1)
    counted = {f"num_{name}": 1 for name in ("positive", "negative", "assumed_negative", "unjudged")}
    Qrels.objects.create(pool=pool, name="first", artifact="x", sha256="0" * 64, **counted)
    steps = {}
    for role in ("manager", "researcher"):
        client.force_login(make_person(role, site=role))
        page = parse(client.get(pool.get_absolute_url()))
        steps[role] = [link["href"] for step in page.all("step") for link in step.all(tag="a")]
    assert steps["researcher"] == ["/pools/town-pool/evaluation", "/pools/town-pool/export"]
    assert len(steps["manager"]) > 2 and set(steps["researcher"]) < set(steps["manager"])


def build_many(graph, count: int) -> Pool:
    systems = [make_system(graph, "rotate" if i == 0 else f"rotate-s{i}") for i in range(count)]
    pool = make_pool(graph, systems=systems)
    campaign = open_campaign(pool)
    for i in range(count):
        make_person(f"person{i}", campaign=campaign, role="annotator")
        make_job(system=systems[i], state=JobState.QUEUED)
        Qrels.objects.create(
            pool=pool,
            name=f"q{i}",
            artifact="x",
            sha256="0",
            num_positive=0,
            num_negative=0,
            num_assumed_negative=0,
            num_unjudged=0,
        )
    return pool


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(graph, client, count: int, django_assert_num_queries):
    pool = build_many(graph, count)
    client.force_login(make_person("boss", site="manager"))
    with django_assert_num_queries(STATUS_QUERIES):
        client.get(pool.get_absolute_url())


def test_no_worker_is_said_while_jobs_wait(graph, client):
    pool = build_many(graph, 1)
    client.force_login(make_person("boss", site="manager"))
    assert has(client.get(pool.get_absolute_url()), "no-worker")
    make_worker()
    assert not has(client.get(pool.get_absolute_url()), "no-worker")
    Worker.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    assert has(client.get(pool.get_absolute_url()), "no-worker")
    Job.objects.all().delete()
    assert not has(client.get(pool.get_absolute_url()), "no-worker")


def test_page_refreshes_itself_only_while_jobs_are_live(graph, client):
    pool = build_many(graph, 1)
    client.force_login(make_person("boss", site="manager"))
    stages = element(client.get(pool.get_absolute_url()), "stages")
    assert (stages["hx-trigger"], stages["hx-get"]) == ("every 2s", pool.get_absolute_url())
    Job.objects.update(state=JobState.DONE)
    assert "hx-trigger" not in element(client.get(pool.get_absolute_url()), "stages")


def test_other_systems_of_the_graph_are_no_part_of_a_built_pool(graph):
    pool = make_pool(graph, systems=[make_system(graph, "rotate")])
    make_system(graph, "conve", run=False, state=SystemState.FAILED)
    assert figures(pool, "systems") == {"trained": (1, 1)}
    assert System.objects.count() == 2
    assert states(pool)["systems"] == State.DONE


def test_what_waits_for_its_batch_keeps_the_labels_running(graph):
    pool = make_pool(graph)
    campaign = open_campaign(pool, batch_size=1)
    people = [make_person(name, campaign=campaign, role="annotator") for name in ("one", "two")]
    released = campaign.items.count()
    assert 0 < released < 4
    label(campaign, people[0], 1, released)
    Item.objects.update(state=ItemState.SETTLED)
    assert (states(pool)["labels"], states(pool)["adjudication"]) == ("running", "running")
    assert figures(pool, "labels") == {
        "labels on released triples": (released, 2 * released),
        "triples not released yet": (4 - released, 4),
        "annotators": (2, None),
        "adjudicators": (0, None),
    }
