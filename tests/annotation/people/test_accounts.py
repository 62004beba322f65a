import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from annotation.errors import PersonError
from annotation.labelling.queue import claim_disputed
from annotation.models import Slot
from annotation.people.accounts import add_person, password_path, switch_off, switch_on, take_role
from annotation.people.own_data import erase
from core.models import AuditEntry
from tests.annotation.factories import PASSWORD, claim, label_and_release, label_item, windows_closed


def test_new_person_gets_a_password_that_works_once_shown(world) -> None:
    user, password = add_person("dora", "annotator", world.campaign)
    assert password is not None and user.check_password(password)
    assert list(user.memberships.values_list("campaign", "role")) == [(world.campaign.pk, "annotator")]


def test_known_person_keeps_the_password_and_gains_the_role(world) -> None:
    before = world.ann.password
    user, password = add_person("ann", "adjudicator", world.campaign)
    user.refresh_from_db()
    assert (user.pk, user.password, password) == (world.ann.pk, before, None)
    assert sorted(user.memberships.values_list("role", flat=True)) == ["adjudicator", "annotator"]


@pytest.mark.parametrize("role", ["manager", "researcher"])
def test_who_labels_never_becomes_manager_or_researcher(world, role: str) -> None:
    with pytest.raises(PersonError, match="labels blind"):
        add_person("ann", role)
    assert world.ann.groups.count() == 0


@pytest.mark.parametrize("name", ["manager", "researcher"])
@pytest.mark.parametrize("role", ["annotator", "adjudicator"])
def test_manager_and_researcher_never_label(world, name: str, role: str) -> None:
    with pytest.raises(PersonError, match="sees what systems proposed"):
        add_person(name, role, world.campaign)
    assert User.objects.get(username=name).memberships.count() == 0


def test_superuser_never_labels(world) -> None:
    User.objects.create_superuser("root")
    with pytest.raises(PersonError, match="superuser"):
        add_person("root", "annotator", world.campaign)


@pytest.mark.parametrize(
    ("name", "role", "of_campaign", "why"),
    [
        ("x", "boss", False, "There is no role 'boss'"),
        ("x", "annotator", False, "say of which pool"),
        ("x", "manager", True, "leave the campaign out"),
        ("a b", "manager", False, "cannot be a user name"),
    ],
)
def test_bad_input_adds_nobody(world, name: str, role: str, of_campaign: bool, why: str) -> None:
    with pytest.raises(PersonError, match=why):
        add_person(name, role, world.campaign if of_campaign else None)
    assert not User.objects.filter(username=name).exists()


def test_a_name_that_differs_in_capitals_only_is_refused(world) -> None:
    with pytest.raises(PersonError, match="is taken"):
        add_person("ANN", "annotator", world.campaign)
    assert User.objects.filter(username__iexact="ann").count() == 1


def test_a_role_is_recorded_once_with_who_gave_it(world) -> None:
    add_person("dora", "annotator", world.campaign, by=world.manager)
    add_person("dora", "annotator", world.campaign, by=world.manager)
    entries = AuditEntry.objects.filter(act="role-given", subject__username="dora")
    assert [(e.person, e.pool, e.about) for e in entries] == [(world.manager, world.pool, "annotator")]


def test_switched_off_is_signed_out_and_gives_back_what_was_held(world) -> None:
    label_item(world, world.campaign.items.first(), ann="Y")
    claim(world.campaign, world.ann, 3)
    client = Client()
    client.force_login(world.ann, backend="config.sign_in.Accounts")
    assert client.get("/").status_code == 200
    switch_off(world.ann, by=world.manager)
    assert client.get("/")["Location"] == "/login?next=/"
    assert Session.objects.count() == 0
    states = list(world.ann.slots.values_list("state", flat=True))
    assert states == ["answered"]
    assert client.post("/login", {"username": "ann", "password": PASSWORD}).status_code == 200


