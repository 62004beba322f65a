"""Every bad file of the corpus gets its message at each entrance of its importer, and leaves nothing behind."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.corpus.cases import ALL, CORPUS, expected, folders, in_words, names, state
from tests.corpus.entrances import ENTRANCES, Entrance, Site
from tests.pages.conftest import _no_cache_between_tests, world
from tests.pages.test_api_access import client_of

__all__ = ["_no_cache_between_tests", "world"]
MISSING = "backups"  # they are restored into an empty database


@pytest.fixture
def place(tmp_path: Path, settings, monkeypatch) -> Site:
    """Return where files land; the folder for temporary files is watched too."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (Path(settings.ARTIFACT_ROOT) / "uploads").mkdir(parents=True)
    return {"artifacts": Path(settings.ARTIFACT_ROOT)}


@pytest.fixture
def site(world: dict, place: Site) -> Site:
    pages = Client()
    pages.force_login(world["manager"])
    return world | place | {"pages": pages, "api": client_of(world, "manager")}


def said(entrance: str, send: Entrance, site: Site, path: Path, caplog: Any) -> str:
    """Return what an entrance says against a file; a word of warning before it if it did anything else."""
    caplog.clear()
    before = state()
    try:
        told = send(site, path)
    except Exception as error:
        return f"TRACE {error!r}"
    if told.status >= 500 or any(one.exc_info or one.levelno >= logging.ERROR for one in caplog.records):
        return f"FAILED {told}"
    if told.status < 400 and (entrance in ("command", "api") or told.status != 200 or not told.message):
        return f"TAKEN {told}"  # a page with a form shows it again, with status 200 or 422
    left = sorted(one.name for one in Path(tempfile.gettempdir()).iterdir() if one.name.startswith("tmp"))
    if (after := state()) != before or left:
        changed = {key: value for key, value in after.items() if value != before[key]}
        return f"CHANGED {changed} {left} {told}"
    return in_words(told.message)


def wrong_in(folder: str, site: Site, caplog: Any) -> list[str]:
    """Return each case of a folder and entrance whose message is another than expected.tsv has."""
    caplog.set_level(logging.ERROR)
    wanted = {(line.case, line.entrance): line.message for line in expected(folder)}
    wrong = []
    for case in names(folder):
        for entrance, send in ENTRANCES[folder].items():
            found = said(entrance, send, site, CORPUS / folder / case, caplog)
            message = wanted.get((case, entrance), wanted.get((case, ALL), "none"))
            if found != message:
                wrong.append(f"{case}\t{entrance}\t{found}")
    return wrong


@pytest.mark.parametrize("folder", [folder for folder in ENTRANCES if folder != MISSING])
def test_bad_file_is_refused_in_its_words(site: Site, folder: str, caplog):
    wrong = wrong_in(folder, site, caplog)
    assert not wrong, "\n".join(wrong)


def test_bad_backup_is_refused_in_its_words(db, place: Site, caplog):
    (place["artifacts"] / "uploads").rmdir()
    wrong = wrong_in(MISSING, place, caplog)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", ENTRANCES)
def test_each_file_has_a_message_and_each_message_a_file(folder: str):
    lines = expected(folder)
    assert {line.case for line in lines} == set(names(folder))
    assert {line.entrance for line in lines} <= {ALL, *ENTRANCES[folder]}
    assert [key for key, n in Counter((line.case, line.entrance) for line in lines).items() if n > 1] == []
    assert all(line.message for line in lines)


def test_corpus_is_large_in_cases_and_small_in_bytes():
    assert set(folders()) == set(ENTRANCES)
    assert sum(len(names(folder)) for folder in folders()) >= 300
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 2 << 20
