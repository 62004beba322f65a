"""What may go wrong when people label, by a person's doing; each message is written for that person."""

from core.errors import UserError


class PersonError(UserError):
    """A role that a person may not have."""


class InvitationError(UserError):
    """An invitation that cannot be made, or not be used any more."""


class ConsentNeeded(Exception):  # noqa: N818
    """A member who has not agreed to the campaign's text on personal data asks for its work."""

    def __init__(self, pool: str, wanted: str) -> None:
        super().__init__(pool)
        self.pool = pool
        self.wanted = wanted  # name of the page they came for


class CampaignError(UserError):
    """A campaign cannot be opened, or does not exist."""


class EvidenceError(UserError):
    """A link that does not show where the answer comes from."""


class NotYours(UserError):  # noqa: N818
    """A slot or label that this person does not hold."""


class AnswerRefused(UserError):  # noqa: N818
    """An answer that cannot be kept as it is: withdrawn slot, time over, an id used before."""


class LabelFileError(UserError):
    """A label file that cannot be read at all."""
