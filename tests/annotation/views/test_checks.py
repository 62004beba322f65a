"""Gold items and re-check samples for managers; to annotators they do not exist."""

import re
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.labelling.submit import submit
from annotation.models import Campaign, Check, CheckLabel, Gold
from annotation.quality.checks import claim_questions, draw_recheck, gold_from_pool
from annotation.quality.reports import gold_report
from core.models import AuditEntry
from tests.annotation.world import LINK, label_item

URL = "/pools/p1/campaign/checks"


@pytest.fixture
def manager(world, as_user):
    return as_user(world.manager)


@pytest.fixture
def gold(world) -> Gold:
    """A seed triple with answer yes; it is given out with every second question."""
    gold_from_pool(world.campaign, positives=1, negatives=0, by=world.manager)
    Campaign.objects.update(gold_percent=50)
    world.campaign.refresh_from_db()
    return Gold.objects.get()


def answer_gold(world, user, given: str) -> CheckLabel:
    check = next(asked for asked in claim_questions(world.campaign, user, 50) if isinstance(asked, Check))
    submit(user, check.ticket, check.lease, uuid4(), given, "" if given == "?" else LINK, "hm")
    return CheckLabel.objects.get(check_item=check)


def table(html: str, part: str = "gold") -> list[list[str]]:
    section = html.split(f'id="{part}"')[1].split("</section>")[0]
    if "<tbody>" not in section:
        return []
    return [
        [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr.*?</tr>", section.split("<tbody>")[1].split("</tbody>")[0], re.DOTALL)
    ]


# -- gold items ----------------------------------------------------------------------------------------------


def test_page_without_gold_items_says_what_to_do(world, manager) -> None:
    html = manager.get(URL).content.decode()
    assert "No gold items yet" in html and "None is given out now: their rate is 0 percent." in html
    Campaign.objects.update(gold_percent=5)
    html = manager.get(URL).content.decode()
    assert "There is no active gold item to give out." in html
    assert "5 percent: one after about 20 other questions of a person." in html


def test_gold_items_are_drawn_from_the_pool(world, manager) -> None:
    response = manager.post(URL, {"act": "draw", "positives": "1", "negatives": "1", "seed": "0"})
    assert (response.status_code, response["Location"]) == (302, URL)
    assert list(Gold.objects.values_list("answer", "origin", "created_by")) == [
        ("Y", "seed", world.manager.pk),
        ("N", "filter", world.manager.pk),
    ]
    html = manager.get(URL).content.decode()
    assert "2 gold items added." in html
    assert [row[:6] for row in table(html)] == [
        ["Has Person 1 lived in City 7?", "yes", "seed triple", "0", "0", "–"],
        ["Has Person 1 lived in City 2?", "no", "filtered triple", "0", "0", "–"],
    ]
    entry = AuditEntry.objects.get(act="gold-added")
    assert (entry.person, entry.about) == (world.manager, "2 gold items")
    manager.post(URL, {"act": "draw", "positives": "1", "negatives": "0", "seed": "7"})
    assert "0 gold items added; 1 was one before." in manager.get(URL).content.decode()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"positives": "0", "negatives": "0", "seed": "1"}, "Ask for at least one gold item."),
        (
            {"positives": "2", "negatives": "0", "seed": "1"},
            "seed: the pool has 1 in the questions that people are asked.",
        ),
        ({"positives": "-1", "negatives": "0", "seed": "1"}, "greater than or equal to 0"),
        ({"positives": "1", "negatives": "", "seed": "x"}, "Enter a whole number."),
    ],
)
def test_draw_that_cannot_be(world, manager, asked, message) -> None:
    html = manager.post(URL, {"act": "draw"} | asked).content.decode()
    assert message in html and "Nothing was added or drawn." in html and not Gold.objects.exists()


def test_answers_are_counted_as_in_the_report(world, manager, gold) -> None:
    answer_gold(world, world.ann, "Y")
    answer_gold(world, world.ben, "N")
    (row,) = table(manager.get(URL).content.decode())
    assert row[3:6] == ["2", "2", "50.0 %"]
    (told,) = gold_report(world.campaign)
    assert (told.asked, told.answered, tuple(told.correct)) == (2, 2, (1, 2))


def test_changed_answer_counts_once(world, manager, gold) -> None:
    from annotation.labelling.submit import change

    label = answer_gold(world, world.ann, "N")
    change(world.ann, label.client_id, uuid4(), "Y", LINK)
    (row,) = table(manager.get(URL).content.decode())
    assert row[3:6] == ["1", "1", "100.0 %"]


def test_gold_item_is_taken_out_and_given_out_again(world, manager, gold) -> None:
    assert manager.post(URL, {"act": "gold", "gold": gold.pk, "active": "0"}).status_code == 302
    assert not Gold.objects.get().is_active
    assert not any(isinstance(asked, Check) for asked in claim_questions(world.campaign, world.ann, 50))
    assert "taken out" in manager.get(URL).content.decode()
    manager.post(URL, {"act": "gold", "gold": gold.pk, "active": "1"})
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


def upload(manager, content: bytes, name: str = "gold.tsv") -> str:
    data = {"act": "file", "file": SimpleUploadedFile(name, content)}
    return manager.post(URL, data, follow=True).content.decode()


