"""Say which addresses a webhook may go to: hosts that the operator allows, and no address inside the network."""

import re
import socket
import threading
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from core.errors import UserError

LONGEST = 500
RESOLVE_SECONDS = 5.0
# where clouds tell a machine its credentials, as far as the address does not say so itself
_METADATA = {ip_address(one) for one in ("168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254")}
# what a network of one's own consists of; 100.64.0.0/10 is what virtual private networks give out
_OWN = [
    ip_network(one)
    for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "fc00::/7", "::1/128")
]
_NAT64 = ip_network("64:ff9b::/96")
# IPv6 addresses of the internet; what Python counts as global beside them can hold an IPv4 address, as in ::7f00:1
_UNICAST = ip_network("2000::/3")
# for documentation, for protocols, and relays that are no longer in use
_NOBODYS = [ip_network(one) for one in ("3fff::/20", "192.0.0.0/24", "192.88.99.0/24")]

Address = IPv4Address | IPv6Address


class AddressRefused(UserError):  # noqa: N818
    """Refuse the address of a webhook. The message names the host at most: the rest of an address may be a secret."""


class Target(NamedTuple):
    """Where a message goes: a host by name, and the network address that was checked."""

    https: bool
    host: str
    port: int
    path: str  # with the query
    address: str = ""


def are_allowed() -> bool:
    """Return whether the operator allows webhooks to any host."""
    return bool(settings.WEBHOOK_HOSTS or settings.WEBHOOK_PRIVATE_HOSTS)


def read_address(url: str) -> Target:
    """Return the parts of the address of a webhook; AddressRefused says what is wrong with it."""
    if len(url) > LONGEST or re.search(r"[^!-~]", url):
        raise AddressRefused(f"Write the address in at most {LONGEST} characters of ASCII, without spaces.")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError as error:
        raise AddressRefused(
            "The address cannot be read. Write it like https://hooks.example.org/triplepool."
        ) from error
    if parts.scheme not in ("http", "https") or not host or "%" in host:
        raise AddressRefused("The address must start with https:// and name a host.")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("The address must not hold a user name or password: messages are signed instead.")
    if parts.fragment:
        raise AddressRefused("The address must not have a part after #: it is never sent.")
    private = is_private_host(host)
    if not private and not any(_matches(host, pattern) for pattern in settings.WEBHOOK_HOSTS):
        raise AddressRefused(f"This site sends no webhooks to {host}: the operator allows hosts in WEBHOOK_HOSTS.")
    https = parts.scheme == "https"
    if not https and not private:
        raise AddressRefused("The address must start with https://, so that nobody on the way reads the messages.")
    port = (443 if https else 80) if port is None else port
    if not private and port != 443 and port < 1024:
        raise AddressRefused(f"Port {port} belongs to another service. Use 443, or a port from 1024 on.")
    path = parts.path or "/"
    return Target(https, host, port, f"{path}?{parts.query}" if parts.query else path)


def is_private_host(host: str) -> bool:
    """Return whether the operator allows this host even if it is inside the network."""
    return host in settings.WEBHOOK_PRIVATE_HOSTS


def _matches(host: str, pattern: str) -> bool:
    """Return whether a host is one of WEBHOOK_HOSTS: all (*), one by name, or with a dot in front also those below."""
    if pattern.startswith("."):
        return host == pattern[1:] or host.endswith(pattern)
    return pattern in ("*", host)


def checked_target(url: str) -> Target:
    """Return the target with the network address to connect to; AddressRefused unless all of its host's are allowed."""
    target = read_address(url)
    found = _resolve(target.host, target.port)
    if not found:
        raise AddressRefused(f"{target.host} has no address. Check its name.")
    private = is_private_host(target.host)
    for one in found:
        if not may_connect(ip_address(one), private=private):
            raise AddressRefused(
                f"{target.host} leads to an address inside a network, or to one of a machine itself. Use a public one; "
                "the operator can allow a host of the own network in WEBHOOK_PRIVATE_HOSTS."
            )
    return target._replace(address=found[0])


def may_connect(address: Address, *, private: bool = False) -> bool:
    """Return whether a message may go to a network address; `private`: also inside the network and to this machine.

    Link-local, multicast, unspecified and metadata addresses are never allowed.
    """
    for inner in _inner(address):
        if inner in _METADATA or inner.is_link_local or inner.is_multicast or inner.is_unspecified:
            return False
        if not (_is_public(inner) or (private and any(inner in one for one in _OWN))):
            return False
        if inner.version == 6 and inner.is_site_local:
            return False
    return True


def _is_public(address: Address) -> bool:
    if any(address in one for one in _NOBODYS):
        return False
    return address.is_global and (address.version == 4 or address in _UNICAST or address in _NAT64)


def _inner(address: Address) -> list[Address]:
    """Return the addresses that one stands for: IPv6 can hold an IPv4 address that a gateway connects to."""
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    held: list[Address] = [address]
    if address.sixtofour is not None:
        held.append(address.sixtofour)
    if address.teredo is not None:
        held += address.teredo
    if address in _NAT64:  # the gateway's prefix counts as global
        held.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return held


def _resolve(host: str, port: int) -> list[str]:
    """Return the network addresses of a host, within a few seconds; none if it has none, or nobody answers."""
    found: list[str] = []

    def ask() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        except (OSError, UnicodeError):
            return
        found.extend(dict.fromkeys(str(row[4][0]).partition("%")[0] for row in rows))

    thread = threading.Thread(target=ask, daemon=True)  # the system's resolver knows no time limit
    thread.start()
    thread.join(RESOLVE_SECONDS)
    return [] if thread.is_alive() else found
