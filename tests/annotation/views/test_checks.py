"""Gold items and re-check samples for managers; to annotators they do not exist."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.submit import submit
from annotation.models import Campaign, Check, CheckLabel, Gold
from annotation.people.simulated import NAME
from annotation.quality.checks import IS_ITEM, GoldAdded, claim_questions, draw_recheck, gold_from_file, gold_from_pool
from annotation.quality.reports import gold_report
from annotation.views import told
from core.models import AuditEntry
from tests.annotation.factories import LINK, label_item
from tests.page import Element, codes, numbers, read, refusal

URL = "/pools/p1/campaign/checks"


@pytest.fixture
def gold(world) -> Gold:
    """A seed triple with answer yes; it is given out with every second question."""
    gold_from_pool(world.campaign, positives=1, negatives=0, by=world.manager)
    Campaign.objects.update(gold_percent=50)
    world.campaign.refresh_from_db()
    return Gold.objects.get()


def answer_gold(world, user, given: str) -> CheckLabel:
    check = next(asked for asked in claim_questions(world.campaign, user, 50) if isinstance(asked, Check))
    submit(user, check.ticket, check.lease, GivenAnswer(uuid4(), given, "" if given == "?" else LINK, "hm"))
    return CheckLabel.objects.get(check_item=check)


def table(page: Element, part: str = "gold") -> list[list[str]]:
    return page.one(id=part).rows


# -- gold items ----------------------------------------------------------------------------------------------


def test_page_without_gold_items_says_what_to_do(world, manager) -> None:
    page = read(manager.get(URL))
    assert page.has("empty") and not page.has("warning") and numbers(page.one("rate").text) == ["0"]
    Campaign.objects.update(gold_percent=5)
    page = read(manager.get(URL))
    assert page.has("warning") and numbers(page.one("rate").text) == ["5", "20"]


def test_gold_items_are_drawn_from_the_pool(world, manager) -> None:
    response = manager.post(URL, {"act": "draw", "positives": "1", "negatives": "1", "seed": "0"})
    assert (response.status_code, response["Location"]) == (302, URL)
    assert list(Gold.objects.values_list("answer", "origin", "created_by")) == [
        ("Y", "seed", world.manager.pk),
        ("N", "filter", world.manager.pk),
    ]
    page = read(manager.get(URL))
    assert page.messages == [told.gold_added(GoldAdded(2, 0))]
    assert [row[:6] for row in table(page)] == [
        ["Has Person 1 lived in City 7?", "yes", "seed triple", "0", "0", "–"],
        ["Has Person 1 lived in City 2?", "no", "filtered triple", "0", "0", "–"],
    ]
    entry = AuditEntry.objects.get(act="gold-added")
    assert (entry.person, entry.about) == (world.manager, "2 gold items")
    manager.post(URL, {"act": "draw", "positives": "1", "negatives": "0", "seed": "7"})
    assert read(manager.get(URL)).messages == [told.gold_added(GoldAdded(0, 1))]


@pytest.mark.parametrize(
    ("asked", "errors"),
    [
        ({"positives": "0", "negatives": "0", "seed": "1"}, {"__all__": ["none"]}),
        ({"positives": "-1", "negatives": "0", "seed": "1"}, {"positives": ["min_value"]}),
        ({"positives": "1", "negatives": "", "seed": "x"}, {"negatives": ["required"], "seed": ["invalid"]}),
    ],
)
def test_draw_that_cannot_be(world, manager, asked, errors) -> None:
    response = manager.post(URL, {"act": "draw"} | asked)
    assert codes(response.context["draw"]) == errors
    assert read(response).has("refused") and not Gold.objects.exists()


def test_draw_of_more_than_there_are(world, manager) -> None:
    page = read(manager.post(URL, {"act": "draw", "positives": "2", "negatives": "0", "seed": "1"}))
    why = refusal(lambda: gold_from_pool(world.campaign, positives=2, negatives=0, seed=1))
    assert page.one("refused").texts(tag="p")[1:] == why and not Gold.objects.exists()


def test_answers_are_counted_as_in_the_report(world, manager, gold) -> None:
    answer_gold(world, world.ann, "Y")
    answer_gold(world, world.ben, "N")
    (row,) = table(read(manager.get(URL)))
    assert row[3:6] == ["2", "2", "50.0 %"]
    (told,) = gold_report(world.campaign.golds.all())
    assert (told.asked, told.answered, tuple(told.correct)) == (2, 2, (1, 2))


def test_changed_answer_counts_once(world, manager, gold) -> None:
    from annotation.labelling.submit import change

    label = answer_gold(world, world.ann, "N")
    change(world.ann, label.client_id, GivenAnswer(uuid4(), "Y", LINK))
    (row,) = table(read(manager.get(URL)))
    assert row[3:6] == ["1", "1", "100.0 %"]


def test_gold_item_is_taken_out_and_given_out_again(world, manager, gold) -> None:
    assert manager.post(URL, {"act": "gold", "gold": gold.pk, "active": "0"}).status_code == 302
    assert not Gold.objects.get().is_active
    assert not any(isinstance(asked, Check) for asked in claim_questions(world.campaign, world.ann, 50))
    page = read(manager.get(URL))
    assert (page.messages, page.has("inactive"), page.has("active")) == ([told.GOLD_TAKEN_OUT], True, False)
    manager.post(URL, {"act": "gold", "gold": gold.pk, "active": "1"})
    assert read(manager.get(URL)).messages == [told.GOLD_GIVEN_OUT]
    assert Gold.objects.get().is_active
    acts = AuditEntry.objects.filter(person=world.manager).values_list("act", "about")
    assert list(acts.order_by("pk")) == [
        ("gold-added", "1 gold items"),
        ("gold-removed", "1 gold items taken out"),
        ("gold-added", "1 gold items given out"),
    ]


@pytest.mark.parametrize("asked", [{"gold": "x"}, {"gold": "999999", "active": "1"}, {"active": "0"}, {"act": "none"}])
def test_nonsense_is_404(world, manager, gold, asked) -> None:
    assert manager.post(URL, {"act": "gold"} | asked).status_code == 404
    assert Gold.objects.get().is_active


def upload(manager, content: bytes, name: str = "gold.tsv") -> Any:
    return manager.post(URL, {"act": "file", "file": SimpleUploadedFile(name, content)}, follow=True)


def test_gold_items_of_a_file(world, manager) -> None:
    response = upload(manager, "\ufeffp1\tlived_in\tc1\tN\r\np2\tlived_in\tc7\tY\r\n".encode(), "../../etc/passwd")
    assert read(response).messages == [told.gold_added(GoldAdded(2, 0))]
    assert list(Gold.objects.values_list("answer", "origin")) == [("N", "file"), ("Y", "file")]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"\xff\xfe\x00", "gold.tsv:1: "),
        (b"p5\tlived_in\tc1\n", "gold.tsv:1: "),
        (b"p5\tlived_in\tc1\t?\n", "gold.tsv:1: "),
        (b"p5\tlived_in\tc1\tmaybe\n", "gold.tsv:1: "),
        (b"p1\tlived_in\tc1\tN\nnobody\tlived_in\tc1\tN\n", "gold.tsv:2: "),
        (b"p1\tlived_in\tc1\tN\np5\tlived_in\tc1\tN\n", "gold.tsv:2: "),
        (b"<b>p5</b>\tlived_in\tc1\tN\n", "gold.tsv:1: "),
        (b"\x1f\x8b\x08garbage", "gold.tsv:1: "),
    ],
)
def test_file_that_is_refused_adds_nothing(world, manager, tmp_path, content, place) -> None:
    response = upload(manager, content)
    (tmp_path / "gold.tsv").write_bytes(content)
    why = refusal(lambda: gold_from_file(world.campaign, tmp_path / "gold.tsv"))
    page = read(response)
    assert page.has("refused") and page.errors == why
    assert why[0].startswith(place) and "<b>p5" not in response.content.decode()
    assert not Gold.objects.exists()


@pytest.mark.parametrize(("content", "code"), [(b"", "empty"), (b"x" * 1_048_577, "large")])
def test_file_of_a_wrong_size_adds_nothing(world, manager, content, code) -> None:
    response = upload(manager, content)
    assert codes(response.context["file"]) == {"file": [code]} and read(response).has("refused")
    assert not Gold.objects.exists()


def test_item_cannot_be_a_gold_item(world, manager) -> None:
    from pooling.graphs.opening import open_graph

    graph, triple = open_graph(world.pool.graph), world.campaign.items.first().triple
    line = f"{graph.entities[triple.head]}\tlived_in\t{graph.entities[triple.tail]}\tY\n"
    assert read(upload(manager, line.encode())).errors[0] == f"gold.tsv:1: {IS_ITEM}"
    assert not Gold.objects.exists()


def test_missing_file_is_said(world, manager) -> None:
    assert codes(manager.post(URL, {"act": "file"}).context["file"]) == {"file": ["required"]}


# -- re-check ------------------------------------------------------------------------------------------------


@pytest.fixture
def judged(world) -> None:
    for number, item in enumerate(world.campaign.items.order_by("order")[:4]):
        label_item(world, item, ann="YN"[number % 2], ben="YN"[number % 2])


def test_preview_tells_what_there_is_and_draws_nothing(world, manager, judged) -> None:
    def preview(person, size: str) -> tuple[list[str], list[str], list[str]]:
        page = read(manager.get(URL, {"person": person.pk, "size": size, "seed": "3"}))
        supply = [page.one(name).text for name in ("person", "positive", "negative")]
        return supply, numbers(" ".join(page.texts("draw"))), numbers(" ".join(page.texts("fewer")))

    assert preview(world.cleo, "2") == (["cleo", "2", "2"], ["2"], [])
    assert preview(world.cleo, "9") == (["cleo", "2", "2"], ["4"], ["9", "4"])
    assert not Check.objects.exists()
    assert preview(world.ann, "2") == (["ann", "0", "0"], [], [])


def test_sample_is_drawn_and_its_progress_shown(world, manager, judged) -> None:
    asked = {"act": "recheck", "person": world.cleo.pk, "size": "2", "seed": "3"}
    response = manager.post(URL, asked)
    assert (response.status_code, response["Location"]) == (302, URL)
    assert sorted(Check.objects.values_list("kind", "person", "expected")) == [
        ("recheck", world.cleo.pk, "N"),
        ("recheck", world.cleo.pk, "Y"),
    ]
    entry = AuditEntry.objects.get(act="recheck-drawn")
    assert (entry.person, entry.subject, entry.details) == (world.manager, world.cleo, {"seed": 3})
    for check in [asked for asked in claim_questions(world.campaign, world.cleo, 50) if isinstance(asked, Check)]:
        submit(world.cleo, check.ticket, check.lease, GivenAnswer(uuid4(), "Y", LINK))
    page = read(manager.get(URL))
    assert page.messages == [told.recheck_drawn(world.cleo, 2)]
    (row,) = table(page, "recheck")
    assert [row[0], *row[2:]] == ["cleo", "2 of 2", "50.0 %", "100.0 % of 1", "0.0 % of 1", "0"]


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        ({"person": "999999"}, {"person": ["invalid_choice"]}), ({"person": "x"}, {"person": ["invalid_choice"]}),
        ({"size": "0"}, {"size": ["min_value"]}), ({"size": "5001"}, {"size": ["max_value"]}),
        ({"seed": "-1"}, {"seed": ["min_value"]}),
    ],
)  # fmt: skip
def test_sample_that_cannot_be_drawn(world, manager, judged, change, errors) -> None:
    asked = {"act": "recheck", "person": world.cleo.pk, "size": "2", "seed": "3"} | change
    for response in (manager.post(URL, asked), manager.get(URL, asked)):
        assert codes(response.context["sample"]) == errors and len(read(response).errors) == 1
    assert not Check.objects.exists()


def test_managers_strangers_and_simulated_people_are_no_choice(world, manager, judged) -> None:
    world.ben.username = NAME + "1"
    world.ben.set_unusable_password()
    world.ben.save()
    for person in (world.manager, world.stranger, world.ben):
        asked = {"act": "recheck", "person": person.pk, "size": "2", "seed": "3"}
        assert codes(manager.post(URL, asked).context["sample"]) == {"person": ["invalid_choice"]}
    page = read(manager.post(URL, {"act": "recheck", "person": world.ann.pk, "size": "2", "seed": "3"}))
    why = refusal(lambda: draw_recheck(world.campaign, world.ann, 2, seed=3))
    assert page.one("refused").texts(tag="p")[1:] == why


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, manager, judged, count, django_assert_num_queries) -> None:
    for tail in ("c1", "c2", "c7")[:count]:
        upload(manager, f"p1\tlived_in\t{tail}\tN\n".encode())
    draw_recheck(world.campaign, world.cleo, count)
    manager.get(URL)
    with django_assert_num_queries(12):
        assert len(table(read(manager.get(URL)))) == count


def test_checks_are_a_managers_only(world, as_user, gold) -> None:
    for who in ("ann", "ada", "researcher"):
        client = as_user(getattr(world, who))
        assert client.get(URL).status_code == 403
        assert client.post(URL, {"act": "gold", "gold": gold.pk, "active": "0"}).status_code == 403
    assert Gold.objects.get().is_active
