"""What a person may do on the whole site, by the table of roles; rights in a campaign: annotation/permissions.py."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group

from core.people.roles import RIGHTS, Right, SiteRole

Person = AbstractBaseUser | AnonymousUser


def site_roles(person: Person) -> frozenset[str]:
    """Return the names of a person's groups, read once a request and kept on the person; a superuser is a manager."""
    roles: frozenset[str] | None = getattr(person, "_site_roles", None)
    if roles is None:
        roles = frozenset(_groups(person))
        person._site_roles = roles  # type: ignore[union-attr]
    return roles


def _groups(person: Person) -> list[str]:
    if not (person.is_authenticated and person.is_active):
        return []
    names = Group.objects.filter(user=person.pk).values_list("name", flat=True)
    return [*names, *([SiteRole.MANAGER] if getattr(person, "is_superuser", False) else [])]


def has_right(person: Person, right: Right) -> bool:
    """Return whether a role of the site gives the person this right."""
    return any(right in RIGHTS.get(role, ()) for role in site_roles(person))


def can_manage(person: Person) -> bool:
    """Return whether the person may change things: import, train, build, cancel."""
    return has_right(person, Right.MANAGE)


def can_evaluate(person: Person) -> bool:
    """Return whether the person may read what annotators never see: provenance, systems, measures."""
    return has_right(person, Right.EVALUATE)


def can_bring_runs(person: Person) -> bool:
    """Return whether the person may add own runs, which change no figure of another system."""
    return has_right(person, Right.BRING_RUNS)
