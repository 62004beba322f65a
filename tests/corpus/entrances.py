"""How a file of the corpus comes in: by a command, a page or the API; each returns the status and what is told."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from tests.page import parse, refusals

GRAPH = {"train.tsv": b"a\tr\tb\nb\tr\tc\nc\tr\ta\n", "valid.tsv": b"a\tr\tc\n", "test.tsv": b"b\tr\ta\n"}
SEEDS, POOL, RUN = b"p0\tknows\tp3\n", b"p0\tknows\tp4\t1\n", b"tail:p0:knows Q0 p4 1 9.5 mine\n"
REFUSED = 422  # what a command that ends with a message counts as


class Told(NamedTuple):
    status: int
    message: str


Site = dict[str, Any]
Entrance = Callable[[Site, Path], Told]


def run(*args: object, lines: bool = False) -> Told:
    """Call a command; its message, after the lines that it warned of if they are asked for."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*map(str, args), stdout=out, stderr=err)
    except CommandError as error:
        return Told(REFUSED, f"{err.getvalue() if lines else ''} {error}")
    return Told(200, out.getvalue())


def beside(name: str, content: bytes) -> Path:
    """Write a good file that a command needs beside the bad one."""
    path = Path(tempfile.gettempdir()) / name
    path.write_bytes(content)
    return path


def sent(path: Path) -> SimpleUploadedFile:
    return SimpleUploadedFile(path.name, path.read_bytes())


def marked(answer: Any) -> list[str]:
    """Return what a page says is wrong, beside the fields or above the form."""
    top = parse(answer)
    return top.errors or top.texts(class_="field-error break") or refusals(answer)


