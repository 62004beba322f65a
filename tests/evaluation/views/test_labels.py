"""The page of label sets: who may see and import, and what the table says."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Campaign
from annotation.people.accounts import add_person
from core.files.artifacts import ArtifactError, artifact_path
from core.forms import TOO_LARGE
from evaluation.browse.label_set_rows import ALL_WITHDRAWN, label_set_rows
from evaluation.forms.test_sets import ImportQrelsForm
from evaluation.labels.import_qrels import import_qrels
from evaluation.labels.label_sets import NOTHING_JUDGED, label_set, label_sets, parse_time
from evaluation.labels.pool_table import pool_table
from evaluation.labels.qrels import freeze_qrels, qrels_state
from evaluation.models import Qrels
from evaluation.overview.counts import stage_counts
from evaluation.views.labels import IMPORTED
from pooling.models import Pool
from tests.annotation.factories import answer, slot_for
from tests.factories import names_of
from tests.page import Element, element, elements, fields, has, links, notices, numbers, parse, refusal, refused

PAGE = "/pools/p/evaluation/labels"
MANAGER = SimpleNamespace(_site_roles=frozenset({"manager"}))
FILE = ImportQrelsForm.base_fields["file"]
RESEARCHER = SimpleNamespace(_site_roles=frozenset({"researcher"}))


def rows_of(page: object) -> dict[str, list[str]]:
    """Return the words of each label set's row by its key: name with notes, numbers, when and who."""
    return {row.one("key").text: cells(row) for row in elements(page, "label-set")}


def cells(row: Element) -> list[str]:
    named, *others = row.elements
    name = " ".join([str(named.children[0]).strip(), *named.texts(class_="help")])
    return [name, *(cell.text for cell in others)]


def upload(pool: Pool, *labels: str, name: str = "theirs.tsv") -> SimpleUploadedFile:
    """A file that gives the first pooled triples these labels."""
    triples = pool.triples.order_by("id").values_list("head", "relation", "tail")
    lines = [[*names_of(pool.graph, t), label] for t, label in zip(triples, labels, strict=False)]
    return SimpleUploadedFile(name, "".join("\t".join(line) + "\n" for line in lines).encode())


def annotated(pool: Pool, *names: str) -> None:
    """Each of these people labels the first item: yes."""
    campaign = Campaign.objects.get(pool=pool)
    item = campaign.items.order_by("order").first()
    assert item is not None
    for name in names:
        person, _ = add_person(name, "annotator", campaign, consented=True)
        answer(person, slot_for(campaign, person, item), "Y")


@pytest.mark.parametrize(
    ("role", "seen", "posted", "kept"),
    [
        ("manager", 200, 302, ["theirs"]), ("researcher", 200, 403, []), ("annotator", 403, 403, []),
        ("adjudicator", 403, 403, []), ("guest", 403, 403, []), ("stranger", 302, 302, []),
    ],
)  # fmt: skip
def test_who_may_see_label_sets_and_who_may_import(sign_in, labelled: Pool, role, seen, posted, kept):
    client = sign_in(role)
    page = client.get(PAGE)
    assert page.status_code == seen
    assert ("current" in rows_of(page)) == (seen == 200)
    data = {"name": "theirs", "format": "tsv", "file": upload(labelled, "1")}
    assert client.post(PAGE, data).status_code == posted
    assert list(Qrels.objects.values_list("name", flat=True)) == kept


