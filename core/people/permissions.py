"""Site-wide roles are Django groups: who may see and who may change what no annotator sees."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group

Person = AbstractBaseUser | AnonymousUser

MANAGER = "manager"
RESEARCHER = "researcher"


def site_roles(person: Person) -> frozenset[str]:
    """Names of the groups of a person, read once a request and kept on the person; a superuser is a manager."""
    roles: frozenset[str] | None = getattr(person, "_site_roles", None)
    if roles is None:
        roles = frozenset(_groups(person))
        person._site_roles = roles  # type: ignore[union-attr]
    return roles


def _groups(person: Person) -> list[str]:
    if not (person.is_authenticated and person.is_active):
        return []
    names = Group.objects.filter(user=person.pk).values_list("name", flat=True)
    return [*names, *([MANAGER] if getattr(person, "is_superuser", False) else [])]


def is_manager(person: Person) -> bool:
    return MANAGER in site_roles(person)


def is_researcher(person: Person) -> bool:
    return RESEARCHER in site_roles(person)


def can_manage(person: Person) -> bool:
    """May change: import, train, build, cancel."""
    return is_manager(person)


def can_evaluate(person: Person) -> bool:
    """May read what annotators never see: provenance, systems, measures."""
    return is_manager(person) or is_researcher(person)


def can_bring_runs(person: Person) -> bool:
    """Researchers bring their own: a run changes no figure of another system."""
    return can_evaluate(person)
