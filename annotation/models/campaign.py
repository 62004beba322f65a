"""A campaign: the people side of one pool."""

from django.conf import settings
from django.db import models

from annotation.enums import CampaignRole, CampaignState, EvidenceRule
from pooling.models import Pool


class Campaign(models.Model):
    pool = models.OneToOneField(Pool, on_delete=models.PROTECT, related_name="campaign")
    state = models.CharField(max_length=10, choices=CampaignState, default=CampaignState.OPEN)
    evidence_rule = models.CharField(max_length=10, choices=EvidenceRule, default=EvidenceRule.BOTH)
    lease_minutes = models.PositiveSmallIntegerField(default=15)
    undo_minutes = models.PositiveSmallIntegerField(
        default=15, help_text="how long an own label can be changed"
    )
    guidelines = models.TextField(blank=True)
    seed = models.PositiveIntegerField(
        default=0, help_text="of the random order in which questions are given out"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=CampaignState.values), name="campaign_state_known"
            ),
            models.CheckConstraint(
                condition=models.Q(evidence_rule__in=EvidenceRule.values), name="campaign_evidence_rule_known"
            ),
        ]

    def __str__(self) -> str:
        return self.pool.name


class Membership(models.Model):
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="members")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=CampaignRole)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "person", "role"], name="membership_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=CampaignRole.values), name="membership_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person} as {self.role}"


class Source(models.Model):
    """A host that evidence may come from, with the address of its search ({query} is filled in)."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="sources")
    name = models.CharField(max_length=80)
    host = models.CharField(max_length=200, help_text="a link is accepted at this host and those under it")
    search_url = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "host"], name="source_host_once")]

    def __str__(self) -> str:
        return self.name
