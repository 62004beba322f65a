"""Freezing qrels and taking the test set away."""

from __future__ import annotations

import io
import zipfile

import pytest

from core.database import gone
from core.enums import JobState
from core.models import Job
from evaluation.enums import EvaluationJob
from evaluation.keeping.removal import remove
from evaluation.labels.licences import check_licence
from evaluation.labels.qrels import freeze_qrels, freeze_warnings
from evaluation.labels.terms import edit_terms, terms_of
from evaluation.models import Export, Qrels
from evaluation.overview.counts import pool_report
from evaluation.test_sets.citation import suggested_citation
from evaluation.test_sets.export import options_of, request_export, write_zip, zip_name
from evaluation.test_sets.files import EVERYTHING, ExportOptions
from evaluation.test_sets.trec import trec_lists
from evaluation.views import test_sets as export
from evaluation.views.test_sets import EDITED, FROZEN, WRITTEN_ALREADY
from pooling.models import Pool
from tests.factories import make_pool
from tests.page import element, fields, has, links, notices, parse, posts, refusal, refused

PAGE, WRITE = "/pools/p/export", "/pools/p/export/v1/write"


def written(qrels: Qrels, **options: bool) -> tuple[Export, str]:
    """A written archive and its address."""
    export, _ = request_export(qrels, ExportOptions(**options), None)
    write_zip(export)
    return export, f"/pools/p/export/{qrels.name}/{export.pk}.zip"


@pytest.mark.parametrize(
    ("role", "status"),
    [
        ("manager", 200), ("researcher", 200), ("annotator", 403), ("adjudicator", 403), ("guest", 403),
        ("stranger", 302),
    ],
)  # fmt: skip
def test_who_may_see_write_and_take_away(sign_in, labelled: Pool, role, status):
    _, download = written(freeze_qrels(labelled, "v1"))
    Job.objects.all().delete()
    client = sign_in(role)
    assert [client.get(url).status_code for url in (PAGE, download)] == [status, status]
    assert client.post(WRITE, {"strict": "on"}).status_code == (302 if status == 200 else status)
    assert Job.objects.filter(kind=EvaluationJob.EXPORT).count() == (1 if status == 200 else 0)


def test_an_export_of_a_pool_that_is_deleted_at_that_moment_is_not_found(sign_in, labelled: Pool, monkeypatch):
    freeze_qrels(labelled, "v1")

    def gone_meanwhile(*asked):
        remove(labelled, None, with_labels=True)
        return request_export(*asked)

    monkeypatch.setattr(export, "request_export", gone_meanwhile)
    answer = sign_in("researcher").post(WRITE)
    assert answer.status_code == 404
    assert element(answer, "problem").text == str(gone(labelled))
    assert Job.objects.count() == 0


@pytest.mark.parametrize(
    ("role", "status", "frozen"),
    [("manager", 302, ["v1"]), ("researcher", 403, []), ("annotator", 403, []), ("stranger", 302, [])],
)
def test_only_managers_freeze(sign_in, role, status, frozen):
    answer = sign_in(role).post(PAGE, {"name": "v1"})
    assert answer.status_code == status
    assert answer.get("Location", "") == {"manager": PAGE, "stranger": f"/login?next={PAGE}"}.get(role, "")
    assert list(Qrels.objects.values_list("name", flat=True)) == frozen


def test_researchers_are_not_offered_to_freeze(sign_in):
    manager, researcher = (sign_in(role).get(PAGE) for role in ("manager", "researcher"))
    assert "" in posts(manager) and {"name", "licence", "citation"} <= set(fields(manager))
    assert "" not in posts(researcher) and "name" not in fields(researcher)


def test_the_page_shows_the_numbers_of_this_moment_and_what_is_frozen(sign_in, labelled: Pool):
    client = sign_in("manager")
    page, report = client.get(PAGE), pool_report(labelled)
    keys = ("positive", "negative", "assumed_negative", "unjudged")
    assert element(page, "now").figures == {key: f"{report[key]:,}" for key in keys}
    assert not has(page, "frozen")
    page = client.post(PAGE, {"name": "v1"}, follow=True)
    qrels = Qrels.objects.get()
    assert notices(page) == [FROZEN.format("v1")]
    assert element(page, f"qrels-{qrels.pk}").text == "v1" and qrels.sha256[:12] in parse(page).text
    assert qrels.created_by is not None and qrels.created_by.username == "manager"


