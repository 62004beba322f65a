"""/metrics answers whoever has the token; to others it is an address like any that does not exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.db import DatabaseError
from django.http.response import HttpResponseBase
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from annotation.models import Label, Slot, SurplusLabel
from config import metrics
from core import clock
from core.enums import JobState
from core.files import usage
from core.files.artifacts import artifact_path
from core.models import Worker
from tests.annotation.factories import World, answer, claim, make_world
from tests.factories import make_job

TOKEN = "a long random string"


@pytest.fixture
def asking(settings) -> Client:
    settings.METRICS_TOKEN = TOKEN
    settings.MIDDLEWARE = ["config.metrics.Metrics", *settings.MIDDLEWARE]
    return Client(HTTP_HOST="10.0.0.7")  # as Prometheus asks a machine


def ask(client: Client, token: str = f"Bearer {TOKEN}") -> HttpResponseBase:
    return client.get("/metrics", headers={"Authorization": token} if token else {})


def seen(answer: HttpResponseBase) -> tuple[int, str]:
    """Return status and page, without the address and the random words of forms."""
    page = re.sub(r'value="[^"]{64}"', "", answer.content.decode().replace("metricz", "metrics"))
    return answer.status_code, page


def values(client: Client) -> dict[tuple[str, ...], float]:
    """Return the value of each sample by its name and the values of its labels."""
    answered = ask(client)
    assert answered.status_code == 200
    found = text_string_to_metric_families(answered.content.decode())
    return {(one.name, *one.labels.values()): one.value for family in found for one in family.samples}


def test_without_a_token_in_the_settings_there_is_no_such_address(client: Client):
    assert "config.metrics.Metrics" not in django_settings.MIDDLEWARE
    unknown = client.get("/metricz")
    for sent in ("", "Bearer ", f"Bearer {TOKEN}"):
        answered = ask(client, sent)
        assert seen(answered) == seen(unknown)


@pytest.mark.parametrize("sent", ["", "Bearer ", "Bearer another", TOKEN, f"Token {TOKEN}", "Bearer \xff"])
def test_others_see_an_unknown_address(db, asking: Client, sent: str):
    for place in ("10.0.0.7", "127.0.0.1"):
        asking.defaults["HTTP_HOST"] = place
        unknown, answered = asking.get("/metricz"), ask(asking, sent)
        assert seen(answered) == seen(unknown)
        assert b"triplepool_" not in answered.content


def test_requests_are_counted_by_pattern_without_names(db, asking: Client):
    asking.defaults["HTTP_HOST"] = "127.0.0.1"
    before = values(asking)
    for _ in range(3):
        asking.get("/graphs/secret-name")
    asking.generic("BREW", "/nothing-here")
    after = values(asking)
    key = ("triplepool_requests_total", "GET", "graphs/<slug:name>", "302")
    assert after[key] - before.get(key, 0) == 3
    count = ("triplepool_request_seconds_count", "graphs/<slug:name>")
    assert after[count] - before.get(count, 0) == 3
    assert after["triplepool_requests_total", "other", "none", "404"] >= 1
    assert "secret" not in str(after.keys()) and "BREW" not in str(after.keys())


def test_gauges_are_of_the_moment(db, tmp_path: Path, asking: Client, monkeypatch):
    world: World = make_world(tmp_path)
    first, *_ = claim(world.campaign, world.ann, 3)
    answer(world.ann, first)
    old = make_job("train", heartbeat_at=clock.now() - timedelta(minutes=2))
    make_job("train", heartbeat_at=clock.now())
    make_job("train", JobState.RUNNING)
    Worker.objects.create(name="one@host", queues="cpu,gpu", seen_at=clock.now())
    Worker.objects.create(name="dead@host", queues="cpu,gpu", seen_at=clock.now() - timedelta(hours=1))
    artifact_path("runs").mkdir(parents=True, exist_ok=True)
    artifact_path("runs/x").write_bytes(b"?" * 5000)
    monkeypatch.setattr(usage, "_measured", {})
    found = values(asking)
    assert (found["triplepool_queue_jobs", "gpu"], found["triplepool_queue_jobs", "cpu"]) == (2, 0)
    assert 120 <= found["triplepool_queue_oldest_seconds", "gpu"] < 180 and old.is_queued
    assert (found["triplepool_queue_workers", "gpu"], found["triplepool_queue_workers", "cpu"]) == (1, 1)
    held = Slot.objects.filter(state="leased").count()
    assert held >= 2 and found["triplepool_leases",] == held
    assert (found["triplepool_labels_last_minute",], found["triplepool_surplus_labels",]) == (1, 0)
    assert found["triplepool_artifact_bytes",] >= 5000 and found["triplepool_database_bytes",] > 0
    assert found["triplepool_free_bytes",] > 0
    Label.objects.update(created_at=clock.now() - timedelta(seconds=61))
    Slot.objects.update(leased_until=clock.now() - timedelta(seconds=1))
    label = Label.objects.get()
    SurplusLabel.objects.create(
        item=label.item, annotator=world.ben, answer="Y", template=label.template, client_id=uuid4()
    )
    names = ("labels_last_minute", "leases", "surplus_labels")
    later = values(asking)
    assert [later[f"triplepool_{name}",] for name in names] == [0, 0, 1]


def test_a_folder_is_measured_every_ten_minutes(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(usage, "_measured", {})
    monkeypatch.setattr(usage.time, "monotonic", lambda: now[0])
    before = usage.artifact_bytes()
    artifact_path("runs").mkdir(parents=True, exist_ok=True)
    artifact_path("runs/y").write_bytes(b"?" * 700)
    sizes = []
    for second in (1, 599, 600):
        now[0] = float(second)
        sizes.append(usage.artifact_bytes() - before)
    assert sizes == [0, 0, 700]


def test_without_a_database_the_rest_is_told(db, asking: Client, monkeypatch, caplog):
    def away() -> int:
        raise DatabaseError("host=db")

    monkeypatch.setattr(metrics, "database_bytes", away)
    found = values(asking)
    assert found["triplepool_free_bytes",] > 0 and ("triplepool_leases",) not in found
    assert "metrics: the database: host=db" in caplog.text


ASK = """
import sys
import django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
from django.test import Client
client = Client()
for _ in range(int(sys.argv[1])):
    client.get("/healthz")
print(client.get("/metrics", headers={"Authorization": "Bearer secret"}).content.decode())
"""


def test_processes_add_up_in_a_folder(tmp_path: Path):
    """As those of gunicorn do, by the folder that deploy/entry makes."""
    environment = os.environ | {"METRICS_TOKEN": "secret", "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    counts = []
    for number in ("2", "3"):
        done = subprocess.run(
            [sys.executable, "-c", ASK, number],
            cwd=django_settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        [count] = re.findall(r'^triplepool_requests_total\{.*route="none".*\} (\S+)$', done.stdout, re.MULTILINE)
        counts.append(float(count))
    assert counts == [2, 5]
