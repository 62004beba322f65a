"""The rules of a campaign: when evidence is required, how long a question is held, which sources count."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from annotation.enums import CampaignState, EvidenceRule
from annotation.errors import CampaignError
from annotation.models import Campaign, Source

_HOST = re.compile(r"(?=.{1,200}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]")


def set_rules(campaign: Campaign, *, evidence_rule: str, lease_minutes: int, state: str) -> None:
    """Hold from the next answer on; labels that were given stay as they are."""
    if evidence_rule not in EvidenceRule.values or state not in CampaignState.values or lease_minutes < 1:
        raise CampaignError(
            "These rules are not known: choose from the lists, and hold a question for 1 minute or more."
        )
    Campaign.objects.filter(pk=campaign.pk).update(
        evidence_rule=evidence_rule, lease_minutes=lease_minutes, state=state
    )


def add_source(campaign: Campaign, *, name: str, host: str, search_url: str = "") -> Source:
    """Accept links at a host and those under it. CampaignError says what is wrong with what was typed."""
    host = host.strip().lower().rstrip(".")
    if not _HOST.fullmatch(host):
        raise CampaignError(f"{host!r} is no host: give the name alone, as in en.wikipedia.org.")
    search_url = search_url.strip()
    if search_url:
        _check_search(search_url)
    try:
        with transaction.atomic():
            return Source.objects.create(
                campaign=campaign, name=name.strip(), host=host, search_url=search_url
            )
    except IntegrityError as error:
        raise CampaignError(f"{host} is a source of this campaign already.") from error


def _check_search(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme != "https" or parts.username or "{" in host:
        raise CampaignError(f"Search address {url!r}: give an https address.")
    if url.count("{query}") != 1:
        raise CampaignError("The search address must contain {query} once, where the names are to be put.")


def remove_source(campaign: Campaign, pk: int) -> str:
    """Accept no more links there; labels that have one keep it. Returns the host, '' if it was gone."""
    source = Source.objects.filter(campaign=campaign, pk=pk).first()
    if source is None:
        return ""
    source.delete()
    return source.host