def primary(page: object) -> list[str]:
    """Return the words of the primary buttons in the content, those of screen readers too."""
    return [one.text for one in element(page, "main").walk() if one.attrs.get("class") == "button-primary"]


def test_the_one_primary_button_freezes_then_writes_then_downloads(sign_in, labelled: Pool):
    manager, researcher = sign_in("manager"), sign_in("researcher")
    assert primary(manager.get(PAGE)) == ["Freeze qrels"] and primary(researcher.get(PAGE)) == []
    older, qrels = freeze_qrels(labelled, "v1"), freeze_qrels(labelled, "v2")
    written(older)
    assert primary(manager.get(PAGE)) == primary(researcher.get(PAGE)) == ["Write test set of v2"]
    export, _ = request_export(qrels, ExportOptions(), None)
    assert primary(manager.get(PAGE)) == []  # a job writes it
    write_zip(export)
    page = manager.get(PAGE)
    (download,) = [one for one in element(page, "main").walk() if one.attrs.get("class") == "button-primary"]
    assert download["href"] == f"/pools/p/export/v2/{export.pk}.zip"
    html = page.content.decode()
    assert html.index(download["href"]) < html.index("/pools/p/export/v2/write")  # other contents come below it


def test_home_leads_researchers_to_the_test_set_once_something_is_frozen(sign_in, labelled: Pool):
    manager, researcher = sign_in("manager"), sign_in("researcher")
    assert not has(researcher.get("/"), "test-set")
    freeze_qrels(labelled, "v1")
    assert element(researcher.get("/"), "test-set").one(tag="a")["href"] == PAGE
    assert not has(manager.get("/"), "test-set")  # has a next step instead


def test_managers_are_warned_before_they_freeze_what_is_hardly_judged(sign_in, labelled: Pool):
    manager, researcher = sign_in("manager"), sign_in("researcher")
    report = pool_report(labelled)
    assert parse(manager.get(PAGE)).texts("freeze-warning") == freeze_warnings(report, report["to_people"])
    labelled.judgements.all().delete()
    report = pool_report(labelled)
    told = parse(manager.get(PAGE)).texts("freeze-warning")
    assert told == freeze_warnings(report, report["to_people"]) and len(told) == 2
    assert not has(researcher.get(PAGE), "freeze-warning")


@pytest.mark.parametrize(("name", "why"), [("v1", "taken"), ("", "required"), ("a b", "invalid")])
def test_a_name_that_cannot_be_used_is_explained(sign_in, labelled: Pool, name, why):
    freeze_qrels(labelled, "v1")
    told = refusal(lambda: freeze_qrels(labelled, "v1")) if why == "taken" else [why]
    answer = sign_in("manager").post(PAGE, {"name": name})
    assert answer.status_code == 200
    assert refused(answer) == {"name": told}
    assert Qrels.objects.count() == 1


def test_a_licence_that_spdx_does_not_know_is_refused_at_its_field(sign_in, labelled: Pool):
    client = sign_in("manager")
    answer = client.post(PAGE, {"name": "v1", "licence": "CC BY 4.0"})
    assert refused(answer) == {"licence": refusal(lambda: check_licence("CC BY 4.0"))}
    assert Qrels.objects.count() == 0
    client.post(PAGE, {"name": "v1", "licence": "cc-by-4.0"})
    assert Qrels.objects.get().last_terms.licence == "CC-BY-4.0"


TERMS = "/pools/p/export/v1/terms"
ASKED = {"licence": "cc0-1.0", "creators": "Lovelace, Ada, 0000-0002-1825-0097", "changed": "A licence"}


@pytest.mark.parametrize(
    ("role", "seen", "edits"),
    [("manager", 200, 302), ("researcher", 200, 403), ("annotator", 403, 403), ("stranger", 302, 302)],
)
def test_managers_edit_terms_and_researchers_see_them(sign_in, labelled: Pool, role, seen, edits):
    qrels = freeze_qrels(labelled, "v1")
    client = sign_in(role)
    assert [client.get(TERMS).status_code, client.post(TERMS, ASKED).status_code] == [seen, edits]
    assert qrels.terms.count() == (2 if role == "manager" else 1)
    if seen == 200:
        page = client.get(TERMS)
        assert suggested_citation(qrels, terms_of(qrels)) in " ".join(element(page, "citation").text.split())
        assert {"licence", "changed"} <= set(fields(page)) if role == "manager" else "" not in posts(page)


