"""Runs that are sent to the API, by a researcher's token; and what is refused, in words and whole."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from core.api.base import MAX_BODY
from core.files.artifacts import artifact_path
from core.jobs import lifecycle
from core.jobs.execution import execute
from core.models import AuditEntry
from core.people.tokens import create_token
from pooling.api import views
from pooling.enums import PoolState
from pooling.models import Pool, Run, System
from pooling.runs import imports as upload
from pooling.runs.asked import ASKED
from pooling.runs.files import question_id
from pooling.runs.trec_write import trec_word
from tests.factories import ODD, make_town, town
from tests.pages.world import make_graph, make_person, make_pool

URL = "/api/v1/graphs/town/runs"
GOOD = b"tail:p0:knows Q0 p4 1 0.9 x\ntail:p0:knows Q0 p3 2 0.5 x\n"


def file(content: bytes = GOOD, name: str = "their.run") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


@pytest.fixture
def researcher(world) -> Client:
    _, secret = create_token(world["researcher"], "script", ["read", "run"], 1)
    return Client(headers={"Authorization": f"Token {secret}"})


def test_a_run_that_was_sent_is_a_run_of_the_graph(world, researcher):
    sent = researcher.post(URL, {"system": "mine", "family": "rules", "pool": "town-pool", "file": file()})
    assert sent.status_code == 201
    run = sent.json()["run"]
    assert (run["graph"], run["system"], run["num_questions"]) == ("town", "mine", 1)
    assert sent.json()["notes"][0] == "2 lines, answers to 1 of 11 questions."
    assert researcher.get(f"{URL}/mine").json() == run
    assert [row["system"] for row in researcher.get(URL).json()["results"]] == ["mine", "complex", "rotate", "transe"]
    system = System.every.get(name="mine")
    assert (system.settings["family"], system.settings["file"], system.settings["topics"]) == (
        "rules",
        "their.run",
        "town-pool",
    )
    assert AuditEntry.objects.get(act="run-imported").person == world["researcher"]


def test_a_run_is_downloaded_in_both_forms(world, researcher):
    researcher.post(URL, {"system": "mine", "file": file()})
    whole = researcher.get(f"{URL}/mine/download")
    assert gzip.decompress(b"".join(whole.streaming_content)) == (
        b"tail:p0:knows Q0 p4 1 -1 mine\ntail:p0:knows Q0 p3 2 -2 mine\n"
    )
    answer = researcher.get(f"{URL}/mine/download?as=parquet")
    table = pq.read_table(io.BytesIO(b"".join(answer.streaming_content)))
    assert (table["entity"].to_pylist(), table["rank"].to_pylist()) == (["p4", "p3"], [1, 2])
    assert researcher.get(f"{URL}/mine/download?as=csv").status_code == 400
    assert researcher.get(f"{URL}/mine/download?form=parquet").status_code == 400


def test_form_and_contradictions_are_said_in_the_request(world, researcher):
    distances = {"system": "mine", "file": file(GOOD.replace(b"0.9", b"0.1"))}
    refused = researcher.post(URL, distances)
    assert refused.status_code == 400 and "scores_decide in the API" in refused.json()["error"]
    wrong = researcher.post(URL, {"system": "mine", "file": file(), "form": "parquet"})
    assert wrong.status_code == 400 and "is a damaged Parquet file" in wrong.json()["error"]
    distances["file"].seek(0)
    assert researcher.post(URL, {**distances, "scores_decide": "true", "form": "trec"}).status_code == 201


def asked() -> list[str]:
    folder = artifact_path(Run.every.get(system__name="mine").artifact)
    return sorted(pq.read_table(folder / ASKED)["question"].to_pylist())


def test_a_topics_file_says_what_a_run_was_asked(world, researcher, monkeypatch):
    topics = {"topics": file(b"question\ttext\ntail:p1:knows\tWhom?\n", "t.tsv")}
    assert researcher.post(URL, {"system": "mine", "file": file(), **topics}).status_code == 201
    assert asked() == ["tail:p0:knows", "tail:p1:knows"]
    topics = {"topics": file(b"head:p3:knows\n")}
    assert researcher.post(f"{URL}/mine/replace", {"file": file(), **topics}).status_code == 200
    assert asked() == ["head:p3:knows", "tail:p0:knows"]
    wrong = researcher.post(f"{URL}/mine/replace", {"file": file(), "topics": file(b"tail:p0:hates\n")})
    assert wrong.status_code == 400 and wrong.json()["error"].startswith("topics.tsv:1: 'tail:p0:hates' is not among")
    monkeypatch.setattr(upload, "MOST_TOPICS_BYTES", 3)
    large = researcher.post(f"{URL}/mine/replace", {"file": file(), "topics": file(b"tail\n")})
    assert large.status_code == 413 and "Send its first column alone" in large.json()["error"]
    assert asked() == ["head:p3:knows", "tail:p0:knows"]


def test_a_topics_file_goes_with_a_run_in_parts(world, researcher, monkeypatch):
    monkeypatch.setattr(lifecycle, "_send", lambda job_id, kind: None)
    kind = {"content_type": "application/json"}
    sent = researcher.post("/api/v1/graphs/town/uploads", {"system": "mine", "file_name": "x.run"}, **kind)
    address = f"/api/v1/uploads/{sent.json()['id']}"

    def put(path: str, content: bytes, checksum: str = "") -> int:
        headers = {"X-Checksum-SHA256": checksum or hashlib.sha256(content).hexdigest()}
        return researcher.put(
            f"{address}/{path}", content, content_type="application/octet-stream", headers=headers
        ).status_code

    assert put("parts/1", GOOD) == 200
    assert put("topics", b"tail:p1:knows\n", "0" * 64) == 400
    assert put("topics", b"tail:p1:knows\n") == 204
    job = researcher.post(f"{address}/finish", {"parts": 1}, **kind)
    assert job.status_code == 202 and execute(job.json()["id"], "test")
    assert asked() == ["tail:p0:knows", "tail:p1:knows"]


def test_a_signed_in_page_opens_an_upload(world, client):
    client.force_login(world["researcher"])
    asked_for = {"system": "mine", "file_name": "x.run"}
    opened = client.post("/api/v1/graphs/town/uploads", asked_for, content_type="application/json")
    assert opened.status_code == 201 and opened.json()["id"]


def test_only_the_owner_reads_why_an_upload_was_refused(world, researcher, monkeypatch):
    monkeypatch.setattr(lifecycle, "_send", lambda job_id, kind: None)
    kind = {"content_type": "application/json"}
    sent = researcher.post("/api/v1/graphs/town/uploads", {"system": "mine", "file_name": "x.run"}, **kind).json()
    address, bad = f"/api/v1/uploads/{sent['id']}", GOOD + b"tail:p0:quetzal Q0 p4 1 0.9 x\n"
    headers = {"X-Checksum-SHA256": hashlib.sha256(bad).hexdigest()}
    researcher.put(f"{address}/parts/1", bad, content_type="application/octet-stream", headers=headers)
    job = researcher.post(f"{address}/finish", {"parts": 1}, **kind).json()
    assert execute(job["id"], "test")
    own = researcher.get(address).json()
    assert (own["parts"], own["notes"]) == ([], []) and "quetzal" in own["refused"]
    owner, other = Client(), Client()
    owner.force_login(world["researcher"])
    assert "quetzal" in owner.get("/graphs/town/runs").content.decode()
    other.force_login(make_person("other", site="researcher"))
    assert other.get(address).status_code == 404
    for page in (f"/api/v1/jobs/{job['id']}", "/api/v1/jobs", "/graphs/town/runs"):
        answer = other.get(page)
        assert answer.status_code == 200 and "quetzal" not in answer.content.decode(), page
    assert f"GET {address}" in other.get(f"/api/v1/jobs/{job['id']}").json()["error"]
    again = researcher.post(f"{address}/finish", {"parts": 1}, **kind)
    assert again.status_code == 400 and "This upload is over" in again.json()["error"]


def test_a_packed_run_is_the_same(world, researcher):
    for name, content in (("plain", GOOD), ("packed", gzip.compress(GOOD))):
        assert researcher.post(URL, {"system": name, "file": file(content)}).status_code == 201
    plain, packed = (Run.every.get(system__name=name) for name in ("plain", "packed"))
    assert (plain.num_rank_rows, plain.num_questions) == (packed.num_rank_rows, packed.num_questions)


def zipped() -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as archive:  # ZipInfo has a fixed date: that of now may hold the byte of a new line
        archive.writestr(zipfile.ZipInfo("run"), GOOD * 100, zipfile.ZIP_DEFLATED)
    return kept.getvalue()


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "no file": ({"file": ""}, 400, "file: The submitted data was not a file."),
    "an empty file": ({"file": b""}, 400, "file: The submitted file is empty."),
    "a name with spaces": ({"system": "a b"}, 400, 'system: Enter a valid "slug"'),
    "a name of a path": ({"system": "../x"}, 400, 'system: Enter a valid "slug"'),
    "a name that is taken": ({"system": "rotate"}, 400, "Graph town has a system rotate already"),
    "a family that is none": ({"family": "magic"}, 400, 'family: "magic" is not valid: send one of not known, '),
    "no such pool": ({"pool": "nöne"}, 400, "There is no pool 'nöne'. Pools: elsewhere-pool, town-pool."),
    "a pool of another graph": (
        {"pool": "elsewhere-pool"}, 400, "Pool elsewhere-pool is of graph elsewhere, not of town.",
    ),
    "a wrong line": ({"file": GOOD + b"a b\n"}, 400, "their.run:3: has 2 columns where question id"),
    "an unknown entity": (
        {"file": "tail:p0:knows Q0 näme 1 1 x\n".encode()}, 400, "the graph does not have entity 'näme'",
    ),
    "broken UTF-8": ({"file": GOOD + b"\xff\xfe Q0 p4 1 1 x\n"}, 400, "their.run:3: is not UTF-8"),
    "a damaged .gz": ({"file": gzip.compress(GOOD)[:-9]}, 400, "their.run is a damaged .gz file"),
    "a .zip": ({"file": zipped()}, 400, "their.run: is in no known format"),
    "a gzip bomb": (
        {"file": gzip.compress(b"\0" * 400_000_000, 9)}, 400, "their.run:1: has more than 1,048,576 bytes",
    ),
    "a gzip bomb of lines": (
        {"file": gzip.compress(GOOD * 60_000, 1)}, 413, "holds more than 3,000,000 bytes unpacked",
    ),
    "a large file": ({"file": b"x" * 3_000_001}, 413, "The file has 3,000,001 bytes; at most 3,000,000"),
    "10 MB": ({"file": b"x" * 10_000_000}, 413, "This request is too large: send at most 3 MB."),
}  # fmt: skip


def test_what_is_refused_is_said_and_nothing_is_left(world, researcher, tmp_path, monkeypatch):
    monkeypatch.setattr(upload, "MOST_BYTES", 3_000_000)
    monkeypatch.setattr(views.GraphRuns, "most_bytes", 3_000_000 + MAX_BODY)
    make_pool(make_graph(tmp_path / "elsewhere", "elsewhere"), "elsewhere-pool")
    before = System.objects.count()
    wrong = {}
    for what, (changed, status, words) in REFUSED.items():
        changed = {key: file(value) if isinstance(value, bytes) else value for key, value in changed.items()}
        answer = researcher.post(URL, {"system": "mine", "file": file()} | changed)
        if answer.status_code != status or words not in answer.json()["error"]:
            wrong[what] = (answer.status_code, answer.json())
    assert wrong == {}
    assert System.objects.count() == before and not artifact_path("runs").exists()


def test_a_pool_that_is_being_built_takes_no_run(world, researcher):
    Pool.objects.update(state=PoolState.BUILDING)
    answer = researcher.post(URL, {"system": "mine", "pool": "town-pool", "file": file()})
    assert (answer.status_code, answer.json()) == (
        400,
        {"error": "Pool town-pool is building: import its runs when it is ready."},
    )


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (json.dumps({"system": "mine"}), "application/json", 415),
        (b"x", "multipart/form-data", 400),
        (b"--b\r\nbroken", "multipart/form-data; boundary=b", 400),
        (b"\xff\xfe", "text/plain", 415),
    ],
)
def test_body_that_is_no_form_is_refused(world, researcher, content, kind, status):
    answer = researcher.generic("POST", URL, content, content_type=kind)
    assert (answer.status_code, "error" in answer.json()) == (status, True)


def test_body_without_a_length_is_not_taken_for_an_empty_one(world, researcher):
    """As curl sends a form with a file from a pipe."""
    chunked = {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
    answer = researcher.post(URL, {"system": "mine", "file": file()}, **chunked)
    words = "Send the length of the body (Content-Length): from a file, not from a pipe."
    assert (answer.status_code, answer.json()) == (400, {"error": words})


@pytest.mark.parametrize(
    "name", ["naïve ünï.run", "q\"uote's.run", "../../etc/passwd", "a" * 250 + ".run", "日本" * 40, "$(x).run"]
)
def test_name_of_the_file_is_only_told(world, researcher, name):
    answer = researcher.post(URL, {"system": "mine", "file": file(GOOD + b"a b\n", name)})
    assert answer.status_code == 400 and ":3: has 2 columns" in answer.json()["error"]
    assert researcher.post(URL, {"system": "mine", "file": file(GOOD, name)}).status_code == 201


def test_ids_with_spaces_quotes_and_other_scripts_come_in_as_topics_have_them(world, researcher, tmp_path):
    make_town(tmp_path / "odd", "odd")
    odd = [(h, r, t) for h, r, t in town()["test"] if {h, t} & set(ODD)]
    assert len(odd) > 3
    lines = [f"{question_id(0, h, r)} Q0 {trec_word(t)} 1 1 x\n" for h, r, t in odd]
    content = "".join(dict.fromkeys(lines)).encode()
    answer = researcher.post("/api/v1/graphs/odd/runs", {"system": "mine", "file": file(content)})
    assert (answer.status_code, answer.json().get("error")) == (201, None)
    assert researcher.get("/api/v1/graphs/odd/runs/mine").json()["num_rank_rows"] > len(odd)


def test_own_runs_are_private_replaced_published_and_deleted(world, researcher):
    assert researcher.post(URL, {"system": "mine", "file": file()}).json()["run"]["private"]
    other_person = make_person("other", site="researcher")
    other = Client(headers={"Authorization": f"Token {create_token(other_person, 'x', ['read', 'run'], 1)[1]}"})
    assert "mine" not in [row["system"] for row in other.get(URL).json()["results"]]
    assert [other.get(f"{URL}/mine{more}").status_code for more in ("", "/download")] == [404, 404]
    assert other.delete(f"{URL}/mine").status_code == other.post(f"{URL}/mine/publish").status_code == 404
    replaced = researcher.post(f"{URL}/mine/replace", {"file": file(GOOD.splitlines(keepends=True)[0])})
    assert (replaced.status_code, replaced.json()["notes"][0][:6]) == (200, "1 line")
    assert researcher.post(f"{URL}/mine/replace", {"file": file(b"a b\n")}).status_code == 400
    assert researcher.post(f"{URL}/mine/publish").json()["private"] is False
    assert other.get(f"{URL}/mine").status_code == 200
    assert other.delete(f"{URL}/mine").status_code == other.post(f"{URL}/mine/publish").status_code == 403
    Pool.objects.get(name="town-pool").systems.add(System.objects.get(name="mine"))
    refused = researcher.delete(f"{URL}/mine")
    assert refused.status_code == 409 and "Pool town-pool was built with it." in refused.json()["error"]
    Pool.objects.get(name="town-pool").systems.clear()
    assert researcher.delete(f"{URL}/mine").status_code == 204
    assert researcher.get(f"{URL}/mine").status_code == 404
