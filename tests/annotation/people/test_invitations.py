from datetime import timedelta
from hashlib import sha256

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.errors import InvitationError, PersonError
from annotation.models import Invitation
from annotation.people.accounts import managers, switch_off
from annotation.people.invitations import (
    FIRST_MANAGER,
    MOST_PEOPLE,
    TAKEN_BACK,
    USED_UP,
    USUAL_DAYS,
    accept,
    accept_as_new,
    answer_serving,
    find_invitation,
    invite,
    invite_many,
    open_invitations,
    refusal,
    revoke,
)
from core.models import AuditEntry
from tests.annotation.factories import PASSWORD


def acts() -> list[tuple[str, str | None, str | None]]:
    rows = AuditEntry.objects.filter(act__in=["invited", "invitation-used", "invitation-revoked", "consented"])
    return list(rows.order_by("id").values_list("act", "person__username", "subject__username"))


def test_only_the_hash_of_the_secret_is_kept(world) -> None:
    made, token = invite("annotator", world.campaign, by=world.manager)
    assert len(token) == 43
    assert made.token_sha256 == sha256(token.encode()).hexdigest()
    assert token not in str(Invitation.objects.values().get())
    assert find_invitation(token) == made
    assert find_invitation(made.token_sha256) is None


def test_new_person_gets_account_role_and_consent_and_all_is_recorded(world) -> None:
    made, _ = invite("annotator", world.campaign, by=world.manager)
    nina = accept_as_new(made, "nina", PASSWORD, email="nina@example.org", agreed=True)
    assert nina.check_password(PASSWORD)
    member = nina.memberships.get()
    assert (member.campaign, member.role, member.consented_at is not None) == (world.campaign, "annotator", True)
    made.refresh_from_db()
    assert (made.used_by, made.used_at is not None) == (nina, True)
    assert acts() == [("invited", "manager", None), ("invitation-used", "nina", "nina"), ("consented", "nina", "nina")]


def test_known_person_gains_the_role(world) -> None:
    made, _ = invite("annotator", world.campaign)
    accept(made, world.stranger)
    assert list(world.stranger.memberships.values_list("role", "consented_at")) == [("annotator", None)]


def test_an_invitation_is_used_once(world) -> None:
    made, token = invite("researcher")
    accept(made, world.stranger)
    with pytest.raises(InvitationError, match="was used"):
        accept_as_new(made, "second", PASSWORD)
    assert not User.objects.filter(username="second").exists()
    assert refusal(find_invitation(token)).startswith("This invitation was used")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"expires_at": timezone.now() - timedelta(seconds=1)}, "has expired"),
        ({"revoked_at": timezone.now()}, "was taken back"),
        ({"used_at": timezone.now()}, "was used"),
    ],
)
def test_an_invitation_that_is_over_makes_no_account(world, change, why: str) -> None:
    made, _ = invite("annotator", world.campaign)
    Invitation.objects.filter(pk=made.pk).update(**change)
    with pytest.raises(InvitationError, match=why):
        accept_as_new(made, "late", PASSWORD)
    assert not User.objects.filter(username="late").exists()
    assert made not in open_invitations(world.campaign)


def test_link_for_several_lets_in_as_many_as_it_says(world) -> None:
    made, token = invite("annotator", world.campaign, limit=2, by=world.manager)
    accept_as_new(made, "one", PASSWORD)
    found = find_invitation(token)
    assert found is not None and (found.uses, found.used_at, refusal(found)) == (1, None, "")
    accept(made, world.stranger)
    found = find_invitation(token)
    assert found is not None and found.uses == 2 and found.used_at is not None and refusal(found) == USED_UP
    with pytest.raises(InvitationError, match="all the people"):
        accept_as_new(made, "three", PASSWORD)
    assert not User.objects.filter(username="three").exists()
    assert sorted(world.campaign.members.values_list("person__username", flat=True))[-2:] == ["one", "stranger"]


def test_person_who_is_refused_takes_no_place(world) -> None:
    made, _ = invite("annotator", world.campaign, limit=2)
    for person in (world.ann, world.manager):
        with pytest.raises(PersonError):
            accept(made, person)
    assert open_invitations(world.campaign).get().uses == 0


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"limit": 0}, "for 0 people"),
        ({"limit": MOST_PEOPLE + 1}, "for 501 people"),
        ({"limit": 2, "email": "a@example.org"}, "no e-mail address"),
        ({"limit": 2, "role": "researcher", "campaign": None}, "for a campaign"),
    ],
)
def test_link_for_several_that_is_refused(world, asked, why: str) -> None:
    asked = {"role": "annotator", "campaign": world.campaign} | asked
    with pytest.raises(InvitationError, match=why):
        invite(asked.pop("role"), asked.pop("campaign"), **asked)
    assert not Invitation.objects.exists()


def test_many_are_invited_once_each(world) -> None:
    invite("annotator", world.campaign, email="Old@example.org")
    invite("adjudicator", world.campaign, email="b@example.org")
    emails = ["a@example.org", "old@example.org", "b@example.org", "A@example.org"]
    made = invite_many("annotator", world.campaign, emails, days=3, by=world.manager)
    assert [(one.email, one.role, one.limit) for one, _ in made] == [
        ("a@example.org", "annotator", 1), ("b@example.org", "annotator", 1),
    ]  # fmt: skip
    assert len({token for _, token in made}) == 2
    assert all(find_invitation(token) == one for one, token in made)
    with pytest.raises(InvitationError, match="at most 100"):
        invite_many("annotator", world.campaign, [f"p{i}@example.org" for i in range(101)])


