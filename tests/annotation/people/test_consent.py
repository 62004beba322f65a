from django.utils import timezone

from annotation.people.accounts import add_person
from annotation.people.members import consent, consented_at, fingerprint, set_personal_data
from annotation.permissions import has_consented
from core.models import AuditEntry


def test_a_new_member_has_not_agreed_until_they_do(world) -> None:
    nina, _ = add_person("nina", "annotator", world.campaign)
    assert not has_consented(nina, world.campaign)
    assert consent(nina, world.campaign)
    assert has_consented(nina, world.campaign)
    assert not consent(nina, world.campaign)
    assert AuditEntry.objects.filter(act="consented", person=nina, subject=nina, pool=world.pool).count() == 1


def test_agreement_holds_for_all_roles_also_for_one_given_later(world) -> None:
    nina, _ = add_person("nina", "annotator", world.campaign)
    add_person("nina", "adjudicator", world.campaign)
    consent(nina, world.campaign)
    assert nina.memberships.filter(consented_at=None).count() == 0
    agreed = consented_at(world.ann, world.campaign)
    add_person("ann", "adjudicator", world.campaign)
    assert list(world.ann.memberships.values_list("consented_at", flat=True)) == [agreed, agreed]


def test_a_campaign_without_text_asks_nobody(world) -> None:
    nina, _ = add_person("nina", "annotator", world.campaign)
    world.campaign.personal_data = ""
    assert has_consented(nina, world.campaign)


def test_who_is_no_member_has_not_agreed(world) -> None:
    assert not has_consented(world.stranger, world.campaign)


def test_people_who_are_made_up_agree_at_once(world) -> None:
    made_up, _ = add_person("robot", "annotator", world.campaign, consented=True)
    assert has_consented(made_up, world.campaign)


def test_a_changed_text_asks_everybody_again(world) -> None:
    before = fingerprint(world.campaign)
    assert set_personal_data(world.campaign, "Another text.", by=world.manager) == 4
    assert fingerprint(world.campaign) != before
    assert not world.campaign.members.exclude(consented_at=None).exists()
    entry = AuditEntry.objects.get(act="rules-set")
    assert (entry.person, entry.about, entry.details) == (world.manager, "personal-data text", {"asked_again": 4})


def test_a_text_that_is_saved_unchanged_asks_nobody(world) -> None:
    now = timezone.now()
    world.campaign.members.update(consented_at=now)
    assert set_personal_data(world.campaign, f"\n{world.campaign.personal_data.strip()}\n") == 0
    assert set(world.campaign.members.values_list("consented_at", flat=True)) == {now}
    assert not AuditEntry.objects.filter(act="rules-set").exists()