def test_an_edit_of_terms_is_a_version_and_the_next_archive_has_it(sign_in, labelled: Pool):
    qrels = freeze_qrels(labelled, "v1", licence="MIT", citation="Ada, 2026")
    first, _ = written(qrels)
    client = sign_in("manager")
    assert fields(client.get(TERMS))["licence"] == "MIT"
    page = client.post(TERMS, {**ASKED, "citation": "Ada, 2026"}, follow=True)
    assert notices(page) == [EDITED.format(2)]
    assert element(page, "licence").text.endswith("CC0-1.0") and element(page, "creators").text.endswith("0097")
    assert [one.elements[0].text for one in parse(page).all("version")] == ["2", "1"]
    second, download = written(qrels)
    assert (first.terms_version, second.terms_version, first.pk != second.pk) == (1, 2, True)
    page = client.get(PAGE)
    assert TERMS in links(page) and download in links(page)
    assert client.get(download)["Content-Disposition"] == 'attachment; filename="p-v1-terms-2.zip"'


def test_terms_that_cannot_be_taken_are_refused_at_their_field(sign_in, labelled: Pool):
    qrels = freeze_qrels(labelled, "v1")
    client = sign_in("manager")
    wrong = {"licence": "CC BY 4.0", "creators": "Ada 0000-0002-1825-0098", "url": "x y", "changed": ""}
    assert set(refused(client.post(TERMS, wrong))) == {"licence", "creators", "url", "changed"}
    assert refused(client.post(TERMS, {"changed": "nothing"})) == {
        "__all__": refusal(lambda: edit_terms(qrels, "nothing")),
    }  # fmt: skip
    assert qrels.terms.count() == 1
    assert client.get("/pools/p/export/v2/terms").status_code == 404


def test_a_test_set_is_written_by_a_job_then_taken_away(sign_in, labelled: Pool):
    qrels = freeze_qrels(labelled, "v1")
    client = sign_in("researcher")
    assert client.get(WRITE).status_code == 405
    for _ in range(2):
        assert client.post(WRITE)["Location"] == f"{PAGE}#qrels-{qrels.pk}"
    export = Export.objects.get()
    assert (options_of(export), export.created_by.username, export.is_written) == (EVERYTHING, "researcher", False)
    download = f"/pools/p/export/v1/{export.pk}.zip"
    assert client.get(download).status_code == 404
    job = Job.objects.get(kind=EvaluationJob.EXPORT)
    assert (job.params, job.pool) == ({"qrels": "v1", "export": export.pk}, labelled)
    html, part = client.get(PAGE).content.decode(), f"archives-{qrels.pk}"
    assert element(html, "archive")["data-state"] == JobState.QUEUED
    assert element(html, part)["hx-trigger"] == "every 2s" and notices(html) == []
    assert has(html, "no-worker") and f"/jobs/{job.pk}" not in html  # which a researcher may not see
    Job.objects.update(state="failed", error="The disk is full.")
    page = client.get(PAGE)
    archive = element(page, "archive")
    assert (archive["data-state"], archive.texts(class_="badge badge-failed")) == (
        "failed",
        [JobState.FAILED.label.lower()],
    )
    assert "The disk is full." in archive.text and "hx-trigger" not in element(page, part)
    assert f"/jobs/{job.pk}" in links(sign_in("manager").get(PAGE))
    Job.objects.update(state="done")
    path = write_zip(export)
    page = client.get(PAGE)
    assert element(page, "archive")["data-state"] == "written"
    assert download in links(page) and "hx-trigger" not in element(page, part)
    assert notices(client.post(WRITE, follow=True)) == [WRITTEN_ALREADY.format("v1")]
    answer = client.get(download)
    assert answer["Content-Disposition"] == 'attachment; filename="p-v1.zip"'
    content = b"".join(answer)
    assert content == path.read_bytes()
    assert "p-v1/trec/qrels.txt" in zipfile.ZipFile(io.BytesIO(content)).namelist()


