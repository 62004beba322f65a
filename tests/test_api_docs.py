"""docs/api.md: its Python blocks and curl lines, run in order against a live server; its tables."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from annotation.campaigns.lifecycle import open_campaign
from annotation.models import Label
from core.api.listing import Listing
from core.api.schema import ERRORS
from core.jobs import lifecycle as jobs
from core.jobs.execution import execute
from core.people.tokens import create_token
from evaluation.labels import pool_table
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Export
from pooling.models import System
from pooling.runs import files
from tests.factories import judge_all, make_person, make_pool, make_systems, make_town

TEXT = (Path(settings.BASE_DIR) / "docs" / "api.md").read_text(encoding="utf-8")


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and text of each block that can be run."""
    return re.findall(r"^```(python|sh)\n(.*?)^```", text, re.M | re.S)


@pytest.fixture
def names():
    """What the blocks of one reader make; the server's threads end with the connections of its session."""
    made: list[dict] = []

    def new() -> dict:
        made.append({"__name__": "docs"})
        return made[-1]

    yield new
    for one in made:
        one["session"].close()


@pytest.fixture
def site(transactional_db, tmp_path, monkeypatch, live_server):
    """A live server with a labelled pool; jobs are done where they are asked for. Tokens by role."""
    pool_table._tables.clear()
    files._cache.clear()
    graph = make_town(tmp_path / "town")
    make_systems(graph)
    pool = make_pool(graph)
    campaign = open_campaign(pool)
    judge_all(pool)
    freeze_qrels(pool, "v1")
    annotator = make_person("annotator")
    campaign.members.create(person=annotator, role="annotator", consented_at=timezone.now())
    monkeypatch.setattr(jobs, "_send", lambda job_id, kind: execute(job_id, "test"))
    for name, value in (("URL", live_server.url), ("POOL", "p"), ("GRAPH", "town")):
        monkeypatch.setenv(f"TRIPLEPOOL_{name}", value)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    return {
        "researcher": create_token(make_person("researcher", "researcher"), "script", ["read", "run"], 1)[1],
        "manager": create_token(make_person("manager", "manager"), "script", ["read", "manage"], 1)[1],
        "annotator": create_token(annotator, "script", ["label"], 1)[1],
    }


