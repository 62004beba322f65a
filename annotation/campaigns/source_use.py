"""Count the labels that rest on each source of a campaign."""

import re
from collections import Counter

from annotation.judging.judgements import live_labels
from annotation.models import Campaign
from annotation.sources.evidence import ascii_host

_HOST = re.compile(r"https://([^/?#]+)", re.IGNORECASE)


def labels_by_source(campaign: Campaign) -> dict[int, int]:
    """Return source id -> labels that count and link there; a link under two nested hosts counts for both."""
    links = live_labels().filter(item__campaign=campaign).exclude(source_url="").order_by()
    hosts: Counter[str] = Counter()
    for url in links.values_list("source_url", flat=True).iterator():
        if match := _HOST.match(url):
            hosts[match[1].lower()] += 1
    plain = [(_plain(host), n) for host, n in hosts.items()]
    return {
        source.pk: sum(n for host, n in plain if host == source.host or host.endswith(f".{source.host}"))
        for source in campaign.sources.all()
    }


def _plain(host: str) -> str:
    try:
        return ascii_host(host)
    except ValueError:
        return host
