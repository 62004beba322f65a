"""List the batches of a campaign for its manager."""

from django.db.models import Count, Q, QuerySet

from annotation.enums import Verdict
from annotation.models import Batch, Campaign

_JUDGED = Q(items__triple__judgement__verdict__in=[Verdict.POSITIVE, Verdict.NEGATIVE])


def batch_rows(campaign: Campaign) -> QuerySet[Batch]:
    """Return the latest batch first, each with `drawn` (by order or sample), `judged` and `positive` triples."""
    drawn = Q(items__place__isnull=False) | Q(items__probability__isnull=False)
    return campaign.batches.annotate(
        drawn=Count("items", filter=drawn),
        judged=Count("items", filter=_JUDGED),
        positive=Count("items", filter=Q(items__triple__judgement__verdict=Verdict.POSITIVE)),
    ).order_by("-number")
