"""Closed lists of the annotation app."""

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.people.roles import CampaignRole, SiteRole

DUTIES: dict[str, Promise] = {  # told to whoever is invited
    SiteRole.MANAGER: _("you run campaigns and look after people."),
    SiteRole.RESEARCHER: _("you compare systems and take test sets away."),
    CampaignRole.ANNOTATOR: _("you answer yes or no to statements, each with a link that shows why."),
    CampaignRole.ADJUDICATOR: _("you decide where two people answered differently."),
}


class CampaignState(models.TextChoices):
    PREPARING = "preparing"  # managers set it up; people see nothing of it
    OPEN = "open"
    PAUSED = "paused"  # gives out nothing for a while
    CLOSED = "closed"  # labels can no longer be given or changed


class BatchOrigin(models.TextChoices):
    """Reasons why triples were given to people."""

    ALL = "all", "everything at once"
    ORDER = "order", "next in the order of judging"
    AUDIT = "audit", "audit sample of filtered triples"
    EXTENSION = "extension", "the pool was extended"


class TargetMeasure(models.TextChoices):
    """Measures whose order of systems may be the reason to stop judging."""

    MICRO_MRR = "micro_mrr", "micro MRR"
    MICRO_HITS = "micro_hits@10", "micro Hits@10"
    MACRO_MRR = "macro_mrr", "macro MRR"
    MACRO_HITS = "macro_hits@10", "macro Hits@10"
    MAP = "map@20", "MAP@20"
    NDCG = "ndcg@20", "nDCG@20"


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
    # its label is discarded, and another slot has its number; of a check: another one replaced it
    WITHDRAWN = "withdrawn"


class Answer(models.TextChoices):
    YES = "Y", _("yes")
    NO = "N", _("no")
    CANT_TELL = "?", _("can't tell")


class Cause(models.TextChoices):
    """Reasons that an adjudicator gives by one key: what was wrong with the answer that they overrule."""

    ENTITY = "entity", _("wrong entity")
    SOURCE = "source", _("source doesn’t say it")
    DATED = "dated", _("out of date")
    MISREAD = "misread", _("misread the statement")


class Verdict(models.TextChoices):
    """The final label of a triple; undecided counts as unjudged."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    UNDECIDED = "undecided"


class JudgementOrigin(models.TextChoices):
    PEOPLE = "people"
    IMPORT = "import"


class CheckKind(models.TextChoices):
    """Reasons to ask a question whose answer enters no judgement."""

    GOLD = "gold", "the answer is known"
    RECHECK = "recheck", "a final judgement is judged again"


class GoldOrigin(models.TextChoices):
    SEED = "seed", "seed triple"
    FILTER = "filter", "filtered triple"
    FILE = "file", "from a file"


class SurplusReason(models.TextChoices):
    """Reasons why an answer is kept apart and counts for nothing."""

    LATE = "late", "its slot had gone to somebody else"
    TWICE = "twice", "this person had answered already"
    CLOSED = "closed", "the campaign was closed"
    OVER = "over", "the dispute was over"


class FlagKind(models.TextChoices):
    """Kinds of report about a question that is not answered."""

    QUESTION = "question", _("The statement makes no sense")
    NAME = "name", _("A name is missing or unclear")
    SOURCE = "source", _("A source is missing")
    WORDS = "words", _("The words of the statement need a fix")
    OTHER = "other", _("Something else")


class AnnotationJob(models.TextChoices):
    """Kinds of job of this app; annotation/jobs.py says what each needs."""

    OPEN_CAMPAIGN = "open-campaign", "open campaign"
    RELEASE = "release-triples", "release triples"
    SEND_WEBHOOKS = "send-webhooks", "send webhooks"


class WebhookEvent(models.TextChoices):
    """What a webhook can tell of."""

    JOB = "job-ended", "a job ended"
    QRELS = "qrels-frozen", "qrels were frozen"
    LABELS = "items-settled", "10 %, 20 %, … 100 % of the items of a campaign are settled"
    REPORT = "report", "somebody reported a statement"
    STALLED = "campaign-stalled", "a campaign stalled"


class DeliveryState(models.TextChoices):
    """States of a message of a webhook."""

    WAITING = "waiting"
    SENT = "sent", "arrived"
    FAILED = "failed", "given up"


class AnnotationAct(models.TextChoices):
    """Acts of this app in the audit log."""

    ORDER_SET = "order-set", "chose the order of judging"
    STOPPING_SET = "stopping-set", "changed when judging stops"
    BATCH_RELEASED = "batch-released", "released triples to people"
    AUDIT_DRAWN = "audit-drawn", "drew an audit sample of filtered triples"
    CAMPAIGN_OPENED = "campaign-opened", "opened the campaign"
    CAMPAIGN_STATE = "campaign-state", "paused, closed or reopened the campaign"
    RULES_SET = "rules-set", "changed the rules"
    SOURCE_ADDED = "source-added", "added a source"
    SOURCE_CHANGED = "source-changed", "changed a source"
    SOURCE_REMOVED = "source-removed", "removed a source"
    SOURCES_CHOSEN = "sources-chosen", "chose the sources of a relation"
    QUESTIONS_SAVED = "questions-saved", "changed the questions of a relation"
    QUESTIONS_IMPORTED = "questions-imported", "imported questions"
    QUESTIONS_READ = "questions-read", "read automatic questions"
    GUIDELINES_SAVED = "guidelines-saved", "wrote new guidelines"
    ROLE_GIVEN = "role-given", "gave a role"
    ROLE_TAKEN = "role-taken", "took a role away"
    INVITED = "invited", "made an invitation"
    INVITATION_USED = "invitation-used", "accepted an invitation"
    INVITATION_REVOKED = "invitation-revoked", "revoked an invitation"
    IDENTITY_ADDED = "identity-added", "signed in by single sign-on for the first time"
    PASSWORD_LINK = "password-link", "made a link to a new password"
    DEACTIVATED = "deactivated", "switched an account off"
    ACTIVATED = "activated", "switched an account on"
    ERASED = "erased", "erased personal data"
    CONSENTED = "consented", "agreed to the use of personal data"
    LABELS_WITHDRAWN = "labels-withdrawn", "withdrew the labels of a person"
    JUDGEMENT_REOPENED = "judgement-reopened", "reopened a judgement"
    ITEM_RETURNED = "item-returned", "asked two others about an item"
    ITEMS_ASSIGNED = "items-assigned", "assigned items to a person"
    ITEMS_REPORTED = "items-reported", "put items into the inbox"
    FLAG_ANSWERED = "flag-answered", "replied to a report"
    GOLD_ADDED = "gold-added", "added gold items"
    GOLD_REMOVED = "gold-removed", "took gold items out"
    TRAINING_WAIVED = "training-waived", "let a person through the training"
    RECHECK_DRAWN = "recheck-drawn", "drew a re-check sample"
    LABELS_IMPORTED = "labels-imported", "imported labels"
    WEBHOOK_ADDED = "webhook-added", "added a webhook"
    WEBHOOK_CHANGED = "webhook-changed", "changed a webhook"
    WEBHOOK_SECRET = "webhook-secret", "made a new secret of a webhook"
    WEBHOOK_SWITCHED = "webhook-switched", "switched a webhook on or off"
    WEBHOOK_REMOVED = "webhook-removed", "removed a webhook"
    HOURS_EXPORTED = "hours-exported", "downloaded the hours of people"
