"""Closed lists of the annotation app."""

from django.db import models


class SiteRole(models.TextChoices):
    """Django groups: site-wide, and never labelling (DESIGN decision 5)."""

    MANAGER = "manager"
    RESEARCHER = "researcher"


class CampaignRole(models.TextChoices):
    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"


class CampaignState(models.TextChoices):
    OPEN = "open"
    CLOSED = "closed"


class EvidenceRule(models.TextChoices):
    BOTH = "both", "for yes and no"
    YES = "yes", "for yes"
    NEVER = "never", "never"


class ItemState(models.TextChoices):
    OPEN = "open", "waiting for labels"
    DISPUTED = "disputed", "waiting for adjudication"
    SETTLED = "settled", "settled"
    UNDECIDED = "undecided", "undecided"


class SlotState(models.TextChoices):
    FREE = "free"
    LEASED = "leased"
    ANSWERED = "answered"


class Answer(models.TextChoices):
    YES = "Y", "yes"
    NO = "N", "no"
    CANT_TELL = "?", "can't tell"


class Verdict(models.TextChoices):
    """The final label of a triple; undecided counts as unjudged."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    UNDECIDED = "undecided"


class JudgementOrigin(models.TextChoices):
    PEOPLE = "people"
    IMPORT = "import"
