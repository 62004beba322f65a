"""Tables of annotation: campaigns and their people, items, slots, labels, checks, judgements and reports."""

from annotation.models.batch import Batch
from annotation.models.campaign import Campaign, GuidelineVersion, Invitation, Membership, Source
from annotation.models.check import Check, Gold
from annotation.models.flag import Flag
from annotation.models.judgement import ImportedLabel, Judgement
from annotation.models.label import CheckLabel, Label, SurplusLabel
from annotation.models.question import QuestionTemplate
from annotation.models.slot import Item, Slot

__all__ = [
    "Batch",
    "Campaign",
    "Check",
    "CheckLabel",
    "Flag",
    "Gold",
    "GuidelineVersion",
    "ImportedLabel",
    "Invitation",
    "Item",
    "Judgement",
    "Label",
    "Membership",
    "QuestionTemplate",
    "Slot",
    "Source",
    "SurplusLabel",
]
