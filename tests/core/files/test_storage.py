"""What storage.py promises, with each kind of store; a second machine is a second artifact folder."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from core.files import atomic_write, bucket, storage
from core.files.artifacts import ArtifactError, artifact_path, sha256_of
from core.files.bucket import StoreError
from core.files.storage import DamagedError, borrowed, checked, delete, exists, local, opened, presigned, publish, sizes
from tests import stores

A, B = "runs/1-aaaaaaaaaaaa", "runs/2-bbbbbbbbbbbb"
FILES = {"run.json": b"{}", "topk.parquet": b"\x00" * 70_000, "round-1/best.pt": b"weights", "empty": b""}


@pytest.fixture(params=stores.KINDS)
def kind(request, settings, tmp_path: Path, monkeypatch) -> str:
    return stores.use(request.param, settings, tmp_path, monkeypatch)


@pytest.fixture(params=stores.KINDS[1:])
def far(request, settings, tmp_path: Path, monkeypatch) -> str:
    """A store that is not the artifact folder."""
    return stores.use(request.param, settings, tmp_path, monkeypatch)


def write(reference: str, files: dict[str, bytes] | bytes = FILES) -> None:
    for name, content in ({"": files} if isinstance(files, bytes) else files).items():
        path = artifact_path(reference) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def read(path: Path) -> dict[str, bytes]:
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def other_machine(settings, tmp_path: Path, kind: str = "", name: str = "other") -> None:
    """Go on with another artifact folder; without a store, both machines have the same one."""
    if kind != "local":
        settings.ARTIFACT_ROOT = tmp_path / name


def test_what_one_machine_publishes_another_reads(kind: str, settings, tmp_path):
    write(A)
    write("exports/1-a.zip", b"packed")
    publish(A)
    publish("exports/1-a.zip")
    other_machine(settings, tmp_path, kind)
    assert exists(A) and exists("exports/1-a.zip") and not exists(B)
    assert sorted(sizes(A)) == [0, 2, 7, 70_000] and sizes("exports/1-a.zip") == [6] and sizes(B) == []
    assert read(local(A)) == FILES and local("exports/1-a.zip").read_bytes() == b"packed"
    assert local(A) == artifact_path(A) and not local(B).exists()


def test_what_is_deleted_is_gone_everywhere(kind: str, settings, tmp_path):
    write(A), write(B)
    publish(A), publish(B)
    delete(A, "")  # a row that has no files yet
    assert not exists(A) and read(local(B)) == FILES
    delete(B)
    assert not exists(B)
    other_machine(settings, tmp_path, kind)
    assert not local(A).exists() and (kind == "local" or stores.objects() == [])


def test_without_a_store_nothing_is_copied_or_looked_for(settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)  # an import would fail
    write(A)
    publish(A)
    assert opened(A, read) == FILES and presigned(A) is None and not artifact_path(".published").exists()
    with borrowed(A) as path:
        assert path == artifact_path(A)
    delete(A)
    bucket.check()
    assert not exists(A)


def test_what_is_not_whole_is_not_published(far: str, settings, tmp_path, monkeypatch):
    """A kill before the manifest leaves objects that nobody reads, and the next attempt publishes."""
    real, sent = bucket.put, []

    def killed(key, *args, **named):
        sent.append(key)
        if key.endswith(storage.MANIFEST):
            raise KeyboardInterrupt
        return real(key, *args, **named)

    write(A)
    monkeypatch.setattr(bucket, "put", killed)
    with pytest.raises(KeyboardInterrupt):
        publish(A)
    monkeypatch.setattr(bucket, "put", real)
    here = settings.ARTIFACT_ROOT
    other_machine(settings, tmp_path)
    assert len(stores.objects()) == len(FILES) and not exists(A) and not local(A).exists()
    settings.ARTIFACT_ROOT = here
    publish(A)
    other_machine(settings, tmp_path)
    assert read(local(A)) == FILES


def test_half_written_files_are_not_published(far: str, settings, tmp_path):
    write(A, {"topk.parquet": b"1", ".topk.parquet.0f.part": b"half"})
    publish(A)
    other_machine(settings, tmp_path)
    assert read(local(A)) == {"topk.parquet": b"1"}


def test_the_same_files_again_do_no_harm_and_others_are_refused(far: str, settings, tmp_path):
    write(A)
    publish(A)
    publish(A)
    other_machine(settings, tmp_path)
    write(A, {"run.json": b"other"})
    with pytest.raises(ArtifactError) as caught:
        publish(A)
    assert str(caught.value) == f"The store has other files of {A} already; they stay. Repeat the step."
    other_machine(settings, tmp_path, name="third")
    assert read(local(A)) == FILES


def test_a_reference_that_changes_is_replaced_as_a_whole(far: str, settings, tmp_path):
    write(A, {"best.pt": b"1", "checkpoint.pt": b"1", "settings": b"same"})
    publish(A, replaces=True, last=False)
    here = settings.ARTIFACT_ROOT
    other_machine(settings, tmp_path)
    assert local(A).exists()
    settings.ARTIFACT_ROOT = here
    write(A, {"checkpoint.pt": b"22"})
    publish(A, replaces=True)
    assert len(stores.objects()) == 4  # the old checkpoint is gone
    other_machine(settings, tmp_path)
    assert read(local(A))["checkpoint.pt"] == b"1"  # as fetched
    assert read(local(A, newest=True)) == {"best.pt": b"1", "checkpoint.pt": b"22", "settings": b"same"}


def test_what_is_still_written_here_is_newer_than_the_store(far: str):
    write(A, {"checkpoint.pt": b"1"})
    publish(A, replaces=True, last=False)
    write(A, {"checkpoint.pt": b"22"})
    assert read(local(A, newest=True)) == {"checkpoint.pt": b"22"}
    with pytest.raises(ArtifactError):
        checked(A, "checkpoint.pt", "0" * 64)
    assert read(artifact_path(A)) == {"checkpoint.pt": b"22"}


def test_a_damaged_copy_is_fetched_once_more(far: str):
    write(A)
    publish(A)
    sha256 = sha256_of(artifact_path(A) / "topk.parquet")
    (artifact_path(A) / "topk.parquet").write_bytes(b"rotten")
    assert checked(A, "topk.parquet", sha256).read_bytes() == FILES["topk.parquet"]
    (artifact_path(A) / "topk.parquet").unlink()
    assert checked(A, "topk.parquet", sha256).read_bytes() == FILES["topk.parquet"]


def test_a_file_that_no_row_knows_is_named_and_fetched_no_more(far: str, monkeypatch):
    write(A)
    publish(A)
    monkeypatch.setattr(storage, "_fetch", lambda reference: pytest.fail("the store has the same"))
    with pytest.raises(ArtifactError, match=r"topk.parquet is not the file that was written \(SHA-256 differs\)"):
        checked(A, "topk.parquet", "0" * 64)


@pytest.mark.parametrize("damage", ["gone", "other", "longer", "shorter", "empty"])
def test_a_damaged_object_is_named(far: str, settings, tmp_path, monkeypatch, damage: str):
    write(A)
    publish(A)
    [key] = [key for key in stores.objects() if key.endswith("topk.parquet")]
    bucket.delete([key])
    if damage != "gone":
        now = {"other": b"\x01" * 70_000, "longer": bytes(70_001), "shorter": bytes(69_999), "empty": b""}
        bucket.put(key, now[damage])
    tries, real = [], bucket.read
    monkeypatch.setattr(bucket, "read", lambda key: tries.append(key) or real(key))
    other_machine(settings, tmp_path)
    with pytest.raises(DamagedError) as caught:
        local(A)
    assert str(caught.value) == (
        f"topk.parquet of {A} in the store is missing or damaged (SHA-256 differs): restore it from a backup, or "
        "repeat the step that made it."
    )
    assert len(tries) == 2 and not artifact_path(A).exists()  # fetched once more, and nothing half is left
    assert not list(artifact_path(".fetching").iterdir())


def test_an_object_that_was_damaged_on_its_way_is_fetched_again(far: str, settings, tmp_path, monkeypatch):
    write(A)
    publish(A)
    real, calls = bucket.pieces, []

    def once(key, size):
        calls.append(key)
        return iter([b"noise"]) if len(calls) == 1 else real(key, size)

    monkeypatch.setattr(bucket, "pieces", once)
    other_machine(settings, tmp_path)
    assert read(local(A)) == FILES and len(calls) == 2 * len(FILES)


def test_threads_fetch_once(far: str, settings, tmp_path, monkeypatch):
    write(A)
    publish(A)
    real, calls = storage._download, []
    monkeypatch.setattr(storage, "_download", lambda *given: calls.append(given) or real(*given))
    other_machine(settings, tmp_path)
    threads = [threading.Thread(target=local, args=(A,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1 and read(local(A)) == FILES


def test_a_large_file_comes_in_pieces(far: str, settings, tmp_path, monkeypatch):
    content = os.urandom((11 << 20) + 3)
    monkeypatch.setattr(bucket, "_PIECE", 5 << 20)  # the least that S3 takes
    write(A, {"best.pt": content})
    publish(A)
    [key] = [key for key in stores.objects() if key.endswith("best.pt")]
    assert [len(piece) for piece in bucket.pieces(key, len(content))] == [5 << 20] * 2 + [(1 << 20) + 3]
    other_machine(settings, tmp_path)
    assert read(local(A)) == {"best.pt": content}


def test_what_is_borrowed_does_not_stay(far: str, settings, tmp_path):
    write(A)
    publish(A)
    (artifact_path(A) / "topk.parquet").write_bytes(b"rotten")  # the store's own files are read
    with borrowed(A) as path:
        assert read(path) == FILES
    other_machine(settings, tmp_path)
    write(B)
    with borrowed(A) as path, borrowed(B) as here:
        assert read(path) == FILES and here == artifact_path(B)  # not published
    assert not artifact_path(A).exists() and not list(artifact_path(".fetching").iterdir())


# -- the cache --------------------------------------------------------------------------------------------------


def cached() -> list[str]:
    return sorted(path.name for path in artifact_path("runs").iterdir())


def long_ago(reference: str, minutes: float) -> None:
    when = time.time() - 60 * minutes
    os.utime(artifact_path(".published") / reference.replace("/", "%2F"), (when, when))


def test_the_least_recently_used_leave_a_full_cache(far: str, settings, tmp_path):
    for i in range(4):
        write(f"runs/{i}", {"x": bytes(1000)})
        publish(f"runs/{i}")
    other_machine(settings, tmp_path)
    for i in range(3):
        local(f"runs/{i}")
        long_ago(f"runs/{i}", 60 - i)
    local("runs/0")  # in use again
    settings.ARTIFACT_CACHE_GB = 3000 / 10**9
    write("runs/9", {"x": bytes(9000)})  # not published: it stays, and does not count
    assert local("runs/3").exists() and cached() == ["0", "2", "3", "9"]
    assert local("runs/1").exists() and cached() == ["0", "1", "3", "9"]
    assert local("runs/2").exists() and cached() == ["0", "1", "2", "3", "9"]  # each was used in the last minutes


def test_what_is_published_here_counts_too(far: str, settings):
    settings.ARTIFACT_CACHE_GB = 1500 / 10**9
    write("runs/0", {"x": bytes(1000)})
    publish("runs/0")
    long_ago("runs/0", 60)
    write("runs/1", {"x": bytes(1000)})
    publish("runs/1", replaces=True, last=False)
    assert cached() == ["0", "1"]
    publish("runs/1", replaces=True)
    assert cached() == ["1"]


def test_no_limit_keeps_everything(far: str, settings, tmp_path):
    write(A), publish(A), long_ago(A, 60)
    write(B), publish(B)
    assert len(cached()) == 2


FETCH = """
import os, resource, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
from core.errors import UserError
from core.files.storage import local
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    local(sys.argv[1])
except UserError as error:
    print(error)
