"""After an erasure nothing in the database tells who the person was, but for what they typed into comments."""

from uuid import uuid4

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.errors import PersonError
from annotation.messages.flags import report
from annotation.models import (
    Campaign,
    Check,
    CheckLabel,
    Gold,
    ImportedLabel,
    Invitation,
    Judgement,
    Label,
    Slot,
    SurplusLabel,
)
from annotation.models.slot import lease_of
from annotation.people.accounts import add_person, is_erased, password_path, switch_off, switch_on
from annotation.people.invitations import accept_as_new, invite
from annotation.people.own_data import Erasure, erase, preview_erasure
from core.models import AuditEntry
from tests.annotation.factories import LINK, PASSWORD, answer, claim, label_item

NAME, EMAIL = "nina.original", "nina.original@example.org"


def places_of(text: str) -> set[tuple[str, str]]:
    """Table and column of every text of the database in which the words are found, in whatever capitals."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}" LIMIT 0')
            for name in [column[0] for column in cursor.description]:
                cursor.execute(
                    f'SELECT COUNT(*) FROM "{table}" WHERE LOWER(CAST("{name}" AS TEXT)) LIKE %s', [f"%{text.lower()}%"]
                )
                if cursor.fetchone()[0]:
                    found.add((table, name))
    return found


@pytest.fixture
def nina(world) -> User:
    """A person with something in every place where one can leave a trace."""
    invitation, _ = invite("annotator", world.campaign, email=EMAIL.upper(), by=world.manager)
    invite("annotator", world.campaign, email=EMAIL)
    nina = accept_as_new(invitation, NAME, PASSWORD, email=EMAIL, agreed=True)
    User.objects.filter(pk=nina.pk).update(
        first_name="Nina.Original", last_name="Nina.Original", last_login=timezone.now()
    )
    nina.refresh_from_db()
    first, second, third = world.campaign.items.all()[:3]
    answer(nina, next(s for s in claim(world.campaign, nina, 50) if s.item == first), "Y", comment=f"I am {NAME}")
    label_item(world, first, ben="Y")
    held = Slot.objects.get(item=second, annotator=nina)
    report(nina, held.ticket, lease_of(held.ticket, nina.pk), uuid4(), kind="other", text="broken")
    template = held.template
    SurplusLabel.objects.create(
        item=third, annotator=nina, answer="N", client_id=uuid4(), template=template, reason="late"
    )
    gold = Gold.objects.create(
        campaign=world.campaign, head=0, relation=0, tail=1, side="tail", answer="Y", origin="seed"
    )
    check = Check.objects.create(
        campaign=world.campaign, kind="gold", person=nina, gold=gold, expected="Y", order=1, state="answered"
    )
    CheckLabel.objects.create(
        check_item=check, annotator=nina, answer="Y", client_id=uuid4(), template=template, source_url=LINK
    )
    ImportedLabel.objects.create(
        triple=first.triple, answer="Y", annotator=NAME, file_name="x.tsv", file_sha256="0" * 64, line=1
    )
    seen = {"user_agent": "test", "ip_address": "10.0.0.1", "path_info": "/login"}
    AccessAttempt.objects.create(username=NAME.upper(), get_data="", post_data="", failures_since_start=1, **seen)
    AccessLog.objects.create(username=NAME, **seen)
    AccessFailureLog.objects.create(username=EMAIL, **seen)
    AccessLog.objects.create(username="ben", **seen)
    LogEntry.objects.create(
        user=world.manager,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(nina.pk),
        object_repr=NAME,
        action_flag=CHANGE,
    )
    switch_off(nina, by=world.manager)
    switch_on(nina, by=world.manager)
    password_path(nina, by=world.manager)
    assert len(claim(world.campaign, nina, 3)) >= 3
    Campaign.objects.update(contact=nina)
    for user in (nina, world.ben):
        Client().force_login(user, backend="config.sign_in.Accounts")
    nina.refresh_from_db()  # signing in is a trace too
    return nina


def test_nothing_tells_who_the_person_was_but_their_own_comment(world, nina) -> None:
    before = places_of(NAME)
    assert before == {
        ("auth_user", "username"),
        ("auth_user", "first_name"),
        ("auth_user", "last_name"),
        ("auth_user", "email"),
        ("annotation_invitation", "email"),
        ("annotation_label", "comment"),
        ("annotation_importedlabel", "annotator"),
        ("axes_accessattempt", "username"),
        ("axes_accesslog", "username"),
        ("axes_accessfailurelog", "username"),
        ("django_admin_log", "object_repr"),
    }
    erase(nina, by=world.manager)
    assert places_of(NAME) == {("annotation_label", "comment")}
    assert places_of(EMAIL) == set()


def test_the_account_is_a_pseudonym_that_nobody_can_use(world, nina) -> None:
    pseudonym = erase(nina, by=world.manager)
    nina.refresh_from_db()
    assert pseudonym.startswith("erased-") and len(pseudonym) == len("erased-") + 8
    assert (nina.username, nina.email, nina.is_active, nina.has_usable_password(), nina.last_login) == (
        pseudonym,
        "",
        False,
        False,
        None,
    )
    assert (nina.memberships.count(), nina.groups.count()) == (0, 0)
    assert is_erased(nina)
    with pytest.raises(PersonError, match="cannot be switched on again"):
        switch_on(nina)
    with pytest.raises(PersonError, match="erased already"):
        erase(nina)
    with pytest.raises(PersonError, match="switched off"):
        add_person(pseudonym, "annotator", world.campaign)


def test_labels_and_judgements_stay(world, nina) -> None:
    def kept() -> list[object]:
        return [list(model.objects.order_by("pk").values()) for model in (Label, CheckLabel, SurplusLabel, Judgement)]

    before = kept()
    erase(nina, by=world.manager)
    assert kept() == before
    assert Label.objects.filter(annotator=nina).count() == 1


def test_what_was_held_goes_back_and_only_this_persons_sessions_end(world, nina) -> None:
    assert Slot.objects.filter(annotator=nina, state="leased").count() > 0
    assert Session.objects.count() == 2
    erase(nina, by=world.manager)
    assert Slot.objects.filter(annotator=nina, state="leased").count() == 0
    assert [s.get_decoded()["_auth_user_id"] for s in Session.objects.all()] == [str(world.ben.pk)]
    assert set(AccessLog.objects.values_list("username", flat=True)) == {"ben"}


def test_invitations_and_contact_and_imported_labels_follow(world, nina) -> None:
    pseudonym = erase(nina, by=world.manager)
    assert set(Invitation.objects.values_list("email", flat=True)) == {""}
    assert Campaign.objects.get().contact is None
    assert ImportedLabel.objects.get().annotator == pseudonym


def test_the_preview_says_what_happens(nina) -> None:
    assert preview_erasure(nina) == Erasure(
        email=True, roles=1, sign_ins=4, invitations=2, imported=1, labels=3, comments=1, reports=1
    )


def test_the_audit_log_knows_the_pseudonym_only(world, nina) -> None:
    pseudonym = erase(nina, by=world.manager)
    entry = AuditEntry.objects.get(act="erased")
    assert (entry.person, entry.subject.username) == (world.manager, pseudonym)
    assert AuditEntry.objects.filter(act="consented", person__username=pseudonym).count() == 1


def test_the_last_manager_is_not_erased(world) -> None:
    with pytest.raises(PersonError, match="last manager"):
        erase(world.manager, by=world.manager)
    add_person("second", "manager", password=PASSWORD)
    erase(world.manager, by=world.manager)
    assert not User.objects.filter(username="manager").exists()


def test_a_manager_does_not_erase_an_administrator(world) -> None:
    root = User.objects.create_superuser("root")
    with pytest.raises(PersonError, match="administers the server"):
        erase(root, by=world.manager)
    assert User.objects.get(username="root").is_superuser
