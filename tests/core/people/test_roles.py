"""One table says what each role may do; permissions, navigation, decorators and tokens read it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.test import RequestFactory

from config.navigation import navigation
from core.enums import TokenScope
from core.people.roles import (
    RIGHTS,
    CampaignRole,
    Right,
    SiteRole,
    can_bring_runs,
    can_evaluate,
    can_manage,
    roles_with,
)
from core.people.tokens import scopes_for
from core.views.access import evaluator_required, manager_required

pytestmark = pytest.mark.django_db


def person_with(role: str | None) -> User:
    person = User.objects.create_user("ada")
    if role:
        person.groups.add(Group.objects.get_or_create(name=role)[0])
    return person


def allowed(person: User) -> tuple[bool, bool, bool]:
    return can_manage(person), can_evaluate(person), can_bring_runs(person)


def opened(person: User) -> tuple[bool, bool]:
    """Whether pages of managers and of evaluators open."""
    request = RequestFactory().get("/")
    request.user = person
    found = []
    for required in (manager_required, evaluator_required):
        try:
            required(lambda request: HttpResponse())(request)
            found.append(True)
        except PermissionDenied:
            found.append(False)
    return found[0], found[1]


def labels(person: User) -> list[str]:
    request = RequestFactory().get("/")
    request.user = person
    return [link.label for link in navigation(request)["navigation"]]


READ, RUN, LABEL, MANAGE = TokenScope.READ, TokenScope.RUN, TokenScope.LABEL, TokenScope.MANAGE
EVALUATORS = ["Home", "Pools", "Graphs"]


@pytest.mark.parametrize(
    ("role", "rights", "pages", "scopes", "links"),
    [
        ("manager", (True, True, True), (True, True), [READ, RUN, MANAGE], [*EVALUATORS, "People", "Jobs", "Help"]),
        ("researcher", (False, True, True), (False, True), [READ, RUN], [*EVALUATORS, "Jobs", "Help"]),
        (None, (False, False, False), (False, False), [LABEL], ["Home", "Help"]),
        ("unknown", (False, False, False), (False, False), [LABEL], ["Home", "Help"]),
    ],
)
def test_what_a_role_of_the_site_may_do(role, rights, pages, scopes, links):
    person = person_with(role)
    assert allowed(person) == rights
    assert opened(person) == pages
    assert scopes_for(person) == scopes
    assert labels(person) == links


def test_superuser_is_a_manager_and_an_inactive_one_nobody():
    person = User.objects.create_superuser("root")
    assert allowed(person) == (True, True, True)
    assert allowed(User(username="gone", is_superuser=True, is_active=False)) == (False, False, False)


def test_new_role_needs_its_row_only(monkeypatch):
    monkeypatch.setitem(RIGHTS, "auditor", frozenset({Right.EVALUATE}))
    person = person_with("auditor")
    assert allowed(person) == (False, True, False)
    assert opened(person) == (False, True)
    assert scopes_for(person) == [READ]
    assert labels(person) == [*EVALUATORS, "Jobs", "Help"]


def test_every_role_has_its_row_and_nobody_who_evaluates_labels():
    assert set(RIGHTS) == {*SiteRole.values, *CampaignRole.values}
    assert roles_with(Right.ANNOTATE) == ["annotator", "adjudicator"]
    assert roles_with(Right.ADJUDICATE) == ["adjudicator"]
    assert not any({Right.EVALUATE, Right.ANNOTATE} <= rights for rights in RIGHTS.values())
