"""Evidence links are checked as text and never opened by the server (DESIGN decision 10)."""

import ipaddress
import unicodedata
from collections.abc import Collection
from urllib.parse import urlsplit

from annotation.enums import Answer, EvidenceRule
from annotation.errors import EvidenceError

MAX_LENGTH = 2000
_REQUIRED: dict[str, set[str]] = {
    EvidenceRule.BOTH: {Answer.YES, Answer.NO},
    EvidenceRule.YES: {Answer.YES},
    EvidenceRule.NEVER: set(),
}


def is_required(rule: str, answer: str) -> bool:
    return answer in _REQUIRED[EvidenceRule(rule)]


def check_evidence(url: str, hosts: Collection[str], rule: str, answer: str) -> None:
    """Raise EvidenceError unless `url` may stand as evidence of `answer`; empty where none is required."""
    if not url:
        if is_required(rule, answer):
            raise EvidenceError(f"A {Answer(answer).label} needs a link to its evidence. {_allowed(hosts)}")
        return
    problem = _problem(url, hosts)
    if problem:
        raise EvidenceError(f"The link {problem}. {_allowed(hosts)}")


def _allowed(hosts: Collection[str]) -> str:
    return (
        f"Links may go to: {', '.join(sorted(hosts))}."
        if hosts
        else "This campaign has no verified sources yet."
    )


def _problem(url: str, hosts: Collection[str]) -> str:
    """Why the link is refused, as the rest of a sentence; empty when it is fine."""
    if len(url) > MAX_LENGTH:
        return f"has {len(url)} characters, more than {MAX_LENGTH}"
    if any(c == "\\" or c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in url):
        return "has a space, a backslash or a control character"
    try:
        parts = urlsplit(url)
        host = _ascii_host(parts.hostname or "")
    except ValueError:
        return "is not a web address"
    if parts.scheme != "https":
        return "does not begin with https://"
    if "@" in parts.netloc:
        return "has a user name in its host"
    if ":" in parts.netloc.rpartition("]")[2]:
        return "has a port"
    if not host or parts.netloc.startswith("[") or _is_ip(host):
        return "has no host name"
    if not any(host == own or host.endswith(f".{own}") for own in map(_ascii_host, hosts)):
        return f"goes to {host}, which is not a verified source"
    return ""


def _ascii_host(host: str) -> str:
    return host.lower() if host.isascii() else host.encode("idna").decode("ascii").lower()


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
