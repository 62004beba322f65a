"""Zip files of test sets: what they may hold, how much of it, and what is said of one that cannot be taken."""

from __future__ import annotations

import gzip
import stat
import zipfile
from pathlib import Path

import pytest

from core.errors import TooLargeError
from evaluation.labels.pool_table import EvaluationError
from evaluation.test_sets import archive
from evaluation.test_sets.archive import TestSetTooLargeError, check_sums, opened, reason


def packed(tmp_path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    """A zip file with these members, of which two may have one name."""
    path = tmp_path / "sent.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def refused(path: Path, most: int = 1 << 20) -> str:
    with pytest.raises(EvaluationError) as caught, opened(path, "mine.zip", most):
        pass
    return str(caught.value)


def test_the_folder_in_a_zip_file_is_given_and_goes_again(tmp_path: Path):
    path = packed(tmp_path, ("v1/test_set.json", b"{}"), ("v1/trec/runs/", b""), ("v1/trec/runs/a.txt", b"abc"))
    with opened(path, "mine.zip", 5) as folder:
        found = {of.relative_to(folder).as_posix(): of.read_bytes() for of in folder.rglob("*") if of.is_file()}
        assert (folder.name, found) == ("v1", {"test_set.json": b"{}", "trec/runs/a.txt": b"abc"})
    assert not folder.exists()
    with opened(packed(tmp_path, ("test_set.json", b"{}")), "mine.zip", 5) as folder:
        assert folder.name == "test-set"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../out.tsv", "'../out.tsv' would lie outside"),
        ("a/../../out.tsv", "'a/../../out.tsv' would lie outside"),
        ("/etc/out.tsv", "'/etc/out.tsv' would lie outside"),
        ("..\\out.tsv", "would lie outside"),
        ("C:\\out.tsv", "would lie outside"),
        ("C:out.tsv", "would lie outside"),
        (link("link.tsv"), "'link.tsv' is a link, not a file"),
        ("train.tsv", "'train.tsv' is there twice"),
        ("./train.tsv", "'./train.tsv' is there twice"),
    ],
)
def test_a_name_that_no_test_set_has_is_refused(tmp_path: Path, name, why: str):
    path = packed(tmp_path, ("test_set.json", b"{}"))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("train.tsv", b"x")
        if name == "train.tsv":
            with pytest.warns(UserWarning, match="Duplicate name"):
                file.writestr(name, b"y")
        else:
            file.writestr(name, b"y")
    said = refused(path)
    assert said.startswith("mine.zip: '") and why in said and said.endswith("Nothing was imported.")
    assert not (tmp_path / "out.tsv").exists()


def test_unpacked_bytes_are_counted_and_not_those_that_the_file_tells(tmp_path: Path):
    path = packed(tmp_path, ("test_set.json", b"\0" * 5000))
    with opened(path, "mine.zip", 5000):
        pass
    said = refused(path, 4999)
    assert "mine.zip has more than 4,999 bytes when it is unpacked" in said
    raw = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):  # the size, in both headers
        at = raw.index(signature) + place
        assert int.from_bytes(raw[at : at + 4], "little") == 5000
        raw[at : at + 4] = (10).to_bytes(4, "little")
    path.write_bytes(bytes(raw))
    assert refused(path, 1 << 20).startswith("mine.zip cannot be unpacked: ")  # ends at 10 bytes: the sum is wrong


def test_what_is_packed_in_its_files_counts_too(tmp_path: Path):
    inner = gzip.compress(b"\0" * 5000)
    path = packed(tmp_path, ("test_set.json", b"{}"), ("ranks/a.tsv.gz", inner))
    with opened(path, "mine.zip", 5002 + len(inner)):
        pass
    with pytest.raises(TooLargeError), opened(path, "mine.zip", 5001 + len(inner)):
        pass


def test_a_site_takes_one_gib_and_ten_thousand_files(tmp_path: Path, monkeypatch):
    assert (archive.MOST_SENT_BYTES, archive.MOST_BYTES, archive.MOST_MEMBERS) == (2**30, 50 * 2**30, 10_000)
    assert archive._size(archive.MOST_SENT_BYTES) == "1 GiB"
    monkeypatch.setattr(archive, "MOST_MEMBERS", 2)
    path = packed(tmp_path, *((f"{n}.tsv", b"") for n in range(3)))
    told = r"^mine\.zip has 3 files, and a test set at most 2: "
    with pytest.raises(TestSetTooLargeError, match=told), opened(path, "mine.zip", 100):
        pass


@pytest.mark.parametrize(
    "members",
    [
        [("a", b"x"), ("a/b", b"y")],  # a file where a folder has to be
        [("a" * 300, b"x")],  # longer than names of files are
        [("a.tsv.gz", b"not gzip")],
    ],
)
def test_what_cannot_be_written_is_said_without_the_scratch_folder(tmp_path: Path, members, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said = refused(packed(tmp_path, *members))
    assert said.startswith("mine.zip cannot be unpacked: ") and str(tmp_path) not in said and "[Errno" not in said


def test_a_file_with_damaged_bytes_is_refused(tmp_path: Path):
    path = packed(tmp_path, ("test_set.json", bytes(range(256)) * 40))
    raw = bytearray(path.read_bytes())
    raw[60:90] = b"\xff" * 30
    path.write_bytes(bytes(raw))
    assert refused(path).startswith("mine.zip cannot be unpacked: ")
    path.write_bytes(b"PK\x05\x06" + b"\xff" * 18)
    assert "mine.zip" in refused(path)


def test_an_error_of_the_system_is_told_without_its_path(tmp_path: Path):
    assert reason(FileNotFoundError(2, "No such file", str(tmp_path))) == "No such file"
    assert (reason(ValueError("why")), reason(KeyError())) == ("why", "KeyError")


def test_checksums_that_are_a_folder_or_name_none(tmp_path: Path):
    (tmp_path / archive.SUMS).mkdir()
    with pytest.raises(EvaluationError, match=r"^mine\.zip has no CHECKSUMS\.sha256: "):
        check_sums(tmp_path, "mine.zip", ())
    (tmp_path / archive.SUMS).rmdir()
    (tmp_path / archive.SUMS).write_bytes(b"00  a\0b\n00  ../x\n00  " + b"y" * 5000 + b"\n")
    with pytest.raises(EvaluationError) as caught:
        check_sums(tmp_path, "mine.zip", ("train.tsv",))
    assert str(caught.value).splitlines()[:3] == ["train.tsv is missing", "a\0b is missing", "../x is missing"]