def test_the_table_says_what_is_in_each_label_set(sign_in, labelled: Pool):
    freeze_qrels(labelled, "v1")
    client = sign_in("manager")
    annotated(labelled, "ann")
    client.post(PAGE, {"name": "theirs", "format": "tsv", "file": upload(labelled, "1", "0")})
    page = client.get(PAGE)
    found, table = rows_of(page), pool_table(labelled)
    keys = [choice.key for choice in label_sets(labelled, MANAGER)]
    assert list(found) == keys
    assert {"depth:0", "depth:5", "qrels:v1", "imported:theirs", "annotator:1"} < set(keys)
    for key in keys:
        chosen = label_set(labelled, table, key)
        counts, questions = chosen.counts(), chosen.question_counts()
        shares = [f"{100 * n / questions.answered:.1f} %" for n in questions[1:]]
        numbers = [*map(str, counts.values()), str(questions.answered), *shares]
        assert found[key][1:8] == numbers
    assert found["current"][3] != found["depth:1"][3]
    qrels = Qrels.objects.get(name="theirs")
    assert found["imported:theirs"][0] == " ".join(["imported theirs", *qrels.notes])
    assert found["imported:theirs"][8] == f"{qrels.created_at:%-d %b %Y, %H:%M} manager"
    assert found["qrels:v1"][8].endswith(" server")
    assert found["seeds"][8] == "–"
    assert f"/pools/{labelled.name}/export" in links(page)


def test_names_of_annotators_are_for_managers_only(sign_in, labelled: Pool):
    manager, researcher = sign_in("manager"), sign_in_again("researcher")
    annotated(labelled, "secret-ann")
    answers = [client.get(PAGE) for client in (manager, researcher)]
    for_managers, for_researchers = (page.content.decode() for page in answers)
    assert rows_of(for_managers)["annotator:1"][0] == "annotator 1 (secret-ann)"
    assert rows_of(for_researchers)["annotator:1"][0] == "annotator 1"
    assert "secret-ann" not in for_researchers
    assert [page["Cache-Control"] for page in answers] == ["no-store", "no-store"]


def sign_in_again(role: str):
    """A second person beside the fixture's, whose campaign is open already."""
    from django.test import Client

    from tests.factories import make_person

    client = Client()
    client.force_login(make_person(role, role), backend="config.sign_in.Accounts")
    return client


def test_an_annotator_without_labels_that_count_and_a_damaged_file_are_said(sign_in, labelled: Pool):
    client = sign_in("researcher")
    annotated(labelled, "ann", "ben")
    campaign = Campaign.objects.get(pool=labelled)
    first = campaign.members.get(person__username="ann").person
    withdraw_labels(campaign, first)
    path = artifact_path(freeze_qrels(labelled, "v1").artifact)
    path.write_bytes(b"something else")
    found = rows_of(client.get(PAGE))
    assert found["annotator:1"][1] == ALL_WITHDRAWN
    with pytest.raises(ArtifactError) as damaged:
        qrels_state(pool_table(labelled), Qrels.objects.get())
    assert found["qrels:v1"][1] == str(damaged.value)
    assert len(found["annotator:2"]) == 9


def test_labels_as_they_stood_at_a_time(sign_in, labelled: Pool):
    client = sign_in("researcher")
    page = client.get(PAGE, {"until": "2026-03-02T12:00"})
    assert next(iter(rows_of(page))) == "until:2026-03-02T12:00:00Z"
    row = rows_of(page)["until:2026-03-02T12:00:00Z"]
    chosen = label_set(labelled, pool_table(labelled), "until:2026-03-02T12:00")
    assert row[0] == f"{chosen.name} {NOTHING_JUDGED}" and numbers(row[0])[-2:] == ["12", "00"]
    assert row[1:5] == [str(n) for n in chosen.counts().values()]
    assert fields(page)["until"] == "2026-03-02T12:00"
    for wrong in ("<b>", (timezone.now() + timedelta(days=1)).isoformat()):
        html = client.get(PAGE, {"until": wrong}).content.decode()
        assert [element(html, "until-problem").text] == refusal(lambda text=wrong: parse_time(text))
        assert "<b>" not in html
        assert list(rows_of(html)) == [choice.key for choice in label_sets(labelled, RESEARCHER)]


