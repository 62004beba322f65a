"""Record what members of a campaign agree to before they label, and when they agreed."""

from datetime import datetime
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.enums import AnnotationAct
from annotation.models import Campaign
from core.people.audit_log import record


def fingerprint(campaign: Campaign) -> str:
    """Return a hash of the current text; sent with an agreement, it tells which text was read."""
    return sha256(campaign.personal_data.encode()).hexdigest()


def consent(user: User, campaign: Campaign, *, now: datetime | None = None) -> bool:
    """Record that a member agreed to the current text, in all of their roles; return whether that is new."""
    with transaction.atomic():
        mine = campaign.members.filter(person=user, consented_at=None)
        new = mine.update(consented_at=now or timezone.now()) > 0
        if new:
            record(user, AnnotationAct.CONSENTED, pool=campaign.pool, subject=user)
    return new


def consented_at(user: User, campaign: Campaign) -> datetime | None:
    times = campaign.members.filter(person=user, consented_at__isnull=False).values_list("consented_at", flat=True)
    return times.order_by("consented_at").first()


def set_personal_data(campaign: Campaign, text: str, *, by: User | None = None) -> int:
    """Replace the text; return how many members had agreed to the old one and are asked again."""
    with transaction.atomic():
        before = Campaign.objects.select_for_update().get(pk=campaign.pk).personal_data
        if before.strip() == text.strip():
            return 0
        Campaign.objects.filter(pk=campaign.pk).update(personal_data=text)
        campaign.personal_data = text
        agreed = campaign.members.exclude(consented_at=None)
        people = agreed.values("person").distinct().count()
        agreed.update(consented_at=None)
        record(by, AnnotationAct.RULES_SET, pool=campaign.pool, about="personal-data text", asked_again=people)
    return people
