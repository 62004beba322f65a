"""Lines of JSON say which request or job they belong to."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.conf import settings

from annotation.people.accounts import add_person
from annotation.people.invitations import invite, refusal
from core.enums import JobState
from core.jobs import execution
from core.jobs.execution import execute
from core.logs import FIELDS, JsonLines, OneLineForRefused, logged_with
from core.models import Job
from tests.factories import make_job


def line(message: str, *values: object, **more: object) -> dict[str, object]:
    record = logging.makeLogRecord({"name": "core.x", "levelname": "WARNING", "msg": message, "args": values, **more})
    text = JsonLines().format(record)
    assert "\n" not in text
    found: dict[str, object] = json.loads(text)
    return found


@pytest.fixture(autouse=True)
def _no_fields():
    token = FIELDS.set({})
    yield
    FIELDS.reset(token)


def test_a_line_has_time_level_logger_and_message():
    at = datetime(2026, 3, 2, 9, 30, tzinfo=UTC).timestamp()
    assert line("two\nlines of %s", "Zoë", created=at) == {
        "time": "2026-03-02T09:30:00.000+00:00", "level": "WARNING", "logger": "core.x", "message": "two\nlines of Zoë",
    }  # fmt: skip


def test_a_traceback_is_in_its_line():
    try:
        raise ValueError("why")
    except ValueError:
        assert "ValueError: why" in str(line("failed", exc_info=sys.exc_info())["exception"])


def test_fields_are_of_the_block_and_unknown_ones_are_left_out():
    with logged_with(job_id=7, worker="w:1"), logged_with(user_id=lambda: None, request_id=lambda: "r"):
        inside = line("x")
    assert {name: inside[name] for name in inside if name not in line("x")} == {
        "job_id": 7, "worker": "w:1", "request_id": "r",
    }  # fmt: skip


def test_a_failed_job_is_logged_with_its_id_and_worker(db, monkeypatch, caplog):
    def fail(job: Job, progress: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(execution, "handler_of", lambda kind: fail)
    caplog.handler.setFormatter(JsonLines())
    job = make_job("train", JobState.QUEUED)
    assert execute(job.pk, worker="w@host:9")
    [said] = [json.loads(text) for text in caplog.text.splitlines()]
    assert (said["job_id"], said["worker"], said["logger"]) == (job.pk, "w@host:9", "core.jobs.execution")
    assert "ValueError: broken" in said["exception"] and FIELDS.get() == {}


WARN = "import django, logging; django.setup(); logging.getLogger('core.x').warning('hello %s', 'you')"


@pytest.mark.parametrize(("form", "said"), [("", "hello you\n"), ("text", "hello you\n"), ("json", None)])
def test_the_setting_chooses(form: str, said: str | None):
    done = subprocess.run(
        [sys.executable, "-c", WARN],
        cwd=settings.BASE_DIR, env=os.environ | {"LOG_FORMAT": form}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    if said is None:
        assert json.loads(done.stderr)["message"] == "hello you"
    else:
        assert done.stderr == said


def test_another_format_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", WARN],
        cwd=settings.BASE_DIR, env=os.environ | {"LOG_FORMAT": "xml"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert "LOG_FORMAT is 'xml': set it to json, or leave it out for plain text." in done.stderr


@pytest.fixture
def out(monkeypatch) -> io.StringIO:
    """Return what goes to the console instead."""
    [console] = [
        one for one in logging.getLogger().handlers if any(isinstance(by, OneLineForRefused) for by in one.filters)
    ]
    out = io.StringIO()
    monkeypatch.setattr(console, "stream", out)
    return out


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "fails", "line"),
    [
        ("/invitations/s3cretlink", False, "Not Found: /invitations/…"),
        ("/invitations/s3cretlink?again=s3cretlink", False, "Not Found: /invitations/…"),
        ("/invitations/s3cretlink", True, "Internal Server Error: /invitations/…"),
        ("/password/new/MQ/s3cretlink", True, "Internal Server Error: /password/new/MQ/…"),
    ],
)
def test_a_secret_link_is_in_no_line_of_the_log(client, monkeypatch, out, address, fails, line):
    client.raise_request_exception = False
    if fails:  # before the address is looked up
        monkeypatch.setattr("config.languages.SpeakLanguage.__call__", lambda *_: 1 // 0)
    assert client.get(address).status_code == (500 if fails else 404)
    said = out.getvalue()
    assert said.splitlines()[0] == line
    assert "s3cretlink" not in said


@pytest.mark.django_db
def test_a_form_with_an_error_leaves_no_link_that_still_works_in_the_log(client, out):
    link, secret = invite("researcher")
    assert client.post(f"/invitations/{secret}", {"username": ""}).status_code == 422
    assert out.getvalue() == "Unprocessable Entity: /invitations/…\n"
    assert not refusal(link)


@pytest.mark.django_db
def test_the_address_of_an_upload_that_is_gone_is_a_line_of_the_log_and_no_error(client, out):
    client.force_login(add_person("mara", "manager")[0])
    path = f"/import-graph/{uuid4()}"
    assert client.get(path).status_code == 404
    assert out.getvalue() == f"Not Found: {path}\n"


def test_a_refused_request_is_one_line_of_the_log_and_a_failure_has_its_traceback(client, monkeypatch, out):
    assert client.get("/login", headers={"host": "evil.example"}).status_code == 400
    [said] = out.getvalue().splitlines()
    assert said.startswith("Invalid HTTP_HOST header: 'evil.example'.")
    client.raise_request_exception = False
    monkeypatch.setattr("config.languages.SpeakLanguage.__call__", lambda *_: 1 // 0)
    assert client.get("/login").status_code == 500
    assert "Traceback" in out.getvalue()