def test_an_import_says_what_is_odd_and_a_refusal_why(sign_in, labelled: Pool):
    client = sign_in("manager")
    file = upload(labelled, "1", "yes", "<i>")
    told = refusal(lambda: import_qrels(labelled, "a", file.read(), "theirs.tsv", "tsv"))
    assert [line.split(":")[1] for line in told if line.startswith("theirs.tsv:")] == ["2", "3"]
    file.seek(0)
    wrong = client.post(PAGE, {"name": "a", "format": "tsv", "file": file})
    assert wrong.status_code == 200 and " ".join(parse(wrong).errors) == " ".join(told)
    assert "<i>" in parse(wrong).text and "<i>" not in wrong.content.decode()
    assert not Qrels.objects.exists()
    done = client.post(PAGE, {"name": "a", "format": "tsv", "file": upload(labelled, "1")}, follow=True)
    assert done.redirect_chain == [(PAGE, 302)]
    notes = Qrels.objects.get().notes
    assert notes and notices(done) == [" ".join([IMPORTED.format("a"), *notes])]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": "a b"}, {"name": ["invalid"]}),
        ({"format": "csv"}, {"format": ["invalid_choice"]}),
        ({"file": ""}, {"file": ["required"]}),
        ({"file": SimpleUploadedFile("x", b"")}, {"file": ["empty"]}),
        ({"file": SimpleUploadedFile("x", b"y" * 101)}, {"file": [TOO_LARGE.format(101, 100, FILE.instead)]}),
    ],
)
def test_a_form_that_cannot_be_used_is_explained(sign_in, labelled: Pool, monkeypatch, change, why):
    monkeypatch.setattr(FILE, "most", 100)
    data = {"name": "a", "format": "tsv", "file": SimpleUploadedFile("x", b"y")} | change
    assert refused(sign_in("manager").post(PAGE, data)) == why
    assert not Qrels.objects.exists()


def test_grades_are_chosen_on_the_page(sign_in, labelled: Pool):
    data = {"name": "theirs", "format": "tsv", "threshold": "2", "file": upload(labelled, "2")}
    sign_in("manager").post(PAGE, data, follow=True)
    assert Qrels.objects.get().num_positive == labelled.seeds.count() + 1


def test_without_runs_the_page_says_what_to_do_and_still_imports(sign_in, labelled: Pool):
    for system in labelled.systems.all():
        system.run.delete()
    client = sign_in("manager")
    data = {"name": "theirs", "format": "tsv", "file": upload(labelled, "1")}
    page = client.post(PAGE, data, follow=True)
    assert [element(page, "problem").text] == refusal(lambda: pool_table(labelled))
    assert not parse(page).has(tag="table") and Qrels.objects.count() == 1


def test_imported_qrels_are_not_among_the_frozen_ones(sign_in, labelled: Pool):
    client = sign_in("manager")
    client.post(PAGE, {"name": "theirs", "format": "tsv", "file": upload(labelled, "1")}, follow=True)
    assert Qrels.objects.get().origin == "imported"
    html = client.get("/pools/p/export").content.decode()
    assert "theirs" not in html and not has(html, "frozen")
    assert client.post("/pools/p/export/theirs/write").status_code == 404
    assert stage_counts(labelled).qrels == 0


def test_a_pool_that_is_not_there_has_no_label_sets(sign_in):
    assert sign_in("manager").get("/pools/q/evaluation/labels").status_code == 404


@pytest.mark.parametrize("count", [1, 3])
def test_the_number_of_queries_does_not_grow_with_label_sets(
    sign_in, labelled: Pool, django_assert_num_queries, count: int
):
    sign_in("manager")
    annotated(labelled, *("ann", "ben")[:count])
    for i in range(count):
        freeze_qrels(labelled, f"v{i}")
    table = pool_table(labelled)
    with django_assert_num_queries(11):
        rows = label_set_rows(labelled, table, MANAGER)
    assert len(rows) == 9 + count + min(count, 2)
