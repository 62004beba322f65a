"""List and edit verified sources: the hosts that evidence may come from, for all relations or by relation."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from publicsuffixlist import PublicSuffixList

from annotation.enums import AnnotationAct
from annotation.errors import CampaignError
from annotation.models import Campaign, Source
from annotation.sources.evidence import ascii_host
from core.fixed import Fixed
from core.people.audit_log import record

_HOST = re.compile(r"(?=.{1,200}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]")
_MAX_NAME, _MAX_SEARCH = 80, 300
NO_RELATIONS = "Choose the relations that you mean. Nothing was changed."
NO_SOURCES = "Choose one source or more for these relations, or take all sources. Nothing was changed."


@dataclass(frozen=True)
class VerifiedSources:
    """The sources of a campaign; `chosen` holds relations (by index) with sources of their own."""

    everywhere: tuple[Source, ...]
    chosen: Mapping[int, tuple[Source, ...]]

    def of(self, relation_index: int) -> tuple[Source, ...]:
        return self.chosen.get(relation_index, self.everywhere)

    def hosts(self, relation_index: int) -> list[str]:
        return [source.host for source in self.of(relation_index)]


_SOURCES = Fixed(
    lambda campaign: Source.objects.filter(campaign=campaign).order_by("pk").annotate(chosen_for=F("relations__index"))
)


def verified(campaign: Campaign) -> VerifiedSources:
    """Return the sources that are offered and accepted for every relation, in one query."""
    by_id: dict[int, Source] = {}
    chosen: dict[int, list[Source]] = defaultdict(list)
    for row in _SOURCES(campaign=campaign.pk):
        source = by_id.setdefault(row.pk, row)  # a row for each relation that has chosen it
        if row.chosen_for is not None:
            chosen[row.chosen_for].append(source)
    return VerifiedSources(tuple(by_id.values()), {index: tuple(own) for index, own in chosen.items()})


def usual_sources(campaign: Campaign) -> list[Source]:
    """Return the sources of fixtures/sources.json, not saved."""
    usual = json.loads((settings.BASE_DIR / "fixtures" / "sources.json").read_text(encoding="utf-8"))
    return [Source(campaign=campaign, name=one["name"], host=one["host"], search_url=one["search"]) for one in usual]


def add_usual_sources(campaign: Campaign) -> int:
    """Add the sources of fixtures/sources.json whose hosts are missing; return how many."""
    present = set(campaign.sources.values_list("host", flat=True))
    made = Source.objects.bulk_create(
        (source for source in usual_sources(campaign) if source.host not in present),
        ignore_conflicts=True,  # somebody added the same host in the meantime
    )
    return len(made)


def restore_sources(campaign: Campaign, *, by: User | None = None) -> int:
    """Add the usual sources that are missing and record it; existing ones stay as they are. Return how many."""
    with transaction.atomic():
        added = add_usual_sources(campaign)
        if added:
            record(by, AnnotationAct.SOURCE_ADDED, pool=campaign.pool, about="the usual sources", n=added)
    return added


def add_source(campaign: Campaign, *, name: str, host: str, search_url: str = "", by: User | None = None) -> Source:
    """Accept links at a host and its subdomains; CampaignError if the input is not valid."""
    name, search_url, host = _checked(name, search_url), search_url.strip(), _checked_host(host)
    try:
        with transaction.atomic():
            source = Source.objects.create(campaign=campaign, name=name, host=host, search_url=search_url)
            record(by, AnnotationAct.SOURCE_ADDED, pool=campaign.pool, about=host)
    except IntegrityError as error:
        raise CampaignError(f"{host} is a source of this campaign already.") from error
    return source


def change_source(campaign: Campaign, pk: int, *, name: str, search_url: str, by: User | None = None) -> Source:
    """Change name or search address of a source; CampaignError if the input is not valid.

    The host cannot change: labels were checked against it.
    """
    name, search_url = _checked(name, search_url), search_url.strip()
    with transaction.atomic():
        source = _find(campaign, pk)
        if (name, search_url) != (source.name, source.search_url):
            source.name, source.search_url = name, search_url
            source.save(update_fields=["name", "search_url"])
            record(by, AnnotationAct.SOURCE_CHANGED, pool=campaign.pool, about=source.host)
    return source


def only_source_of(source: Source) -> list[str]:
    """Return the keys of relations that have chosen this source alone; without it they take all sources."""
    pairs = Source.relations.through.objects.filter(source__campaign_id=source.campaign_id)
    shared = pairs.exclude(source=source).values("relation")
    own = pairs.filter(source=source).exclude(relation__in=shared)
    return list(own.order_by("relation__key").values_list("relation__key", flat=True))


def remove_source(campaign: Campaign, pk: int, *, opens: bool = False, by: User | None = None) -> str:
    """Remove a source and return its host; labels that link to it keep the link.

    CampaignError if it is gone, or if it is the only source that a relation has chosen: that relation would take all
    sources again, which the caller must allow with `opens`.
    """
    with transaction.atomic():
        source = _find(campaign, pk)
        alone = only_source_of(source)
        if alone and not opens:
            raise CampaignError(
                f"{source.host} is the only source that was chosen for {_named(alone)}. Without it all sources "
                "count there: say that you want this, or choose others for them first. Nothing was changed."
            )
        source.delete()
        record(by, AnnotationAct.SOURCE_REMOVED, pool=campaign.pool, about=source.host, opened=alone)
    return source.host


def choose_sources(
    campaign: Campaign, relations: Collection[int], sources: Collection[int] | None, *, by: User | None = None
) -> int:
    """Accept only these sources (ids) for these relations (indices), or all sources again if None.

    Returns the number of relations. CampaignError for an empty choice, or an unknown source or relation.
    """
    through = Source.relations.through
    with transaction.atomic():
        found = dict(campaign.pool.graph.relations.filter(index__in=relations).order_by("key").values_list("pk", "key"))
        own = dict(campaign.sources.values_list("pk", "host"))
        if not relations or len(found) != len(set(relations)):
            raise CampaignError(NO_RELATIONS)
        if sources is not None and (not sources or not set(sources) <= own.keys()):
            raise CampaignError(NO_SOURCES)
        through.objects.filter(source__campaign=campaign, relation__in=found).delete()
        through.objects.bulk_create(
            (through(source_id=source, relation_id=relation) for relation in found for source in set(sources or ())),
            batch_size=2000,
            ignore_conflicts=True,  # somebody else made the same choice a moment ago
        )
        hosts = "all" if sources is None else [own[pk] for pk in sorted(set(sources))]
        about = _named(list(found.values()))
        record(by, AnnotationAct.SOURCES_CHOSEN, pool=campaign.pool, about=about, n=len(found), sources=hosts)
    return len(found)


def _find(campaign: Campaign, pk: int) -> Source:
    source = campaign.sources.filter(pk=pk).first()
    if source is None:
        raise CampaignError("This source is gone: somebody removed it. Nothing was changed.")
    return source


def _named(keys: list[str]) -> str:
    """Return keys as text: "knows, lives in and 3 more relations"."""
    more = f" and {len(keys) - 3} more relations" if len(keys) > 3 else ""
    return ", ".join(keys[:3]) + more


def _checked(name: str, search_url: str) -> str:
    """Return the name without spaces around it; CampaignError if it or the search address is not valid."""
    name, search_url = name.strip(), search_url.strip()
    if not name or len(name) > _MAX_NAME:
        raise CampaignError(f"Give the source a name of 1 to {_MAX_NAME} characters.")
    if not search_url:
        return name
    try:
        parts = urlsplit(search_url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme != "https" or "@" in parts.netloc or "{" in host:
        raise CampaignError(f"Search address {search_url!r}: give an https address.")
    if len(search_url) > _MAX_SEARCH:
        raise CampaignError(f"The search address has {len(search_url)} characters: shorten it to {_MAX_SEARCH}.")
    if search_url.count("{query}") != 1 or "{" in search_url.replace("{query}", ""):
        raise CampaignError(
            "The search address must contain {query} once and no other braces: the names are put there."
        )
    return name


def _checked_host(host: str) -> str:
    typed = host.strip().rstrip(".")
    try:
        host = ascii_host(typed)
    except ValueError:
        host = ""
    if not _HOST.fullmatch(host):
        raise CampaignError(f"{typed!r} is not a host name: give the name alone, as in en.wikipedia.org.")
    if _suffixes().is_public(host):
        raise CampaignError(f"Anybody can have a site below {host}: give the host of one site, as in en.wikipedia.org.")
    return host


@cache
def _suffixes() -> PublicSuffixList:
    """Return the list of suffixes under which anybody can register, such as co.uk and github.io."""
    return PublicSuffixList()