"""


@pytest.mark.parametrize("far", ["file"], indirect=True)
def test_a_full_disk_is_told(far: str, settings, tmp_path):
    write(A)
    publish(A)
    root = tmp_path / "small"
    env = os.environ | {"ARTIFACT_ROOT": str(root), "ARTIFACT_STORE": settings.ARTIFACT_STORE}
    run = subprocess.run([sys.executable, "-c", FETCH, A], env=env, capture_output=True, text=True, timeout=60)
    assert run.stdout == (
        f"What the store has could not be written to {root}: File too large. Free some disk space there, or set "
        "ARTIFACT_CACHE_GB to less than the disk has, and repeat the step.\n"
    ), run.stderr
    assert [path for path in root.rglob("*") if path.is_file()] == []


def test_temporary_names_have_no_process_id(tmp_path, monkeypatch):
    """Two containers that share a folder may have the same one."""
    names = []
    for _ in range(2):
        with atomic_write.written_aside(tmp_path / "x") as aside:
            aside.write_text("1")
            names.append(aside.name)
    assert len(set(names)) == 2 and str(os.getpid()) not in "".join(names).split(".")


# -- downloads --------------------------------------------------------------------------------------------------


def test_a_presigned_address_gives_the_file_under_its_name(kind: str, settings):
    write("exports/1-a.zip", b"packed")
    publish("exports/1-a.zip", file_name="städte v1.zip")
    address = presigned("exports/1-a.zip")
    if kind != "s3":
        assert address is None
        return
    with urllib.request.urlopen(str(address)) as answer:
        assert answer.read() == b"packed"
        assert answer.headers["Content-Type"] == "application/zip"
        assert answer.headers["Content-Disposition"] == "attachment; filename*=utf-8''st%C3%A4dte%20v1.zip"
    assert "X-Amz-Expires=3600" in str(address) and stores.SECRET not in str(address)
    settings.ARTIFACT_PRESIGN = False
    assert presigned("exports/1-a.zip") is None


def test_azure_and_google_sign_addresses_too(settings, tmp_path, monkeypatch):
    """Signing needs no network."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", base64.b64encode(b"x" * 64).decode())
    settings.ARTIFACT_STORE = "az://container/pre/fix"
    assert str(bucket.signed("a/b.zip")).startswith("https://account.blob.core.windows.net/container/pre/fix/a/b.zip?")
    key = rsa.generate_private_key(65537, 2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    account = {"private_key": pem, "client_email": "a@example.org", "type": "service_account", "private_key_id": "1"}
    account |= {"client_id": "1", "project_id": "p", "token_uri": "https://oauth2.googleapis.com/token"}
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    settings.ARTIFACT_STORE = "gs://bucket/pre/fix"
    assert str(bucket.signed("a/b.zip")).startswith("https://storage.googleapis.com/bucket/pre/fix/a/b.zip?X-Goog-")


def test_an_azure_store_without_an_account_is_told(settings, monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    settings.ARTIFACT_STORE = "az://container-of-nobody"
    with pytest.raises(StoreError) as caught:
        bucket.check()
    assert str(caught.value) == (
        "The store of ARTIFACT_STORE (az://container-of-nobody) cannot be opened without credentials. It is opened "
        "with AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY (or the identity of the machine)."
    )


# -- what goes wrong --------------------------------------------------------------------------------------------


def test_a_store_that_can_be_written_is_found_so(far: str):
    bucket.check()
    assert stores.objects() == []


def test_a_bucket_that_is_not_there_is_told(settings, monkeypatch):
    for name, value in stores.s3_environment().items():
        monkeypatch.setenv(name, value)
    settings.ARTIFACT_STORE = "s3://nowhere-1/x"
    write(A)
    said = (
        "The store of ARTIFACT_STORE (s3://nowhere-1/x) has no such bucket, container or folder: make it, or correct "
        "the setting. It is opened with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or the role of the machine), "
        "AWS_REGION, AWS_ENDPOINT_URL."
    )
    for act in (bucket.check, lambda: publish(A), lambda: local(B), lambda: list(bucket.objects("runs"))):
        with pytest.raises(StoreError) as caught:
            act()
        assert str(caught.value) == said and caught.value.__cause__ is None and caught.value.__suppress_context__


def test_a_store_that_does_not_answer_is_told_and_nothing_is_lost(settings, tmp_path, monkeypatch, caplog):
    for name, value in stores.s3_environment("http://127.0.0.1:9").items():
        monkeypatch.setenv(name, value)
    settings.ARTIFACT_STORE = "s3://bucket-of-nobody"
    write(A)
    for act in (bucket.check, lambda: publish(A), lambda: local(B), lambda: opened(B, read)):
        with pytest.raises(StoreError, match=r"ARTIFACT_STORE \(s3://bucket-of-nobody\) does not answer as it should"):
            act()
    assert read(local(A)) == FILES  # what is here can be read meanwhile
    delete(A)
    assert "stays in the store until the next sweep" in caplog.text and stores.SECRET not in caplog.text


@pytest.mark.parametrize("address", [
    "s3://key:geheim@bucket/x", "https://bucket.example.org/x?sig=geheim", "bucket", "s3:///x", "az://acc/c?sv=geheim",
])  # fmt: skip
def test_an_address_that_is_none_is_told_without_its_secrets(settings, address: str):
    settings.ARTIFACT_STORE = address
    with pytest.raises(StoreError) as caught:
        bucket.check()
    assert "geheim" not in str(caught.value) and "give s3://bucket/prefix" in str(caught.value)


def test_a_shared_folder_that_is_not_mounted_is_not_made(settings, tmp_path):
    settings.ARTIFACT_STORE = f"file://{tmp_path}/nothing"
    with pytest.raises(StoreError, match=r"The folder of ARTIFACT_STORE \(file://.*/nothing\) does not exist"):
        bucket.check()
    assert not (tmp_path / "nothing").exists()


def test_a_process_that_was_forked_after_the_first_use_says_so_and_does_not_hang(far: str, monkeypatch):
    monkeypatch.setattr(bucket, "_first_pid", os.getpid() + 1)
    with pytest.raises(StoreError, match="was used before this process was forked"):
        bucket.check()
