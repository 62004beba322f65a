"""Backups that somebody changed at random: each is refused in words, or restored, and nothing else happens."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
from pathlib import Path
from typing import Any

import pytest

from evaluation.keeping.backup import MANIFEST, BackupError
from evaluation.keeping.restore import restore
from tests.core.files.test_tar_headers import long_named
from tests.evaluation.keeping.test_backup import archive, empty, files, full, packed, rows, silent

__all__ = ["archive", "full", "packed"]
VALUES: list[Any] = [
    None, True, -1, 0, 2**70, 1.5, float("inf"), "", "x", "\ud800", "../x", "a\0b", "x" * 300, [], [1], {}, {"a": []},
]  # fmt: skip


def changed(value: Any, rng: random.Random) -> Any:
    """The value with one thing in it, however deep, replaced, taken away or added."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.2:
            return {k: v for k, v in value.items() if k != key}
        if rng.random() < 0.2:
            return value | {rng.choice(["x", "\ud800", "artifacts/../x", "artifacts/x"]): value[key]}
        return value | {key: changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = rng.randrange(len(value))
        return [*value[:i], *([changed(value[i], rng)] if rng.random() < 0.8 else []), *value[i + 1 :]]
    return rng.choice(VALUES)


def written(members: dict[str, bytes], target: Path) -> Path:
    with tarfile.open(target, "w") as new:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            new.addfile(info, io.BytesIO(content))
    return target


def mutated(members: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    """The members of a backup with a change of the manifest, of a row, or of a name; most are listed as they are."""
    members, manifest = dict(members), json.loads(members[MANIFEST])
    name = rng.choice([name for name in members if name != MANIFEST])
    what = rng.choice(["manifest", "manifest", "row", "row", "name", "bytes", "deep"])
    if what == "manifest":
        manifest = changed(manifest, rng)
    elif what == "row":
        name = rng.choice([name for name in members if name.startswith("database/")])
        lines = members[name].decode().rstrip("\n").split("\n")
        at = rng.randrange(len(lines))
        lines[at] = json.dumps(changed(json.loads(lines[at]), rng), ensure_ascii=True)
        members[name] = "\n".join(lines).encode() + b"\n"
    elif what == "name":
        other = rng.choice([f"{name}/x", name.rpartition("/")[0], "artifacts/" + "x" * 300, "artifacts/\udcff", "x"])
        members = {other if key == name else key: content for key, content in members.items()}
        manifest["members"][other] = manifest["members"].pop(name)
    elif what == "bytes":
        members[name] = rng.choice([b"", b"\xff\xfe", b"[" * 100_000, b"null\n", b"[]\n", b'"' + b"1" * 5000])
    else:
        members[MANIFEST] = rng.choice([b"[" * 100_000, b"", b"null", b"\xff", b"1" * 5000, b'{"format": 2}'])
        return members
    if name in members and isinstance(manifest, dict) and isinstance(manifest.get("members"), dict):
        sha256 = hashlib.sha256(members[name]).hexdigest()
        manifest["members"][name] = {"bytes": len(members[name]), "sha256": sha256}
    members[MANIFEST] = json.dumps(manifest).encode()
    return members


@pytest.mark.parametrize("seed", range(4))
def test_a_backup_that_was_changed_at_random_is_refused_or_restored(archive: Path, seed: int):
    with tarfile.open(archive) as old:
        whole = {member.name: old.extractfile(member).read() for member in old}
    before, kept = rows(), files()
    seen = {"refused": 0, "restored": 0}
    for number in range(50):
        rng = random.Random(1000 * seed + number)
        path = written(mutated(whole, rng), archive.with_name("changed.tar"))
        try:
            restore(path, silent)
        except BackupError as error:
            str(error).encode()  # it can be printed
            seen["refused"] += 1
            assert (rows(), files()) == (before, kept), (seed, number)
        except Exception as error:
            pytest.fail(f"{seed} {number}: {error!r}")
        else:
            seen["restored"] += 1
            empty()
            before, kept = rows(), files()  # what migrations made is as in the backup now
    assert seen["refused"] > 20


def test_a_sparse_member_is_refused_unread(archive: Path, tmp_path: Path):
    """Its file is a few bytes, and would be read as 8 exabytes."""
    info = tarfile.TarInfo("artifacts/x")
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 0
    with tarfile.open(tmp_path / "s.tar", "w", format=tarfile.GNU_FORMAT) as new:
        new.addfile(info)
    with pytest.raises(BackupError):
        restore(tmp_path / "s.tar", silent)


def test_a_row_too_deep_to_be_read_back_is_refused(archive: Path):
    with tarfile.open(archive) as old:
        whole = {member.name: old.extractfile(member).read() for member in old}
    manifest, before, kept = json.loads(whole[MANIFEST]), rows(), files()
    name = "database/pooling.Graph/000000.jsonl"
    first, *others = whole[name].decode().splitlines()
    values = json.loads(first)
    values[manifest["tables"]["pooling.Graph"]["columns"].index("options")] = "HERE"
    deep = json.dumps(values).replace('"HERE"', "[" * 700 + "]" * 700)
    whole[name] = "\n".join([deep, *others, ""]).encode()
    manifest["members"][name] = {"bytes": len(whole[name]), "sha256": hashlib.sha256(whole[name]).hexdigest()}
    whole[MANIFEST] = json.dumps(manifest).encode()
    with pytest.raises(BackupError, match=r"a row of table pooling\.Graph is nested too deeply"):
        restore(written(whole, archive.with_name("deep.tar")), silent)
    assert (rows(), files()) == (before, kept)


def test_a_name_of_megabytes_is_refused_unread(archive: Path, tmp_path: Path):
    with pytest.raises(BackupError, match=r"a name or header of 2,000,000 bytes"):
        restore(long_named(tmp_path / "n.tar.gz", 2_000_000), silent)
