"""/healthz and /readyz answer whoever asks, in whatever state the site is."""

from __future__ import annotations

import time

import pytest
from django.db import connection
from django.test import Client, override_settings

from config import health
from core import clock
from core.files.bucket import StoreError
from core.models import Worker


@pytest.fixture
def anybody() -> Client:
    return Client(HTTP_HOST="10.0.0.7")  # the address of the machine, as a load balancer asks


def test_a_process_that_answers_is_healthy(anybody: Client):
    with override_settings(SECURE_SSL_REDIRECT=True):
        answer = anybody.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "Set-Cookie" not in answer


def test_ready_names_the_queues_without_a_worker(db, anybody: Client):
    answer = anybody.get("/readyz")
    fine = dict.fromkeys(("status", "database", "cache", "broker", "storage"), "ok")
    assert answer.json() == {**fine, "workers": "none for cpu, gpu"}
    Worker.objects.create(name="one@host", queues="cpu,gpu", seen_at=clock.now())
    assert anybody.get("/readyz").json()["workers"] == "ok"


def test_without_a_database_it_is_not_ready_and_says_no_more(db, anybody: Client, monkeypatch, caplog):
    def away() -> str:
        raise OSError("host=db password=secret")

    monkeypatch.setitem(health.CHECKS, "database", away)
    answer = anybody.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"] == answer.json()["status"] == "failed"
    assert "secret" not in answer.content.decode() and "readyz: database" in caplog.text


def test_a_broker_that_is_away_is_told_and_labels_go_on(db, anybody: Client, monkeypatch):
    from kombu import Connection

    monkeypatch.setattr(
        health.celery_app, "connection_for_write", lambda **options: Connection("redis://127.0.0.1:6998/0", **options)
    )
    answer = anybody.get("/readyz")
    assert (answer.status_code, answer.json()["broker"]) == (200, "failed")


def test_a_folder_that_cannot_be_written_is_told(db, anybody: Client, settings, tmp_path):
    (tmp_path / "a file").touch()
    settings.ARTIFACT_ROOT = tmp_path / "a file" / "artifacts"
    answer = anybody.get("/readyz")
    assert (answer.status_code, answer.json()["storage"]) == (200, "failed")
    assert str(tmp_path) not in answer.content.decode()


def test_a_store_that_hangs_or_fails_is_told_within_seconds(
    db, anybody: Client, settings, tmp_path, monkeypatch, caplog
):
    settings.ARTIFACT_STORE = f"file://{tmp_path}"
    monkeypatch.setattr(health, "SECONDS", 0.2)
    monkeypatch.setattr(health, "_stored", {})
    monkeypatch.setattr(health.bucket, "check", lambda: time.sleep(1))
    assert anybody.get("/readyz").json()["storage"] == "failed"
    time.sleep(1.2)
    assert anybody.get("/readyz").json()["storage"] == "ok"  # the trial came to its end meanwhile

    def refused() -> None:
        raise StoreError("The store of ARTIFACT_STORE does not answer.")

    monkeypatch.setattr(health, "_stored", {})
    monkeypatch.setattr(health.bucket, "check", refused)
    assert anybody.get("/readyz").json()["storage"] == "failed"
    assert "The store of ARTIFACT_STORE does not answer." in caplog.text


@pytest.mark.usefixtures("db")
def test_a_database_without_tables_is_not_ready(anybody: Client):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_migrations RENAME TO gone")
    try:
        assert anybody.get("/readyz").status_code == 503
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE gone RENAME TO django_migrations")