@pytest.mark.parametrize("leave", ["switched off", "role taken", "erased"])
def test_claim_under_way_gives_nothing_to_somebody_who_left(world, leave: str) -> None:
    """The request began before and waited for the account; what it took was held until the end of the lease."""
    disputed = world.campaign.items.first()
    label_and_release(world, disputed, ben="Y", cleo="N")
    windows_closed(disputed)
    begun = {name: User.objects.get(username=name) for name in ("ann", "ada")}
    for name, role in (("ann", "annotator"), ("ada", "adjudicator")):
        if leave == "switched off":
            switch_off(getattr(world, name))
        elif leave == "role taken":
            take_role(getattr(world, name), role, world.campaign)
        else:
            erase(getattr(world, name))
    assert claim(world.campaign, begun["ann"], 8) == []
    assert claim_disputed(world.campaign, begun["ada"]) == []
    assert not Slot.objects.filter(state="leased", annotator__in=begun.values()).exists()


def test_adjudicator_who_still_annotates_gets_no_dispute_once_the_role_is_taken(world) -> None:
    disputed = world.campaign.items.first()
    label_and_release(world, disputed, ben="Y", cleo="N")
    windows_closed(disputed)
    world.campaign.members.create(person=world.ada, role="annotator")
    take_role(world.ada, "adjudicator", world.campaign)
    assert claim_disputed(world.campaign, world.ada) == []
    assert claim(world.campaign, world.ada, 1)


def test_switched_on_signs_in_with_the_same_roles_and_labels(world) -> None:
    label_item(world, world.campaign.items.first(), ann="Y")
    switch_off(world.ann, by=world.manager)
    switch_on(world.ann, by=world.manager)
    assert Client().post("/login", {"username": "ann", "password": PASSWORD})["Location"] == "/"
    assert list(world.ann.memberships.values_list("role", flat=True)) == ["annotator"]
    assert world.ann.slots.filter(state="answered").count() == 1
    acts = AuditEntry.objects.filter(subject=world.ann, act__in=["deactivated", "activated"])
    assert list(acts.order_by("id").values_list("act", "person__username")) == [
        ("deactivated", "manager"),
        ("activated", "manager"),
    ]


def test_nobody_switches_off_themselves_or_the_last_manager(world) -> None:
    with pytest.raises(PersonError, match="your own account"):
        switch_off(world.manager, by=world.manager)
    with pytest.raises(PersonError, match="last manager"):
        switch_off(world.manager)
    with pytest.raises(PersonError, match="last manager"):
        take_role(world.manager, "manager")
    assert User.objects.get(pk=world.manager.pk).is_active
    assert world.manager.groups.count() == 1


def test_a_manager_who_is_switched_off_is_no_other_manager(world) -> None:
    second, _ = add_person("second", "manager", password=PASSWORD)
    switch_off(second, by=world.manager)
    with pytest.raises(PersonError, match="last manager"):
        take_role(world.manager, "manager")


def test_a_researcher_loses_the_role(world) -> None:
    assert take_role(world.researcher, "researcher", by=world.manager)
    assert world.researcher.groups.count() == 0
    assert not take_role(world.researcher, "researcher", by=world.manager)


def test_a_manager_takes_over_no_administrator(world) -> None:
    root = User.objects.create_superuser("root", password=PASSWORD)
    for act in (switch_off, password_path):
        with pytest.raises(PersonError, match="administers the server"):
            act(root, by=world.manager)
    assert User.objects.get(pk=root.pk).is_active
    assert not AuditEntry.objects.filter(act="password-link").exists()


def test_a_manager_makes_no_password_link_for_the_own_account(world) -> None:
    """Whoever has only their session would not need their password."""
    with pytest.raises(PersonError, match="where the current one is asked for"):
        password_path(world.manager, by=world.manager)
    assert not AuditEntry.objects.filter(act="password-link").exists()


def test_an_account_that_is_off_gets_no_role_and_no_password_link(world) -> None:
    switch_off(world.ann, by=world.manager)
    world.ann.refresh_from_db()
    with pytest.raises(PersonError, match="switched off"):
        add_person("ann", "adjudicator", world.campaign)
    with pytest.raises(PersonError, match="switched off"):
        password_path(world.ann, by=world.manager)
    assert world.ann.memberships.count() == 1
