"""The demo on two small families: every stage once, nothing twice, and logins that nobody else can read."""

import socket
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.enums import ItemState
from annotation.models import Campaign, Item, Judgement, Label
from core.jobs.execution import execute
from core.models import Job
from evaluation.demo.demo import ROLES, Demo, DemoOptions, logins
from evaluation.demo.results import true_values
from evaluation.demo.stages import STAGES, run_stages
from evaluation.enums import EvaluationJob
from evaluation.labels.pool_table import EvaluationError
from evaluation.management.commands import demo as command
from evaluation.models import Figure, Qrels
from evaluation.overview.counts import stage_counts
from evaluation.overview.status import State, stage_statuses
from evaluation.sections.metrics import metrics
from pooling.enums import PoolingJob
from pooling.graphs.bundled import FamilyOptions
from pooling.graphs.opening import closed_world_triples
from pooling.models import Graph, Pool
from tests.annotation.factories import make_graph
from tests.evaluation.studies import TINY

SMALL = DemoOptions(
    family=FamilyOptions(families=2, people=25, density=0.5),
    systems=("transe", "distmult"),
    overrides={"epochs": "2", "embedding_dim": "8"},
    sample=0.05,
    study=TINY,
    leave=0.2,
)


def run_jobs(jobs: list[Job]) -> None:
    """In this process, as a worker would."""
    for job in jobs:
        execute(job.pk, "test")
        job.refresh_from_db()
        assert job.state == "done", job.error


def make_demo(var: Path, options: DemoOptions = SMALL) -> Demo:
    return Demo(run_jobs, lambda stage, done, total: None, options, var)


@pytest.fixture(autouse=True)
def quick(settings) -> None:
    settings.JOB_HEARTBEAT_SECONDS = 3600


@pytest.fixture
def demo(db, tmp_path: Path) -> Demo:
    made = make_demo(tmp_path)
    run_stages(made, lambda line: None)
    return made


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


def test_stopped_anywhere_it_goes_on(db, tmp_path: Path):
    for last in range(len(STAGES)):
        demo = make_demo(tmp_path)

        def stop(line: str, last: int = last) -> None:
            if line.startswith(f"[{last + 1}/"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_stages(demo, stop)
    run_stages(make_demo(tmp_path), lambda line: None)
    assert Qrels.objects.count() == 1
    assert [login.password is None for login in logins(make_demo(tmp_path))] == [False] * 4


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


def test_a_graph_of_that_name_that_is_no_family_is_left_alone(db, tmp_path: Path):
    make_graph(tmp_path / "tsv", "demo")
    with pytest.raises(EvaluationError, match="There is a graph demo that does not consist of families"):
        run_stages(make_demo(tmp_path), lambda line: None)


def test_port_that_is_taken_is_told_before_the_work(db, monkeypatch):
    monkeypatch.setattr(command, "Demo", lambda *a: pytest.fail("work began"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(CommandError, match=rf"Port {port} of 127\.0\.0\.1 is taken"):
            call_command("demo", bind=f"127.0.0.1:{port}")


def test_command_prints_stages_and_logins_and_stops_before_serving(db, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr(command, "Demo", lambda jobs, tell: make_demo(tmp_path))
    call_command("demo", no_serve=True)
    said = capsys.readouterr().out
    assert next(line for line in said.splitlines() if line.startswith("[")).startswith("[1/10] Graph: ")
    for login in logins(make_demo(tmp_path)):
        assert f"{login.name:18}  {login.password}" in said
    assert said.splitlines()[-1] == "Look at it with: make demo"


def test_address_must_be_host_and_port():
    assert command.address("127.0.0.1:8000") == "127.0.0.1:8000"
    for wrong in ("8000", "127.0.0.1:", "127.0.0.1:70000", ":80"):
        with pytest.raises(Exception, match="give HOST:PORT"):
            command.address(wrong)
