"""What the demo on two small families leaves: it is made once, and each test has a copy of it."""

import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import override_settings
from django.utils import timezone

from annotation.enums import ItemState
from annotation.models import Campaign, Item, Judgement, Label
from core.models import Job
from evaluation.demo.demo import ROLES, Demo, logins
from evaluation.demo.results import true_values
from evaluation.demo.stages import STAGES, run_stages
from evaluation.enums import EvaluationJob
from evaluation.models import Figure, Qrels
from evaluation.overview.counts import stage_counts
from evaluation.overview.status import State, stage_statuses
from evaluation.sections.metrics import metrics
from pooling.enums import PoolingJob
from pooling.graphs.opening import closed_world_triples
from pooling.models import Graph, Pool
from tests.commands.test_demo import SMALL, make_demo
from tests.evaluation.studies import TINY

HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # as of every test


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a demo, whose rows are there until the last test of this file: each is rolled back to them."""
    folder = tmp_path_factory.mktemp("demo")
    with django_db_blocker.unblock(), transaction.atomic():
        with override_settings(
            ARTIFACT_ROOT=folder / "artifacts", JOB_HEARTBEAT_SECONDS=3600, PASSWORD_HASHERS=HASHERS
        ):
            run_stages(make_demo(folder), lambda line: None)
        yield folder
        transaction.set_rollback(True)


@pytest.fixture
def demo(made: Path, db, tmp_path: Path, settings) -> Demo:
    settings.JOB_HEARTBEAT_SECONDS = 3600
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return make_demo(tmp_path)


def everything() -> dict[str, int]:
    models = (Graph, Pool, Job, Campaign, Item, Label, User, Qrels, Figure)
    return {model.__name__: model.objects.count() for model in models}


def test_every_stage_leaves_what_the_next_one_needs(demo: Demo, tmp_path: Path):
    states = set(demo.campaign.items.values_list("state", flat=True))
    assert {ItemState.SETTLED, ItemState.OPEN} <= states
    left = demo.campaign.items.filter(state=ItemState.OPEN).count()
    assert left == round(0.2 * demo.campaign.items.count())
    names = {path.name for path in (tmp_path / "demo-test-set").iterdir()}
    assert {"test.tsv", "judgements.tsv", "trec", "ranks", "CHECKSUMS.sha256"} <= names
    last = stage_statuses(stage_counts(demo.pool))[-1]  # the page Export has it, too
    assert (last.state, last.words) == (State.RUNNING, "provisional")  # labels are missing
    assert [job.kind for job in Job.objects.order_by("id")] == [
        PoolingJob.TRAIN,
        PoolingJob.TRAIN,
        PoolingJob.BUILD_POOL,
        *[EvaluationJob.OPEN_WORLD] * len(TINY.densities) * len(TINY.systems),
    ]
    assert not demo.study.runs.filter(sha256="").exists()


def test_run_twice_it_changes_nothing(demo: Demo, tmp_path: Path):
    before = everything()
    passwords = demo.logins_file.read_text()
    said: list[str] = []
    run_stages(make_demo(tmp_path), said.append)
    assert everything() == before
    assert demo.logins_file.read_text() == passwords
    assert [line for line in said if line.startswith("[")] == [
        f"[{number}/10] {stage.title}: there already" for number, stage in enumerate(STAGES, 1)
    ]


def test_what_is_left_to_people_stays_theirs(demo: Demo, tmp_path: Path):
    """After the qrels are frozen no simulated person answers again, however much is left."""
    given = Label.objects.count()
    run_stages(make_demo(tmp_path, replace(SMALL, leave=0.0)), lambda line: None)
    assert Label.objects.count() == given


def test_one_login_for_each_role_and_only_the_owner_reads_the_file(demo: Demo):
    assert [login.role for login in logins(demo)] == list(ROLES)
    for login in logins(demo):
        assert login.password is not None
        assert User.objects.get(username=login.name).check_password(login.password)
    assert stat.S_IMODE(demo.logins_file.stat().st_mode) == 0o600


def test_a_password_that_was_changed_is_not_told_wrongly(demo: Demo):
    user = User.objects.get(username="demo-manager")
    user.set_password("a phrase of one's own")
    user.save()
    assert [login.name for login in logins(demo) if login.password is None] == ["demo-manager"]


def test_without_its_file_nobody_gets_a_new_password(demo: Demo, tmp_path: Path):
    hashes = list(User.objects.order_by("id").values_list("password", flat=True))
    demo.logins_file.unlink()
    run_stages(make_demo(tmp_path), lambda line: None)
    assert list(User.objects.order_by("id").values_list("password", flat=True)) == hashes
    assert [login.password for login in logins(demo)] == [None] * 4


def test_under_the_whole_truth_every_pooled_fact_is_an_answer(demo: Demo):
    """With all labels right and no filter, the current labels give the same values."""
    facts = set(map(tuple, closed_world_triples(demo.graph).tolist()))
    demo.pool.triples.update(reason="")
    Judgement.objects.all().delete()
    Judgement.objects.bulk_create(
        Judgement(
            pool=demo.pool,
            triple=triple,
            origin="people",
            decided_at=timezone.now(),
            verdict="positive" if (triple.head, triple.relation, triple.tail) in facts else "negative",
        )
        for triple in demo.pool.triples.all()
    )
    current = metrics(demo.pool, "current", ["micro_mrr"])["systems"]
    expected = {name: row["micro_mrr"] for name, row in current.items()}
    assert true_values(demo.pool, "micro_mrr") == pytest.approx(expected, rel=1e-12)
