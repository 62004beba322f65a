"""Signed backups: what a restore says of them, and what it refuses."""

from __future__ import annotations

import json

import pytest

from evaluation.keeping.backup import write_backup
from evaluation.keeping.backup_error import BackupError
from evaluation.keeping.restore import read_manifest
from evaluation.keeping.signing import SIGNATURE, check_signature, signature_of, signed
from tests.factories import make_person

MANIFEST = {"format": 2, "members": {"artifacts/ä": {"bytes": 1, "sha256": "00"}}, "tables": {}}


def silent(stage: str, done: int, total: int) -> None:
    pass


def test_a_signature_covers_every_key_but_its_own(settings):
    settings.BACKUP_KEY = "k"
    whole = signed(MANIFEST)
    assert set(whole) == {*MANIFEST, SIGNATURE}
    assert whole[SIGNATURE] == signature_of(MANIFEST, "k") == signature_of(json.loads(json.dumps(whole)), "k")
    others = [signature_of(MANIFEST | {key: "other"}, "k") for key in (*MANIFEST, "more")]
    assert len({whole[SIGNATURE], signature_of(MANIFEST, "l"), *others}) == 6


def test_without_a_key_nothing_is_signed(settings):
    settings.BACKUP_KEY = ""
    assert signed(MANIFEST) == MANIFEST


@pytest.mark.parametrize(("key", "says"), [("k", ""), ("", "BACKUP_KEY is not set here")])
def test_a_signed_backup(settings, key: str, says: str):
    settings.BACKUP_KEY = "k"
    whole = signed(MANIFEST)
    settings.BACKUP_KEY = key
    told = check_signature(whole, "b.tar")
    assert told == "" if not says else says in told


def test_an_unsigned_backup_is_told(settings):
    settings.BACKUP_KEY = ""
    assert check_signature(MANIFEST, "b.tar").startswith("The backup is not signed")


def test_a_backup_whose_signature_was_taken_out_is_refused(settings):
    settings.BACKUP_KEY = "k"
    with pytest.raises(BackupError, match=r"^b\.tar is not signed, and BACKUP_KEY is set"):
        check_signature(MANIFEST, "b.tar")


@pytest.mark.parametrize(
    "change", [{"tables": {"x": 1}}, *({SIGNATURE: given} for given in ("0" * 64, 7, "", "ä", "\ud800"))]
)
def test_another_key_or_a_change_is_refused(settings, change: dict[str, object]):
    settings.BACKUP_KEY = "k"
    with pytest.raises(BackupError, match=r"^b\.tar was signed with another key, or changed since"):
        check_signature(signed(MANIFEST) | change, "b.tar")


@pytest.mark.django_db
def test_a_backup_is_signed_with_the_key_of_the_settings(settings, tmp_path):
    make_person("ada", "manager")
    settings.BACKUP_KEY = "k"
    write_backup(tmp_path / "b.tar", silent)
    manifest = read_manifest(tmp_path / "b.tar", silent)
    assert manifest[SIGNATURE] == signature_of(manifest, "k")
    settings.BACKUP_KEY = "l"
    with pytest.raises(BackupError, match="another key"):
        check_signature(manifest, "b.tar")
