"""Find out who sent a request that came through proxies. Only the proxies that TRUSTED_PROXIES names are believed."""

import logging
from collections.abc import Callable, Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.http.response import HttpResponseBase

logger = logging.getLogger(__name__)

Network = IPv4Network | IPv6Network
SOCKET = "unix"  # names whatever connects through a Unix socket, where nothing has an address
FOR, PROTO = "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO"
_told: set[str] = set()


def read_proxies(text: str) -> frozenset[Network | str]:
    """Return the networks that a setting lists, and SOCKET if it does; ImproperlyConfigured for anything else."""
    found: set[Network | str] = set()
    for word in filter(None, (one.strip() for one in text.split(","))):
        try:
            found.add(word if word == SOCKET else ip_network(word))
        except ValueError as error:
            raise ImproperlyConfigured(
                f"TRUSTED_PROXIES names {word!r}, which is not an address, a network such as 10.0.0.0/8, or {SOCKET}: "
                "correct it, or leave the variable out if no proxy is in front of the site."
            ) from error
    return frozenset(found)


def client_of(peer: str, forwarded: str, proxies: Collection[Network | str]) -> str:
    """Return the address of the client: the right-most one that is not a trusted proxy's.

    `peer` is whoever connected to this server; `forwarded` the X-Forwarded-For header, to whose right end each proxy
    adds who connected to it. What is left of the first untrusted address can be made up.
    """
    client = peer
    for hop in reversed(forwarded.split(",")):
        address = _address(hop)
        if address is None or not is_trusted(client, proxies):
            break
        client = str(address)
    return client


def is_trusted(peer: str, proxies: Collection[Network | str]) -> bool:
    address = _address(peer)
    if address is None:
        return not peer and SOCKET in proxies
    return any(address in one for one in proxies if not isinstance(one, str))


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address in a text such as 10.0.0.1, 10.0.0.1:4711, ::1 or [::1]:4711; None if there is none."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


class TrustProxies:
    """Put the client's address in REMOTE_ADDR, and take out forwarded headers that no trusted proxy sent.

    Take the default ports out of Host too: what a proxy sends as name:80 would lead from http to https://name:80.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        meta, peer = request.META, request.META.get("REMOTE_ADDR", "")
        if is_trusted(peer, settings.TRUSTED_PROXIES):
            meta["REMOTE_ADDR"] = client_of(peer, meta.get(FOR, ""), settings.TRUSTED_PROXIES)
        elif FOR in meta or PROTO in meta:
            _tell(peer)
            meta.pop(FOR, None)
            if meta.pop(PROTO, None) is not None:
                meta["wsgi.url_scheme"] = "http"  # gunicorn may have believed the header
        for port in (":80", ":443"):
            if meta.get("HTTP_HOST", "").endswith(port):
                meta["HTTP_HOST"] = meta["HTTP_HOST"].removesuffix(port)
                break
        return self.get_response(request)


def _tell(peer: str) -> None:
    """Write once of each near peer that it seems to be a proxy: then all people behind it share its address."""
    address = _address(peer)
    if peer not in _told and (address is None or address.is_private):
        _told.add(peer)
        logger.warning(
            "%s sends X-Forwarded-For or X-Forwarded-Proto, but TRUSTED_PROXIES doesn't name it. Wrong passwords of "
            "everybody behind it count as those of one address. If it is your proxy, set TRUSTED_PROXIES=%s.",
            peer or "A Unix socket",
            peer or SOCKET,
        )