def test_it_holds_until_the_very_moment(world) -> None:
    made, _ = invite("annotator", world.campaign, days=1)
    with pytest.raises(InvitationError, match="has expired"):
        accept(made, world.stranger, now=made.expires_at)
    accept(made, world.stranger, now=made.expires_at - timedelta(microseconds=1))


@pytest.mark.parametrize("role", ["manager", "researcher"])
def test_an_annotator_cannot_become_manager_by_link_and_the_link_stays_good(world, role: str) -> None:
    made, _ = invite(role)
    with pytest.raises(PersonError, match="labels blind"):
        accept(made, world.ann)
    assert world.ann.groups.count() == 0
    accept(made, world.stranger)
    assert list(world.stranger.groups.values_list("name", flat=True)) == [role]


def test_a_manager_cannot_label_by_link(world) -> None:
    made, _ = invite("annotator", world.campaign)
    with pytest.raises(PersonError, match="sees what systems proposed"):
        accept(made, world.manager)
    assert world.manager.memberships.count() == 0


def test_who_has_the_role_does_not_use_the_link_up(world) -> None:
    made, _ = invite("annotator", world.campaign)
    with pytest.raises(PersonError, match="You are annotator already"):
        accept(made, world.ann)
    assert list(open_invitations(world.campaign)) == [made]


def test_a_name_that_is_taken_does_not_use_the_link_up(world) -> None:
    made, _ = invite("annotator", world.campaign)
    for name in ("ann", "Ann", "erased-12345678", "two words", ""):
        with pytest.raises(PersonError):
            accept_as_new(made, name, PASSWORD)
    assert list(open_invitations(world.campaign)) == [made]


def test_revoked_once_and_its_address_is_forgotten(world) -> None:
    made, _ = invite("annotator", world.campaign, email="x@example.org")
    revoke(made, by=world.manager)
    made.refresh_from_db()
    assert (made.revoked_at is not None, made.email) == (True, "")
    with pytest.raises(InvitationError, match="used or revoked already"):
        revoke(made)
    assert acts()[-1] == ("invitation-revoked", "manager", None)
    assert len(acts()) == 2


def test_invitations_of_who_is_switched_off_end(world) -> None:
    """Who leaves must not come back by a link made before."""
    made, _ = invite("manager", by=world.manager)
    other, _ = invite("researcher")
    invite("manager")
    accept_as_new(invite("manager")[0], "boss", PASSWORD)
    switch_off(world.manager, by=User.objects.get(username="boss"))
    with pytest.raises(InvitationError, match="was taken back"):
        accept(made, world.stranger)
    accept(other, world.stranger)


@pytest.mark.parametrize(
    ("role", "of_campaign", "days", "why"),
    [
        ("boss", False, 14, "There is no role 'boss'"),
        ("annotator", False, 14, "say of which pool"),
        ("manager", True, 14, "leave the campaign out"),
        ("manager", False, 0, "for 0 days"),
        ("manager", False, 91, "for 91 days"),
    ],
)
def test_bad_input_makes_no_invitation(world, role: str, of_campaign: bool, days: int, why: str) -> None:
    with pytest.raises((PersonError, InvitationError), match=why):
        invite(role, world.campaign if of_campaign else None, days=days)
    assert not Invitation.objects.exists()


SITE = "http://127.0.0.1:8000"


def told(text: str) -> Invitation:
    """The invitation whose link `serve` prints."""
    start, end = FIRST_MANAGER.format(url=f"{SITE}/invitations/|", days=USUAL_DAYS).split("|")
    assert text.startswith(start) and text.endswith(end)
    found = find_invitation(text.removeprefix(start).removesuffix(end))
    assert found is not None
    return found


def test_a_site_without_manager_gets_one_link_that_makes_one(db) -> None:
    first, second = (told(answer_serving(None, SITE)) for _ in range(2))
    assert (second.role, second.campaign, second.limit, second.email) == ("manager", None, 1, "")
    assert second.expires_at - second.created_at == pytest.approx(timedelta(days=14), abs=timedelta(minutes=1))
    assert list(open_invitations(None)) == [second]  # the first is replaced
    first.refresh_from_db()
    assert refusal(first) == TAKEN_BACK
    mara = accept_as_new(second, "mara", PASSWORD)
    assert list(managers()) == [mara]
    with pytest.raises(InvitationError):
        accept_as_new(second, "mallory", PASSWORD)
    assert acts() == [
        ("invited", None, None),
        ("invitation-revoked", None, None),
        ("invited", None, None),
        ("invitation-used", "mara", "mara"),
    ]


def test_a_site_with_a_manager_gets_no_link_and_that_of_before_ends(db, world) -> None:
    User.objects.filter(pk=world.manager.pk).update(is_active=False)  # the last one, switched off in the admin
    left = told(answer_serving(None, SITE))
    assert answer_serving(None, SITE) != ""
    User.objects.create_superuser("root")
    by_hand, _ = invite("manager", by=world.manager)
    for_campaign, _ = invite("annotator", world.campaign)
    researcher, _ = invite("researcher")
    assert answer_serving(None, SITE) == ""
    left.refresh_from_db()
    assert refusal(left) == TAKEN_BACK
    assert set(open_invitations(None)) == {by_hand, researcher}
    assert list(open_invitations(world.campaign)) == [for_campaign]