def good(content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("good.tsv", content)


def page(route: str, field: str, /, *args: str, **fields: Any) -> Entrance:
    """Send a form of a page, as its manager."""

    def send(site: Site, path: Path) -> Told:
        data = {key: value() if callable(value) else value for key, value in fields.items()}
        answer = site["pages"].post(reverse(route, args=args), {**data, field: sent(path)})
        return Told(answer.status_code, " ".join(marked(answer)))

    return send


def api(route: str, field: str, /, *args: str, **fields: Any) -> Entrance:
    def send(site: Site, path: Path) -> Told:
        data = {key: value() if callable(value) else value for key, value in fields.items()}
        answer = site["api"].post(reverse(route, args=args), {**data, field: sent(path)})
        return Told(answer.status_code, str(answer.json().get("error", "")))

    return send


def _whole(path: Path) -> Path:
    """Return a folder of a good graph with what a case has beside it."""
    if path.parent.name != "graphs-beside":
        return path
    folder = Path(tempfile.gettempdir()) / "graph"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(path, folder)
    for name, content in GRAPH.items():
        (folder / name).write_bytes(content)
    return folder


def _graph_files(path: Path) -> list[SimpleUploadedFile]:
    path = _whole(path)
    return [sent(path)] if path.is_file() else [sent(one) for one in sorted(path.rglob("*")) if one.is_file()]


def _forget(site: Site) -> None:
    """Remove what is kept of an upload for a day."""
    for folder in (site["artifacts"] / "uploads").iterdir():
        shutil.rmtree(folder)


def graph_command(site: Site, path: Path) -> Told:
    told = run("import_graph", "new", _whole(path), "--yes")
    return told._replace(message=told.message.replace(f"{tempfile.gettempdir()}/", ""))


def graph_page(site: Site, path: Path) -> Told:
    """Send the files; what is wrong with them is told by the page that shows what was read, or where they are sent."""
    answer = site["pages"].post(reverse("graph-import"), {"sent": _graph_files(path)}, follow=True)
    told = (answer.context or {}).get("refusal") or " ".join(marked(answer))
    if not told and answer.redirect_chain:  # some things are told when it is imported
        answer = site["pages"].post(answer.redirect_chain[-1][0], {"act": "import", "name": "new", "unseen": "keep"})
        told = (answer.context or {}).get("refusal") or " ".join(marked(answer))
    _forget(site)  # kept for a day, so that options can be changed
    return Told(REFUSED if told and answer.status_code == 200 else answer.status_code, str(told))


def graph_api(site: Site, path: Path) -> Told:
    answer = site["api"].post(reverse("api-graph-uploads"), {"files": _graph_files(path)})
    told = str(answer.json().get("error", ""))
    if answer.status_code == 201:  # some things are told when it is imported
        address = reverse("api-graph-upload-import", args=[answer.json()["upload"]])
        answer = site["api"].post(address, {"name": "new"}, content_type="application/json")
        told = str(answer.json().get("error", ""))
        _forget(site)
    return Told(answer.status_code, told)


QRELS = {"format": "tsv", "name": "theirs"}
NEW_RUN = {"name": "mine", "family": "not known"}
P, G = "town-pool", "town"
# folder -> the entrances of its importer
ENTRANCES: dict[str, dict[str, Entrance]] = {
    "seeds": {
        "command": lambda site, path: run(
            "import_pool", G, "--name=outside", f"--file={beside('pool.tsv', POOL)}", f"--seeds={path}"
        ),
        "page": page("pool-import", "seeds_file", graph=G, name="outside", filters="types", file=lambda: good(POOL)),
        "new pool": page(
            "pool-new", "seeds_file", graph=G, name="more", filters="types", systems="rotate", depth=9, rule="filtered"
        ),
    },
    "pools": {
        "command": lambda site, path: run(
            "import_pool", G, "--name=outside", f"--file={path}", f"--seeds={beside('seeds.tsv', SEEDS)}"
        ),
        "page": page("pool-import", "file", graph=G, name="outside", filters="types", seeds_file=lambda: good(SEEDS)),
    },
    "labels": {"command": lambda site, path: run("import_labels", P, path, lines=True)},
    "gold": {"page": page("checks", "file", P, act="file")},
    "qrels": {
        "command": lambda site, path: run("import_qrels", P, "theirs", path),
        "page": page("evaluation-labels", "file", P, **QRELS),
        "api": api("api-imported-qrels", "file", P, **QRELS),
    },
    "qrels-trec": {
        "command": lambda site, path: run("import_qrels", P, "theirs", path, "--format=trec"),
        "page": page("evaluation-labels", "file", P, **QRELS | {"format": "trec"}),
        "api": api("api-imported-qrels", "file", P, **QRELS | {"format": "trec"}),
    },
    "qrels-graded": {
        "command": lambda site, path: run("import_qrels", P, "theirs", path, "--threshold=2"),
        "page": page("evaluation-labels", "file", P, **QRELS, threshold=2),
        "api": api("api-imported-qrels", "file", P, **QRELS, threshold=2),
    },
    "test-sets": {
        "command": lambda site, path: run("import_test_set", G, path, "--name=theirs"),
        "page": page("test-set-import", "file", graph=G, **QRELS),
    },
    "archives": {
        "command": lambda site, path: run("import_test_set", path),
        "page": page("test-set-import", "archive", pool_name="", graph_name=""),
        "api": api("api-test-sets", "archive"),
    },
    "runs": {
        "command": lambda site, path: run("import_run", G, path, "--system=mine"),
        "page": page("runs", "file", G, **NEW_RUN),
        "api": api("api-graph-runs", "file", G, system="mine"),
    },
    "topics": {
        "command": lambda site, path: run(
            "import_run", G, beside("run.txt", RUN), "--system=mine", f"--topics={path}"
        ),
        "page": page("runs", "topics", G, **NEW_RUN, file=lambda: good(RUN)),
        "api": api("api-graph-runs", "topics", G, system="mine", file=lambda: good(RUN)),
    },
    "templates": {"page": page("pool-questions-import", "file", P)},
    "graphs": {"command": graph_command, "page": graph_page, "api": graph_api},
    "graphs-beside": {"command": graph_command, "page": graph_page, "api": graph_api},
    "backups": {"command": lambda site, path: run("restore", path)},
}  # fmt: skip