def test_gold_items_of_a_file(world, manager) -> None:
    html = upload(manager, "\ufeffp1\tlived_in\tc1\tN\r\np2\tlived_in\tc7\tY\r\n".encode(), "../../etc/passwd")
    assert "2 gold items added." in html
    assert list(Gold.objects.values_list("answer", "origin")) == [("N", "file"), ("Y", "file")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The submitted file is empty."),
        (b"\xff\xfe\x00", "upload.tsv:1: is not UTF-8"),
        (b"p5\tlived_in\tc1\n", "upload.tsv:1: has no label"),
        (b"p5\tlived_in\tc1\t?\n", "upload.tsv:1: a gold item has answer Y or N, not ?"),
        (b"p5\tlived_in\tc1\tmaybe\n", "none of Y, N and ?"),
        (b"p1\tlived_in\tc1\tN\nnobody\tlived_in\tc1\tN\n", "upload.tsv:2: the graph does not have head"),
        (
            b"p1\tlived_in\tc1\tN\np5\tlived_in\tc1\tN\n",
            "upload.tsv:2: no question of this campaign asks for this triple, so it would stand alone",
        ),
        (b"<b>p5</b>\tlived_in\tc1\tN\n", "does not have head &#x27;&lt;b&gt;p5&lt;/b&gt;&#x27;"),
        (b"\x1f\x8b\x08garbage", "is not UTF-8"),
        (b"x" * 1_048_577, "The file has 1048577 bytes: at most 1048576 are read."),
    ],
)
def test_file_that_is_refused_adds_nothing(world, manager, content, message) -> None:
    html = upload(manager, content)
    assert message in html and "Nothing was added or drawn." in html and "<b>p5" not in html
    assert not Gold.objects.exists()


def test_item_cannot_be_a_gold_item(world, manager) -> None:
    from pooling.graphs.imports import open_graph

    graph, triple = open_graph(world.pool.graph), world.campaign.items.first().triple
    line = f"{graph.entities[triple.head]}\tlived_in\t{graph.entities[triple.tail]}\tY\n"
    assert "people label this triple, so it cannot be a gold item" in upload(manager, line.encode())
    assert not Gold.objects.exists()


def test_missing_file_is_said(world, manager) -> None:
    assert "This field is required." in manager.post(URL, {"act": "file"}).content.decode()


# -- re-check ------------------------------------------------------------------------------------------------


@pytest.fixture
def judged(world) -> None:
    for number, item in enumerate(world.campaign.items.order_by("order")[:4]):
        label_item(world, item, ann="YN"[number % 2], ben="YN"[number % 2])


def test_preview_tells_what_there_is_and_draws_nothing(world, manager, judged) -> None:
    html = manager.get(URL, {"person": world.cleo.pk, "size": "2", "seed": "3"}).content.decode()
    assert re.search(r"<strong>cleo</strong> could re-check 2 positive and 2 negative judgements", html)
    assert "Draw 2 for cleo" in html and "You asked for" not in html
    html = manager.get(URL, {"person": world.cleo.pk, "size": "9", "seed": "3"}).content.decode()
    assert "Draw 4 for cleo" in html and "You asked for 9: all 4 are drawn." in html
    assert not Check.objects.exists()
    html = manager.get(URL, {"person": world.ann.pk, "size": "2", "seed": "3"}).content.decode()
    assert "could re-check 0 positive and 0 negative" in html and "Draw 2 for" not in html


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
        submit(world.cleo, check.ticket, check.lease, uuid4(), "Y", LINK)
    html = manager.get(URL).content.decode()
    assert "cleo gets 2 judgements again, among other questions." in html
    (row,) = table(html, "recheck")
    assert [row[0], *row[2:]] == ["cleo", "2 of 2", "50.0 %", "100.0 % of 1", "0.0 % of 1", "0"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"person": "999999"}, "Select a valid choice"), ({"person": "x"}, "Select a valid choice"),
        ({"size": "0"}, "greater than or equal to 1"), ({"size": "5001"}, "less than or equal to 5000"),
        ({"seed": "-1"}, "greater than or equal to 0"),
    ],
)  # fmt: skip
def test_sample_that_cannot_be_drawn(world, manager, judged, change, message) -> None:
    asked = {"act": "recheck", "person": world.cleo.pk, "size": "2", "seed": "3"} | change
    for html in (manager.post(URL, asked).content.decode(), manager.get(URL, asked).content.decode()):
        assert message in html
    assert not Check.objects.exists()


def test_managers_and_strangers_are_no_choice(world, manager, judged) -> None:
    for person in (world.manager, world.stranger):
        asked = {"act": "recheck", "person": person.pk, "size": "2", "seed": "3"}
        assert "Select a valid choice" in manager.post(URL, asked).content.decode()
    assert (
        "There is no final judgement that ann could re-check."
        in manager.post(URL, {"act": "recheck", "person": world.ann.pk, "size": "2", "seed": "3"}).content.decode()
    )


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, manager, judged, count, django_assert_num_queries) -> None:
    for tail in ("c1", "c2", "c7")[:count]:
        upload(manager, f"p1\tlived_in\t{tail}\tN\n".encode())
    draw_recheck(world.campaign, world.cleo, count)
    manager.get(URL)
    with django_assert_num_queries(13):
        assert len(table(manager.get(URL).content.decode())) == count


def test_checks_are_a_managers_only(world, as_user, gold) -> None:
    for who in ("ann", "ada", "researcher"):
        client = as_user(getattr(world, who))
        assert client.get(URL).status_code == 403
        assert client.post(URL, {"act": "gold", "gold": gold.pk, "active": "0"}).status_code == 403
    assert Gold.objects.get().is_active
