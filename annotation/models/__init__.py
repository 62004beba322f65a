"""Tables of annotation: campaigns and their people, items, slots, labels, checks, judgements and reports."""

from annotation.models.campaign import Campaign, GuidelineVersion, Invitation, Membership, Source
from annotation.models.check import Check, Gold, Reached
from annotation.models.identity import Identity
from annotation.models.label import CheckLabel, Flag, ImportedLabel, Judgement, Label, SurplusLabel
from annotation.models.notices import NoticeSettings
from annotation.models.password import PasswordRequest
from annotation.models.slot import Batch, Item, QuestionTemplate, Slot
from annotation.models.training import Training, TrainingQuestion
from annotation.models.webhook import Delivery, Webhook
