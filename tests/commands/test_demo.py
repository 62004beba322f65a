"""The demo on two small families: every stage once, nothing twice, and logins that nobody else can read."""

import socket
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from core.jobs.execution import execute
from core.models import Job
from evaluation.demo.demo import Demo, DemoOptions, logins
from evaluation.demo.stages import STAGES, run_stages
from evaluation.labels.pool_table import EvaluationError
from evaluation.management.commands import demo as command
from evaluation.models import Qrels
from pooling.graphs.bundled import FamilyOptions
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
