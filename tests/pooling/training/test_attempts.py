"""An attempt that was paused while another did its job: it wakes, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.enums import JobState
from core.files.artifacts import artifact_path, sha256_of
from core.files.bucket import StoreError
from core.files.storage import checked, publish
from core.jobs.execution import execute
from core.jobs.lifecycle import retry
from core.jobs.progress import JobCancelled, Progress
from core.models import Job
from pooling.enums import PoolingJob, SystemState
from pooling.models import Graph, System
from pooling.scoring.checkpoints import BEST
from pooling.training import attempts
from pooling.training.train import create_systems
from tests import stores
from tests.factories import make_job

QUICK = {"embedding_dim": "4", "epochs": "4"}


@pytest.fixture
def system(town: Graph) -> System:
    (made,) = create_systems(town, ["distmult"], QUICK, device="cpu")
    return made


def files(system: System) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in artifact_path(system.artifact).iterdir()}


class Paused:
    """Pauses the first attempt when it reports a stage that begins so: another process does its whole job meanwhile."""

    def __init__(self, job: Job, stage: str) -> None:
        self.job, self.stage, self.done = job, stage, False

    def report(self, progress: Progress, stage: str, *args, **kwargs) -> None:
        if stage.startswith(self.stage) and not self.done:
            self.done = True
            Job.objects.filter(pk=self.job.pk).update(state=JobState.QUEUED)
            assert execute(self.job.pk, "another:2")
            self.after = System.objects.values().get(pk=self.job.system_id)
            self.kept = files(System.objects.get(pk=self.job.system_id))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("stage", ["it needs", "epoch 1 of 4", "epoch 2 of 4", "epoch 4 of 4"])
def test_an_attempt_that_wakes_after_another_has_trained_writes_nothing(system: System, monkeypatch, stage: str):
    job = make_job(PoolingJob.TRAIN, system=system)
    paused = Paused(job, stage)
    monkeypatch.setattr(Progress, "report", lambda self, *a, **k: paused.report(self, *a))
    said = Progress.log
    monkeypatch.setattr(Progress, "log", lambda self, line: (paused.report(self, line), said(self, line)))
    assert execute(job.pk, "first:1")
    assert paused.done
    job.refresh_from_db()
    assert (job.state, job.worker, job.attempts) == (JobState.DONE, "another:2", 2)
    assert System.objects.values().get(pk=system.pk) == paused.after
    system.refresh_from_db()
    assert system.state == SystemState.TRAINED
    assert files(system) == paused.kept
    assert sha256_of(artifact_path(system.artifact) / BEST) == system.sha256


@pytest.mark.django_db(transaction=True)
def test_the_next_attempt_goes_on_from_the_checkpoint_in_a_folder_of_its_own(system: System, monkeypatch):
    job = make_job(PoolingJob.TRAIN, system=system)
    told: list[str] = []

    def dies(self: Progress, stage: str, *args, **kwargs) -> None:
        told.append(stage)
        if stage.startswith("epoch 3"):
            raise RuntimeError("its worker was killed")

    monkeypatch.setattr(Progress, "report", dies)
    execute(job.pk, "first:1")
    system.refresh_from_db()
    first, checkpoint = system.artifact, files(system)["checkpoint.pt"]
    assert first.startswith(f"systems/{system.pk}-")
    job.refresh_from_db()
    retry(job)
    begun: list[bytes] = []

    def look(self: Progress, stage: str, *args, **kwargs) -> None:
        told.append(stage)
        if not begun:
            begun.append(files(System.objects.get(pk=system.pk))["checkpoint.pt"])

    told.clear()
    monkeypatch.setattr(Progress, "report", look)
    execute(job.pk, "second:2")
    system.refresh_from_db()
    assert begun == [checkpoint]
    assert told[0].startswith("epoch 4 of 4")
    assert system.artifact != first
    assert [path.name for path in artifact_path("systems").iterdir()] == [Path(system.artifact).name]
    assert [epoch["epoch"] for epoch in system.history] == [1, 2, 3, 4]


def test_a_folder_that_is_not_the_systems_own_stays(system: System):
    for name in ("", "systems", f"systems/{system.pk}0-ab", f"systems/{system.pk}-ab"):
        artifact_path(name).mkdir(parents=True, exist_ok=True)
        attempts.drop_folder(system, name)
    assert [path.name for path in artifact_path("systems").iterdir()] == [f"{system.pk}0-ab"]


def test_checkpoints_are_copied_where_a_file_cannot_have_two_names(tmp_path: Path, monkeypatch):
    (tmp_path / "a").write_bytes(b"weights")

    def refused(source: str, target: str) -> None:
        raise OSError("no hard links here")

    monkeypatch.setattr(attempts.os, "link", refused)
    attempts._link(str(tmp_path / "a"), str(tmp_path / "b"))
    assert (tmp_path / "b").read_bytes() == b"weights"


# -- with a store: a machine is an artifact folder --------------------------------------------------------------


@pytest.fixture(params=stores.KINDS[1:])
def far(request, settings, tmp_path: Path, monkeypatch, system: System) -> System:
    stores.use(request.param, settings, tmp_path, monkeypatch)
    publish(system.graph.artifact)
    return system


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", ["killed", "cancelled", "failed"])
def test_another_machine_goes_on_from_the_newest_upload(far: System, settings, tmp_path: Path, monkeypatch, how: str):
    """A killed worker uploads nothing at its end: what it uploaded in between counts."""
    job = make_job(PoolingJob.TRAIN, system=far)
    if how == "killed":
        monkeypatch.setattr(attempts, "UPLOAD_SECONDS", 0.0)
    real = Progress.report

    def ends(self: Progress, stage: str, *args, **kwargs) -> None:
        if stage.startswith("epoch 4"):
            if how == "killed":  # no upload is the last act of a killed process
                monkeypatch.setattr(attempts, "publish", lambda *given, **named: None)
            raise JobCancelled if how == "cancelled" else RuntimeError("it failed")
        real(self, stage, *args, **kwargs)

    monkeypatch.setattr(Progress, "report", ends)
    execute(job.pk, "first:1")
    monkeypatch.setattr(Progress, "report", real)
    monkeypatch.setattr(attempts, "publish", publish)
    settings.ARTIFACT_ROOT = tmp_path / "another"
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED, error="")
    told: list[str] = []
    monkeypatch.setattr(Progress, "report", lambda self, stage, *args, **kwargs: told.append(stage))
    execute(job.pk, "second:2")
    far.refresh_from_db()
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.DONE, "")
    assert {stage[:7] for stage in told} == ({"epoch 4"} if how == "killed" else set())
    assert [epoch["epoch"] for epoch in far.history][:3] == [1, 2, 3]
    assert {key.split("/")[1] for key in stores.objects() if key.startswith("systems")} == {Path(far.artifact).name}
    settings.ARTIFACT_ROOT = tmp_path / "third"
    assert checked(far.artifact, BEST, far.sha256).exists()


def test_a_machine_that_dies_before_its_first_upload_loses_nothing(far: System, settings, tmp_path: Path):
    far.artifact = attempts.new_folder(far)
    place = artifact_path(far.artifact) / "checkpoint.pt"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"epoch 3")
    publish(far.artifact, replaces=True, last=False)
    for machine in ("second", "third"):
        settings.ARTIFACT_ROOT = tmp_path / machine
        attempts.take_over(far)
    assert files(far) == {"checkpoint.pt": b"epoch 3"}
    assert {key.split("/")[1] for key in stores.objects() if key.startswith("systems")} == {Path(far.artifact).name}


@pytest.mark.django_db(transaction=True)
def test_a_checkpoint_is_uploaded_if_five_minutes_may_pass_before_the_next(far: System, monkeypatch):
    now, sent = [0.0], []
    monkeypatch.setattr(attempts.time, "monotonic", lambda: now[0])
    real = attempts.publish
    monkeypatch.setattr(attempts, "publish", lambda *given, **named: sent.append(now[0]) or real(*given, **named))

    def later(self: Progress, *args, **kwargs) -> None:
        now[0] += 200.0

    monkeypatch.setattr(Progress, "report", later)
    execute(make_job(PoolingJob.TRAIN, system=far).pk, "first:1")
    assert sent == [200.0, 600.0, 1000.0, 1400.0, 1400.0]  # the end of each epoch, and the end


@pytest.mark.parametrize("pause", [1, 7, 50, 100, 140, 200, 240])
def test_another_machine_repeats_five_minutes_at_most(system: System, monkeypatch, pause: int):
    """Checkpoints come at a steady pace; each is worth the time at which it was written."""
    now, kept, sent, lost = 0, 0, [], []
    (file := artifact_path(system.artifact) / "checkpoint.pt").parent.mkdir(parents=True)
    monkeypatch.setattr(attempts.time, "monotonic", lambda: float(now))
    monkeypatch.setattr(attempts, "publish", lambda *given, **named: sent.append(kept))
    with attempts.uploads(system, Progress(make_job(PoolingJob.TRAIN, system=system))) as upload:
        for now in range(1, 1800):
            lost.append(now - (sent[-1] if sent else 0))
            if now % pause == 0:
                kept = now
                file.with_name(".part").write_text(str(now))
                file.with_name(".part").replace(file)
            upload()
    assert max(lost) <= 300
    assert len(sent) - 1 <= 1800 / max(pause, 150)  # few uploads: each sends all of the model


@pytest.mark.django_db(transaction=True)
def test_a_store_that_is_away_for_a_while_stops_no_training(far: System, monkeypatch):
    monkeypatch.setattr(attempts, "UPLOAD_SECONDS", 0.0)
    sent = []

    def away(*given, **named) -> None:
        sent.append(named.get("last", True))
        if not sent[-1]:
            raise StoreError("The store is away.")
        publish(*given, **named)

    monkeypatch.setattr(attempts, "publish", away)
    job = make_job(PoolingJob.TRAIN, system=far)
    execute(job.pk, "first:1")
    job.refresh_from_db()
    assert job.state == JobState.DONE and sent[-1] and not any(sent[:-1]) and len(sent) > 4
    assert "the checkpoint was not uploaded, the next one will be: The store is away." in job.log
