"""What a person may take away of themselves: all of it, and nothing that tells a check from a label."""

from uuid import uuid4

import pytest
from axes.models import AccessAttempt, AccessLog

from annotation.enums import AnnotationAct
from annotation.labelling.withdraw import withdraw_labels
from annotation.models import Check, CheckLabel, Gold, Label, SurplusLabel
from annotation.people.own_data import own_data
from core.people.audit_log import record
from tests.annotation.factories import LINK, label_item

FIELDS = {
    "label", "at", "answer", "source_url", "passage", "comment", "cause", "is_bulk", "active_ms", "away_ms", "pool",
    "question", "words", "replaced_by",
}  # fmt: skip


@pytest.fixture
def told(world) -> dict:
    """Of ann, who answered an item and a gold item, and of whom others know things."""
    first, second = world.campaign.items.all()[:2]
    label_item(world, first, ann="Y", ben="N")
    template = Label.objects.filter(annotator=world.ann).get().template
    gold = Gold.objects.create(
        campaign=world.campaign, head=0, relation=0, tail=1, side="tail", answer="Y", origin="seed"
    )
    check = Check.objects.create(
        campaign=world.campaign, kind="gold", person=world.ann, gold=gold, expected="Y", order=1, state="answered"
    )
    old = CheckLabel.objects.create(
        check_item=check, annotator=world.ann, answer="Y", client_id=uuid4(), template=template, source_url=LINK
    )
    CheckLabel.objects.create(
        check_item=check,
        annotator=world.ann,
        answer="N",
        client_id=uuid4(),
        template=template,
        source_url=LINK,
        supersedes=old,
    )
    for subject in ({"item": second}, {"check_item": check}):
        SurplusLabel.objects.create(
            annotator=world.ann, answer="N", client_id=uuid4(), template=template, reason="twice", **subject
        )
    AccessLog.objects.create(username="ann", user_agent="x", ip_address="10.0.0.1", path_info="/login")
    AccessLog.objects.create(username="ben", user_agent="x", ip_address="10.0.0.2", path_info="/login")
    for name, address in (("ann", "10.0.0.3"), ("ben", "10.0.0.2")):
        AccessAttempt.objects.create(username=name, user_agent="x", ip_address=address, failures_since_start=4)
    record(world.manager, AnnotationAct.RECHECK_DRAWN, pool=world.pool, subject=world.ann, about="20 items")
    withdraw_labels(world.campaign, world.ann, by=world.manager)
    return own_data(world.ann)


def test_every_version_of_every_label_in_the_order_of_time(told) -> None:
    rows = told["labels"]
    assert [row["answer"] for row in rows] == ["Y", "Y", "N"]
    assert rows[1]["replaced_by"] == rows[2]["label"]
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)


def test_a_check_has_the_same_fields_as_a_label(told) -> None:
    assert [set(row) for row in told["labels"]] == [FIELDS] * 3
    assert {row["pool"] for row in told["labels"]} == {"p1"}
    kinds = {field: {type(row[field]) for row in told["labels"][:2]} for field in FIELDS}
    assert {field: len(types) for field, types in kinds.items() if len(types) > 1} == {"replaced_by": 2}
    surplus = [set(row) for row in told["surplus_labels"]]
    assert surplus == [FIELDS - {"question", "replaced_by"} | {"reason"}] * 2
    assert {row["pool"] for row in told["surplus_labels"]} == {"p1"}


def test_nothing_of_other_people_and_nothing_that_unmasks(told, world) -> None:
    text = str(told)
    for word in ("ben", "manager'", "10.0.0.2", "gold", "check", "withdrew", "withdrawn", "expected"):
        assert word not in text.lower(), word
    assert [row["ip_address"] for row in told["sign_ins"]] == ["10.0.0.1"]
    assert [(row["ip_address"], row["times"]) for row in told["wrong_passwords"]] == [("10.0.0.3", 4)]
    assert {row["act"] for row in told["acts"]} == {"gave a role"}


def test_account_and_roles(told, world) -> None:
    assert told["account"]["name"] == "ann"
    assert [(row["pool"], row["role"]) for row in told["campaigns"]] == [("p1", "annotator")]
