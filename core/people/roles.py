"""The roles of people, and what each of them may do: permissions, navigation and API tokens read this table."""

from collections.abc import Sequence
from enum import Enum, auto
from functools import partial
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import DEFAULT_DB_ALIAS
from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.fixed import Fixed
from core.models import Preferences


class SiteRole(TextChoices):
    """Roles of the whole site, kept as Django groups. People who have one never label."""

    MANAGER = "manager"
    RESEARCHER = "researcher"


class CampaignRole(TextChoices):
    """Roles in one campaign, kept as memberships."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"


# the roles as they are told to people, in their language
WORDS: dict[str, Promise] = {
    SiteRole.MANAGER: _("manager"),
    SiteRole.RESEARCHER: _("researcher"),
    CampaignRole.ANNOTATOR: _("annotator"),
    CampaignRole.ADJUDICATOR: _("adjudicator"),
}


class Right(Enum):
    MANAGE = auto()  # change things: import, train, build, cancel
    EVALUATE = auto()  # read what annotators never see: provenance, systems, measures
    BRING_RUNS = auto()  # add own runs, which change no figure of another system
    ANNOTATE = auto()  # answer questions
    ADJUDICATE = auto()  # decide disputes


RIGHTS: dict[str, frozenset[Right]] = {
    SiteRole.MANAGER: frozenset({Right.MANAGE, Right.EVALUATE, Right.BRING_RUNS}),
    SiteRole.RESEARCHER: frozenset({Right.EVALUATE, Right.BRING_RUNS}),
    CampaignRole.ANNOTATOR: frozenset({Right.ANNOTATE}),
    # they annotate too, but never the same item: its slots see to that
    CampaignRole.ADJUDICATOR: frozenset({Right.ANNOTATE, Right.ADJUDICATE}),
}


def roles_with(right: Right) -> list[str]:
    """Return the roles that have a right."""
    return [role for role, rights in RIGHTS.items() if right in rights]


Person = AbstractBaseUser | AnonymousUser


def site_roles(person: Person) -> frozenset[str]:
    """Return the names of a person's groups, read once a request and kept on the person; a superuser is a manager."""
    if not hasattr(person, "_site_roles"):
        person._site_roles = frozenset(_groups(person))  # type: ignore[union-attr]
    roles: frozenset[str] = person._site_roles  # type: ignore[union-attr]
    return roles


_CHOSEN = [field.attname for field in Preferences._meta.fields]  # the primary key is the first
_READ = ("groups__name", *(f"preferences__{name}" for name in _CHOSEN))  # of a person, by every request
_COLUMNS = [field.attname for field in User._meta.concrete_fields]

_GROUPS = Fixed(lambda person: User.objects.filter(pk=person).values_list(*_READ))
_PERSON = Fixed(lambda person: User.objects.filter(pk=person).values_list(*_COLUMNS, *_READ))


def read_person(pk: int) -> User | None:
    """Return the person with this id, with what `site_roles` and `preferences_of` find on them, in one query."""
    rows = _PERSON(person=pk)
    if not rows:
        return None
    person = User.from_db(DEFAULT_DB_ALIAS, _COLUMNS, rows[0][: len(_COLUMNS)])
    person._site_roles = frozenset(_kept(person, [row[len(_COLUMNS) :] for row in rows]))  # type: ignore[attr-defined]
    return person


def _groups(person: Person) -> list[str]:
    """Read the groups of a person, and in the same query what they chose: `preferences_of` finds it on the person."""
    is_read = person.is_authenticated and person.is_active
    return _kept(person, _GROUPS(person=person.pk)) if is_read else []


def _kept(person: Any, rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return the groups of rows of `_READ`, and keep on the person what they chose."""
    for _group, *chosen in rows[:1]:
        row = None if chosen[0] is None else Preferences(**dict(zip(_CHOSEN, chosen, strict=True)))
        User.preferences.related.set_cached_value(person, row)
    if not person.is_active:
        return []
    names = [name for name, *_ in rows if name is not None]
    return [*names, *([SiteRole.MANAGER] if getattr(person, "is_superuser", False) else [])]


def has_right(person: Person, right: Right) -> bool:
    """Return whether a role of the site gives the person this right."""
    return any(right in RIGHTS.get(role, ()) for role in site_roles(person))


# of a person, whether they may do what the right is about
can_manage = partial(has_right, right=Right.MANAGE)
can_evaluate = partial(has_right, right=Right.EVALUATE)
can_bring_runs = partial(has_right, right=Right.BRING_RUNS)
