"""A campaign: the people side of one pool."""

from typing import Any

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint

from annotation.enums import DUTIES, CampaignState, EvidenceRule
from core.clock import Stamp
from core.people.roles import CampaignRole, SiteRole
from pooling.models import Pool, Relation


class Opened(models.Manager[Any]):
    """Leave out campaigns that are being prepared, so that code which forgets them shows nothing of them."""

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().exclude(state=CampaignState.PREPARING)


class Campaign(models.Model):
    pool = models.OneToOneField(Pool, on_delete=models.PROTECT, related_name="campaign")
    state = models.CharField(max_length=10, choices=CampaignState, default=CampaignState.OPEN)
    evidence_rule = models.CharField(max_length=10, choices=EvidenceRule, default=EvidenceRule.BOTH)
    lease_minutes = models.PositiveSmallIntegerField(default=15)
    undo_minutes = models.PositiveSmallIntegerField(default=15, help_text="how long an own label can be changed")
    gold_percent = models.PositiveSmallIntegerField(
        default=0, help_text="of a hundred questions given out so many more are gold items"
    )
    training_items = models.PositiveSmallIntegerField(
        default=0, help_text="gold items with feedback before a person's first question; 0: no training"
    )
    training_percent = models.PositiveSmallIntegerField(default=80, help_text="correct answers that pass the training")
    hourly_rate = models.FloatField(null=True, blank=True, help_text="what an hour of active time costs")
    currency = models.CharField(max_length=3, default="EUR", help_text="of the hourly rate")
    personal_data = models.TextField(blank=True, help_text="what members agree to before they label; Markdown")
    language = models.CharField(
        max_length=20, blank=True, default="en", help_text="of questions, guidelines and personal_data; empty: unknown"
    )
    contact = models.ForeignKey(
        User,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="the manager who answers what annotators report",
    )
    seed = models.PositiveIntegerField(default=0, help_text="of the random order in which questions are given out")
    order = models.CharField(max_length=20, default="depth", help_text="of judging, a name in the registry of orders")
    order_settings = models.JSONField(default=dict, help_text="those of the order; its seed is the campaign's")
    batch_size = models.PositiveIntegerField(default=0, help_text="triples released at a time; 0: everything at once")
    whole_questions = models.BooleanField(
        default=True, help_text="with a triple all others of its question are released"
    )
    budget = models.PositiveIntegerField(
        null=True, blank=True, help_text="labels of people after which no batch is released"
    )
    target_tau = models.FloatField(
        null=True,
        blank=True,
        help_text="no batch is released once the lower end of tau's 95 % interval is at least this",
    )
    target_measure = models.CharField(max_length=40, default="micro_mrr")
    created_at = Stamp(auto_now_add=True)

    objects = Opened()
    every = models.Manager["Campaign"]()  # those in preparation too: for the pages that set them up

    class Meta:
        constraints = [
            CheckConstraint(
                condition=Q(target_tau=None) | Q(target_tau__gt=0, target_tau__lte=1),
                name="campaign_target_tau_possible",
            ),
            CheckConstraint(condition=Q(state__in=CampaignState.values), name="campaign_state_known"),
            CheckConstraint(condition=Q(evidence_rule__in=EvidenceRule.values), name="campaign_evidence_rule_known"),
            CheckConstraint(
                condition=Q(hourly_rate=None) | Q(hourly_rate__gte=0), name="campaign_hourly_rate_not_negative"
            ),
            CheckConstraint(condition=Q(gold_percent__lte=50), name="campaign_gold_at_most_half"),
            CheckConstraint(condition=Q(training_percent__lte=100), name="campaign_training_percent_possible"),
        ]

    def __str__(self) -> str:
        return self.pool.name

    @property
    def is_preparing(self) -> bool:
        return self.state == CampaignState.PREPARING

    @property
    def is_open(self) -> bool:
        return self.state == CampaignState.OPEN

    @property
    def is_paused(self) -> bool:
        return self.state == CampaignState.PAUSED

    @property
    def is_closed(self) -> bool:
        return self.state == CampaignState.CLOSED


class Membership(models.Model):
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="members")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=CampaignRole)
    consented_at = models.DateTimeField(null=True, blank=True, help_text="to the campaign's personal_data")
    guidelines_read = models.PositiveIntegerField(default=0, help_text="the newest version that they opened")
    created_at = Stamp(auto_now_add=True)

    class Meta:
        constraints = [
            UniqueConstraint(fields=["campaign", "person", "role"], name="membership_once"),
            CheckConstraint(condition=Q(role__in=CampaignRole.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.person} as {self.role}"


class Source(models.Model):
    """A host that evidence may come from, with the address of its search ({query} is filled in)."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="sources")
    name = models.CharField(max_length=80)
    host = models.CharField(max_length=200, help_text="a link is accepted at this host and those under it")
    search_url = models.CharField(max_length=300, blank=True)
    # relations with sources of their own: only those are offered and accepted for them
    relations = models.ManyToManyField(Relation, blank=True, related_name="sources")

    class Meta:
        ordering = ["id"]
        constraints = [UniqueConstraint(fields=["campaign", "host"], name="source_host_once")]

    def __str__(self) -> str:
        return self.name


class GuidelineVersion(models.Model):
    """How to answer, as Markdown. Never changed: a new text is a new version."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="guideline_versions")
    version = models.PositiveIntegerField()
    text = models.TextField()
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = Stamp(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "version"]
        constraints = [UniqueConstraint(fields=["campaign", "version"], name="guideline_version_once")]

    def __str__(self) -> str:
        return f"guidelines of {self.campaign} v{self.version}"


class Invitation(models.Model):
    """A link that gives one role to one person, or to several up to a limit. Only the hash of its secret is kept."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=12, help_text="of the site or of the campaign")
    campaign = models.ForeignKey(Campaign, null=True, blank=True, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = Stamp(auto_now_add=True)
    expires_at = models.DateTimeField()
    limit = models.PositiveSmallIntegerField(default=1, help_text="how many people may join by it")
    uses = models.PositiveSmallIntegerField(default=0, help_text="how many joined by it")
    used_at = models.DateTimeField(null=True, blank=True, help_text="when the last of them joined")
    used_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            CheckConstraint(
                condition=Q(role__in=SiteRole.values, campaign=None)
                | Q(role__in=CampaignRole.values, campaign__isnull=False),
                name="invitation_role_fits",
            ),
            CheckConstraint(condition=Q(uses__lte=F("limit"), limit__gte=1), name="invitation_uses_at_most_limit"),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} as {self.role}"

    @property
    def duty(self) -> str:
        """Return what somebody with this role does, addressed to them."""
        return str(DUTIES[self.role])