def run(language: str, code: str, names: dict) -> None:
    if language == "python":
        exec(compile(code, "docs/api.md", "exec"), names)
        return
    if "export" in names:
        os.environ["TRIPLEPOOL_EXPORT"] = str(names["export"]["id"])
    done = subprocess.run(["sh", "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), code


def test_what_the_page_shows_works_in_its_order(site, names, monkeypatch, capsys):
    if shutil.which("curl") is None and os.environ.get("CI") != "true":
        pytest.skip("no curl")
    monkeypatch.setenv("TRIPLEPOOL_EXPORT", "")
    monkeypatch.setenv("TRIPLEPOOL_TOKEN", site["researcher"])
    for_researchers, rest = TEXT.split("\n## Label\n")
    for_annotators, for_managers = rest.split("\n## Import a graph\n")
    here = names()
    for language, code in blocks(for_researchers):
        run(language, code, here)
    said = capsys.readouterr().out
    imported = System.objects.filter(kind="imported").values_list("name", flat=True)
    assert set(imported) == {here["system"]}  # the second was deleted, the third is private
    assert System.every.get(name=f"{here['system']}-large").private
    assert set(here["found"]["systems"]) == {"transe", "distmult", "complex", here["system"]}
    assert Export.objects.get().is_written and "test-set.zip is complete" in said
    assert Path("test-set.zip").read_bytes() == Path("again.zip").read_bytes()
    assert zipfile.ZipFile("test-set.zip").testzip() is None

    monkeypatch.setenv("TRIPLEPOOL_TOKEN", site["annotator"])
    setup = next(code for language, code in blocks(TEXT) if language == "python")
    here = names()
    for language, code in [("python", setup), *blocks(for_annotators)]:
        run(language, code, here)
    assert "kept as label" in capsys.readouterr().out
    assert [(label.answer, label.annotator.username) for label in Label.objects.all()] == [("?", "annotator")]

    monkeypatch.setenv("TRIPLEPOOL_TOKEN", site["manager"])
    Path("my-graph").mkdir()
    for split, text in (("train", "a r b\nb r c\nc r a\n"), ("valid", "a r c\n"), ("test", "b r a\n")):
        Path("my-graph", f"{split}.txt").write_text(text)
    here = names()
    for language, code in [("python", setup), *blocks(for_managers)]:
        run(language, code, here)
    assert here["done"]["graph"]["num_train"] == 3
    assert (here["back"]["pool"], here["back"]["name"], here["back"]["origin"]) == ("copy", "v1", "frozen")


def test_a_download_that_broke_off_is_taken_up(site, names, monkeypatch):
    monkeypatch.setenv("TRIPLEPOOL_TOKEN", site["researcher"])
    here = names()
    for language, code in blocks(TEXT.split("\n## Label\n")[0]):
        if language == "python":
            run(language, code, here)
    whole = Path("test-set.zip").read_bytes()
    Path("part.zip").write_bytes(whole[: len(whole) // 2])
    asked = []
    call = here["call"]
    here["call"] = lambda *args, **more: asked.append(more["headers"]["Range"]) or call(*args, **more)
    here["download"](here["export"], "part.zip")
    assert (Path("part.zip").read_bytes(), asked) == (whole, [f"bytes={len(whole) // 2}-"])
    Path("other.zip").write_bytes(b"x" * len(whole))
    with pytest.raises(SystemExit, match=r"other.zip does not have the expected SHA-256: delete it"):
        here["download"](here["export"], "other.zip")


def documented() -> dict[tuple[str, str], str]:
    """Method and address of every endpoint of the table -> scopes."""
    found = {}
    for method, paths, scope in re.findall(r"^\| (GET|POST|PUT|DELETE) (`.*?`) \| ([a-z ]+) \|", TEXT, re.M):
        for path in re.findall(r"`([^`]+)`", paths):
            found[method, re.sub(r"[A-Z]+", "{}", path)] = scope
    return found


def test_table_has_every_endpoint():
    document = SchemaGenerator().get_schema(public=True)
    there = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path.removeprefix("/api/v1/")))
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert set(documented()) == there | {("GET", "schema")}


def test_table_has_the_scopes_of_the_endpoints():
    from tests.pages.test_access import routes
    from tests.pages.test_api_access import TABLE

    addresses = {name: re.sub(r"<[^>]+>", "{}", str(pattern.pattern)) for name, pattern in routes()}
    scopes = {(row.method.upper(), addresses[name]): row.scopes for name, rows in TABLE.items() for row in rows}
    told = {key: scope.replace(" or ", " ") for key, scope in documented().items()}
    assert told == scopes | {("GET", "schema"): "open"}


def test_filters_and_errors_are_those_of_the_code():
    table = TEXT.split("**Lists**")[1].split("**Errors**")[0]
    told = {
        re.sub(r"[A-Z]+", "{}", path): set(names.split(", "))
        for path, names in re.findall(r"^\| `([^`]+)` \| (.+) \|$", table, re.M)
    }
    from tests.pages.test_access import routes

    there = {}
    for name, pattern in routes():
        view = getattr(pattern.callback, "view_class", None)
        if name.startswith("api-") and view and issubclass(view, Listing) and view.filters:
            there[re.sub(r"<[^>]+>", "{}", str(pattern.pattern))] = set(view.filters)
    assert told == there
    codes = {code for row in re.findall(r"^\| (\d{3}(?:, \d{3})*) \|", TEXT, re.M) for code in row.split(", ")}
    assert codes == set(ERRORS) - {"405", "406"}


def test_rates_are_those_of_the_settings():
    import config.settings

    told = re.findall(r"(\w+)s ([\d,]*\d)", TEXT.split("**Rates**")[1].split("\n")[0])
    rates = {role: f"{number.replace(',', '')}/min" for role, number in told}
    assert rates == config.settings.API_RATES