@pytest.mark.parametrize(
    ("ticked", "options", "name"),
    [
        ([], {}, "p-v1.zip"),
        (["without_runs"], {"with_runs": False}, "p-v1-without-runs.zip"),
        (["without_evidence", "strict"], {"with_evidence": False, "strict": True}, "p-v1-without-evidence-strict.zip"),
        (["positives_only"], {"positives_only": True}, "p-v1-positives-only.zip"),
    ],
)  # fmt: skip
def test_what_is_ticked_is_what_is_written(sign_in, labelled: Pool, ticked, options, name):
    qrels = freeze_qrels(labelled, "v1")
    client = sign_in("manager")
    client.post(WRITE, dict.fromkeys(ticked, "on"))
    export = Export.objects.get()
    assert {k: getattr(export, k) for k in ExportOptions._fields} == ExportOptions(**options)._asdict()
    assert zip_name(export) == name
    _, download = written(qrels, **options)
    page = client.post(WRITE, dict.fromkeys(ticked, "on"), follow=True)
    assert notices(page) == [WRITTEN_ALREADY.format("v1")]
    assert (Export.objects.count(), Job.objects.filter(kind=EvaluationJob.EXPORT).count()) == (1, 1)
    assert client.get(download)["Content-Disposition"] == f'attachment; filename="{name}"'


def test_qrels_of_another_pool_are_not_found_here(sign_in, labelled: Pool):
    client = sign_in("manager")
    freeze_qrels(labelled, "v1")
    assert client.post("/pools/q/export/v1/write").status_code == 404
    assert client.get("/pools/p/export/v1/1.zip").status_code == 404
    qrels = freeze_qrels(make_pool(labelled.graph, "other"), "v1")
    export, _ = request_export(qrels, ExportOptions(), None)
    write_zip(export)
    assert client.get(f"/pools/other/export/v1/{export.pk}.zip").status_code == 200
    assert client.get(f"/pools/p/export/v1/{export.pk}.zip").status_code == 404


@pytest.mark.parametrize("file", ["topics.tsv", "pool.txt", "qrels.txt", "qrels_infap.txt"])
def test_trec_files_of_this_moment_are_taken_away(sign_in, labelled: Pool, file: str):
    client = sign_in("researcher")
    assert f"/pools/p/export/trec/{file}" in links(client.get(PAGE))
    answer = client.get(f"/pools/p/export/trec/{file}")
    assert answer["Content-Disposition"] == f'attachment; filename="p-{file}"'
    content = b"".join(answer.streaming_content).decode()
    assert content == "".join(f"{line}\n" for line in trec_lists(labelled)[file])


def test_another_trec_file_is_not_there(sign_in):
    assert sign_in("researcher").get("/pools/p/export/trec/runs.txt").status_code == 404
    assert sign_in("researcher2").get("/pools/p/export/trec/qrels.txt").status_code == 403


def test_figures_of_frozen_qrels_say_how_to_cite_them(sign_in, labelled: Pool):
    client, page = sign_in("researcher"), "/pools/p/evaluation/measures"
    freeze_qrels(labelled, "v1")
    assert element(client.get(f"{page}?labels=qrels:v1"), "cite")["href"] == "/pools/p/export/v1/terms"
    assert not has(client.get(page), "cite")


def test_the_page_says_when_labels_are_newer_than_the_frozen_ones(sign_in, labelled: Pool):
    client = sign_in("manager")
    assert not has(client.get(PAGE), "newer")
    freeze_qrels(labelled, "v1")
    page = parse(client.get(PAGE))
    assert not page.has("newer") and "v1" in page.one("same").text
    assert "open" not in page.one("again") and page.one("again").one(tag="button").text == "Freeze qrels"
    assert "open" in element(client.post(PAGE, {"name": "v1"}), "again")  # where it says that the name is taken
    labelled.judgements.filter(verdict="negative").first().delete()
    notice = element(client.get(PAGE), "newer")
    assert not has(client.get(PAGE), "same") and not has(client.get(PAGE), "again")
    assert "since v1 was frozen" in notice.text and notice.one(tag="a")["href"] == "#now-title"
    assert not element(sign_in("researcher").get(PAGE), "newer").has(tag="a")
