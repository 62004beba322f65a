import pytest
from django.contrib.auth.models import User

from annotation.domain.person import add_person
from annotation.errors import PersonError


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
