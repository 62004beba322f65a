"""All roles, one after another, in a real browser, against the real server and worker, from first page to export.

Then schemathesis asks that server. Everything is made by the commands in a folder of its own, on SQLite; nothing may be
written to a page's console.
"""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import schemathesis
from django.conf import settings

from tests.fuzz import ask_every_operation

pytestmark = pytest.mark.slow
POOL = "walk"


class Site:
    """A TriplePool of its own: commands, people with their passwords, and a server with its worker."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **{k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "ARTIFACT_ROOT", "CELERY_BROKER_URL")},
            "TRIPLEPOOL_VAR": str(folder),
            "WORKER_PROCESSES": "2",
        }
        self.passwords: dict[str, str] = {}
        self.log = folder / "serve.log"

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=settings.BASE_DIR,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def person(self, name: str, role: str, *more: str) -> None:
        told = self.manage("add_person", name, "--role", role, *more)
        self.passwords[name] = told.split("password: ")[1].strip()

    def said(self) -> str:
        """What `serve` has printed."""
        return self.log.read_text()

    def python(self, code: str) -> str:
        return self.manage("shell", "-v", "0", "-c", code)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("walk"))
    site.manage("migrate", "-v", "0")
    site.manage("import_graph", "kin", "--family-tree", "--families", "2", "--people", "25")
    site.manage("train_systems", "kin", "--systems", "complex,transe,distmult", "--set", "epochs=4")
    site.manage("build_pool", "kin", "--name", POOL, "--sample", "0.01", "--depth", "2", "--filters", "none")
    site.manage("open_campaign", POOL)
    site.person("Mara", "manager")
    site.person("Rita", "researcher")
    for name in ("Anna", "Ben"):
        site.person(name, "annotator", "--campaign", POOL)
    site.person("Ada", "adjudicator", "--campaign", POOL)
    # labels are settled at once: waiting 15 minutes for the undo window is no part of the walk
    site.python("from annotation.models import Campaign; Campaign.objects.update(undo_minutes=0)")
    with served(site):
        yield site


@contextmanager
def served(site: Site) -> Iterator[None]:
    """Serve a site, with its worker."""
    with site.log.open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{site.port}"],
            cwd=settings.BASE_DIR,
            env=site.environment,
            stdout=log,
        )
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", site.port)) == 0:
                    break
            assert server.poll() is None, "the server ended before anybody could reach it"
            time.sleep(0.5)
        yield
    finally:
        server.terminate()
        server.wait(timeout=60)


class Window:
    """A browser of its own; `said` is what its console was told."""

    def __init__(self, browser, site: Site) -> None:
        self.context = browser.new_context(base_url=site.url, viewport={"width": 1280, "height": 900})
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.page.on("console", lambda m: self.said.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))

    def leave(self) -> None:
        self.context.close()
        assert self.said == []


class Visitor(Window):
    """One person, signed in."""

    def __init__(self, browser, site: Site, name: str) -> None:
        super().__init__(browser, site)
        self.page.goto("/")
        assert "/login" in self.page.url
        self.page.fill("input[name=username]", name)
        self.page.fill("input[name=password]", site.passwords[name])
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(f"{site.url}/")

    def opens(self, path: str, heading: str) -> None:
        response = self.page.goto(path)
        assert response.status == 200
        assert heading in self.page.text_content("h1")

    def refused(self, path: str) -> None:
        assert self.page.goto(path).status == 403
        # the refusal itself is what the browser reports to its console
        self.said = [line for line in self.said if "403" not in line]

    def starts(self, path: str) -> None:
        """Open the page of a loop, by way of the text on personal data, which members agree to once."""
        self.page.goto(path)
        assert "/consent" in self.page.url
        self.page.get_by_role("checkbox").check()
        self.page.get_by_role("button", name="Agree").click()
        self.page.wait_for_url(f"**{path}")


GUARD_MS = 350  # a key pressed while the question changes counts for nothing; see static/js/lib/loop.js


def press(page, key: str) -> None:
    page.evaluate(f"new Promise((done) => requestAnimationFrame(() => setTimeout(done, {GUARD_MS})))")
    page.keyboard.press(key)


def answer_everything(visitor: Visitor, answer_of) -> list[str]:
    """Answer by keys until nothing is left; gives the questions in their order."""
    page = visitor.page
    page.goto(f"/campaigns/{POOL}/annotate")
    if "/consent" in page.url:
        visitor.starts(f"/campaigns/{POOL}/annotate")
    asked: list[str] = []
    while True:
        page.wait_for_selector("[data-loop]:not([hidden]), [data-idle]:not([hidden])")
        if page.is_visible("[data-idle]"):
            return asked
        question = page.text_content("[data-question]")
        asked.append(question)
        assert len(asked) < 400, "the loop does not end"
        page.fill("#link", "https://en.wikipedia.org/wiki/Family")
        page.locator("#link").blur()
        press(page, answer_of(question))
        page.wait_for_function(
            "q => document.querySelector('[data-idle]').checkVisibility() "
            "|| document.querySelector('[data-question]').textContent !== q",
            arg=question,
        )


@pytest.mark.browser
def test_walk_through_all_roles(site: Site, browser) -> None:
    # the manager sees the pipeline, its graph and systems
    mara = Visitor(browser, site, "Mara")
    for path, heading in (
        ("/graphs", "Graphs"),
        ("/graphs/kin", "kin"),
        ("/graphs/kin/systems", "Systems"),
        ("/pools", "Pools"),
        (f"/pools/{POOL}", POOL),
        (f"/pools/{POOL}/triples", "Pooled triples"),
        (f"/pools/{POOL}/filter", "Filter"),
        (f"/pools/{POOL}/questions", "Questions"),
        (f"/pools/{POOL}/campaign", "Progress"),
        ("/jobs", "Jobs"),
    ):
        mara.opens(path, heading)
    mara.page.goto("/jobs")
    assert mara.page.text_content("main").count("done") >= 4  # three trainings and the pool

    # an annotator is refused what managers and researchers see, and a link that is not verified
    anna = Visitor(browser, site, "Anna")
    for path in (f"/pools/{POOL}", f"/pools/{POOL}/evaluation", "/jobs", "/graphs/kin/systems"):
        anna.refused(path)
    anna.starts(f"/campaigns/{POOL}/annotate")
    anna.page.wait_for_selector("[data-loop]:not([hidden])")
    first = anna.page.text_content("[data-question]")
    for link in ("https://evil.example/x", "javascript:alert(1)"):
        anna.page.fill("#link", link)
        anna.page.locator("#link").blur()
        press(anna.page, "y")
        anna.page.wait_for_selector("#link-error:not([hidden])")
        assert anna.page.text_content("[data-question]") == first
    anna.page.locator("#link-error").get_by_role("button", name="Accepted sites").click()
    assert "wikipedia.org" in anna.page.text_content("dialog[open]")
    anna.page.keyboard.press("Escape")

    # the researcher's open page follows the labels without a load
    rita = Visitor(browser, site, "Rita")
    rita.opens(f"/pools/{POOL}/evaluation", "Results overview")
    rita.page.evaluate("window.neverLoadedAgain = true")
    before = rita.page.get_attribute("#figures > [data-version]", "data-version")

    # two people answer everything: they differ on every question but the first ten, where both say yes
    asked = answer_everything(anna, lambda question: "y")
    agreed = set(asked[:10])
    same = answer_everything(Visitor(browser, site, "Ben"), lambda question: "y" if question in agreed else "n")
    assert sorted(same) == sorted(asked)
    anna.opens(f"/campaigns/{POOL}/labels", "labels")
    anna.leave()

    rita.page.wait_for_function(
        "v => document.querySelector('#figures > [data-version]').dataset.version !== v", arg=before, timeout=60_000
    )
    assert rita.page.evaluate("window.neverLoadedAgain") is True
    positives = int(site.manage("pool_report", POOL, "--json").split('"positive": ')[1].split(",")[0])
    seeds = int(site.manage("pool_report", POOL, "--json").split('"seeds": ')[1].split(",")[0])
    assert positives == seeds + len(agreed)
    rita.page.wait_for_function(
        "n => document.querySelector('.metrics caption').textContent.includes(n + ' positive')", arg=str(positives)
    )
    rita.opens(f"/pools/{POOL}/evaluation/depth", "Pool depth")
    rita.page.locator("[data-chart] svg.wide").first.wait_for()

    # the adjudicator sees two answers without names and decides, with a link of her own and a reason, a key each
    ada = Visitor(browser, site, "Ada")
    ada.starts(f"/campaigns/{POOL}/adjudicate")
    ada.page.wait_for_selector("[data-loop]:not([hidden])")
    given = ada.page.text_content("[data-given]")
    assert "Anna" not in ada.page.content() and "Ben" not in ada.page.content()
    assert "yes" in given.lower() and "no" in given.lower()
    question = ada.page.text_content("[data-question]")
    ada.page.fill("#link", "https://en.wikipedia.org/wiki/Family")
    ada.page.locator("#link").blur()
    press(ada.page, "y")
    press(ada.page, "d")
    ada.page.wait_for_function(
        "q => document.querySelector('[data-idle]').checkVisibility() "
        "|| document.querySelector('[data-question]').textContent !== q",
        arg=question,
    )
    ada.leave()
    report = site.manage("pool_report", POOL, "--json")
    assert int(report.split('"positive": ')[1].split(",")[0]) == positives + 1

    # the manager freezes; the researcher may not, but takes the test set away
    mara.opens(f"/pools/{POOL}/export", "Export")
    mara.page.fill("input[name=name]", "v1")
    mara.page.get_by_role("button", name="Freeze qrels").click()
    mara.page.wait_for_selector("text=Qrels v1 frozen")
    mara.leave()
    rita.opens(f"/pools/{POOL}/export", "Export")
    assert rita.page.get_by_role("button", name="Freeze qrels").count() == 0
    rita.page.get_by_role("button", name="Write test set").click()
    rita.page.wait_for_selector("a:text('Download')", timeout=60_000)
    with rita.page.expect_download() as download:
        rita.page.get_by_role("link", name="Download").click()
    assert re.fullmatch(rf"{POOL}-v1\.zip", download.value.suggested_filename)
    assert Path(download.value.path()).stat().st_size > 5_000
    rita.leave()


def test_the_running_api_answers_as_its_document_says(site: Site) -> None:
    """After the walk, so that there is something of every kind."""
    told = site.python(
        "from django.contrib.auth.models import User; from core.people.tokens import create_token, scopes_for; "
        "mara = User.objects.get(username='Mara'); "
        "print(create_token(mara, 'fuzz', [scope.value for scope in scopes_for(mara)], 1)[1])"
    )
    token = told.split()[-1]
    schema = schemathesis.openapi.from_url(f"{site.url}/api/v1/schema", headers={"Authorization": f"Token {token}"})
    known = {
        "pool": POOL,
        "graph": "kin",
        "system": "transe",
        "qrels": "v1",
        "measure": "micro_mrr",
        "file": "qrels.txt",
        "analysis": "measures",
        "export": 1,
        "job": 1,
    }
    seen = ask_every_operation(schema, token, known, examples=8)  # 600 requests a minute are answered
    assert len(seen) == len(list(schema.get_all_operations()))
    assert seen["GET /api/v1/campaigns/{pool}"] == {200, 404}
    asked = set.union(*seen.values())
    assert {200, 400, 404} <= asked and 401 not in asked
