"""Errors of the annotation app whose messages are written for the person who caused them."""

from core.errors import UserError


class PersonError(UserError):
    """Refuse a role that a person may not have, or an account that cannot be made."""


class InvitationError(UserError):
    """Refuse an invitation that cannot be made, or can no longer be used."""


class ConsentNeeded(Exception):  # noqa: N818
    """Send a member to the campaign's text on personal data, to which they must agree before they label."""

    def __init__(self, pool: str, wanted: str) -> None:
        super().__init__(pool)
        self.pool = pool
        self.wanted = wanted  # name of the page they came for


class TrainingNeeded(Exception):  # noqa: N818
    """Send a member to the training of a campaign, which they must pass before they label."""

    def __init__(self, pool: str) -> None:
        super().__init__(pool)
        self.pool = pool


class CampaignNotOpen(Exception):  # noqa: N818
    """Send a manager who asks for a page of a campaign to the page that opens it."""

    def __init__(self, pool: str) -> None:
        super().__init__(pool)
        self.pool = pool


class CampaignError(UserError):
    """Refuse an act of a manager on a campaign, or name a campaign that does not exist."""


class EvidenceError(UserError):
    """Refuse an evidence link that does not show where the answer comes from."""


class WebhookError(UserError):
    """Refuse a webhook that cannot be kept as asked."""


class NotYours(UserError):  # noqa: N818
    """Refuse a slot or label that is not this person's."""


class AnswerRefused(UserError):  # noqa: N818
    """Refuse an answer that cannot be kept: withdrawn slot, time over, an id used before."""
