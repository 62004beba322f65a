"""The roles of people, and what each of them may do: permissions, navigation and API tokens read this table."""

from enum import Enum, auto

from django.db.models import TextChoices


class SiteRole(TextChoices):
    """Roles of the whole site, kept as Django groups. People who have one never label."""

    MANAGER = "manager"
    RESEARCHER = "researcher"


class CampaignRole(TextChoices):
    """Roles in one campaign, kept as memberships."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"


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
