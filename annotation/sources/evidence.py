"""Evidence links are checked as text and never opened by the server (DESIGN decision 10)."""

import re
import unicodedata
from collections.abc import Collection
from urllib.parse import urlsplit

from annotation.enums import Answer, EvidenceRule
from annotation.errors import EvidenceError

MAX_LENGTH = 2000
# no encoded dot, slash or NUL, no dot at the end: nothing that another reader could take for another host
_PLAIN = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")
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
    problem = problem_of(url, hosts)
    if problem:
        raise EvidenceError(f"The link {problem}. {_allowed(hosts)}")


def _allowed(hosts: Collection[str]) -> str:
    return f"Links may go to: {', '.join(sorted(hosts))}." if hosts else "This campaign has no verified sources yet."


def problem_of(url: str, hosts: Collection[str]) -> str:
    """Why a link does not count as evidence, as the rest of a sentence; empty when it is fine."""
    if len(url) > MAX_LENGTH:
        return f"has {len(url)} characters, more than {MAX_LENGTH}"
    if any(c == "\\" or c.isspace() or unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in url):
        return "has a space, a backslash or a control character"
    try:
        parts = urlsplit(url)
        host = ascii_host(parts.hostname or "")
    except ValueError:
        return "is not a web address"
    if parts.scheme != "https":
        return "does not begin with https://"
    if "@" in parts.netloc:
        return "has a user name in its host"
    if ":" in parts.netloc.rpartition("]")[2]:
        return "has a port"
    if not host or parts.netloc.startswith("[") or _is_number(host):
        return "has no host name"
    if not _PLAIN.fullmatch(host) or not any(host == own or host.endswith(f".{own}") for own in hosts):
        return f"goes to {host}, which is not a verified source"
    return ""


def ascii_host(host: str) -> str:
    """A host in the letters that are asked for on the network, in lower case.

    ValueError where browsers may read it in another way (ß, dots that only look like one, wide letters).
    """
    host = host.lower()
    if host.isascii():
        return host
    plain = host.encode("idna").decode("ascii").lower()
    if plain.encode("ascii").decode("idna") != host:
        raise ValueError(host)
    return plain


def _is_number(host: str) -> bool:
    """An IP address, however it is written: browsers read a host whose last part is a number as one."""
    last = host.rstrip(".").rpartition(".")[2]
    return last.isdecimal() or re.fullmatch("0x[0-9a-f]*", last) is not None
