from annotation.models.campaign import Campaign, Membership, Source
from annotation.models.judgement import ImportedLabel, Judgement
from annotation.models.label import Label, SurplusLabel
from annotation.models.question import QuestionTemplate
from annotation.models.slot import Item, Slot

__all__ = [
    "Campaign",
    "ImportedLabel",
    "Item",
    "Judgement",
    "Label",
    "Membership",
    "QuestionTemplate",
    "Slot",
    "Source",
    "SurplusLabel",
]
