"""Check evidence links as text; the server never opens them."""

import re
import unicodedata
from collections.abc import Collection
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from annotation.enums import Answer, EvidenceRule
from annotation.errors import EvidenceError

MAX_LENGTH = 2000
# no encoded dot, slash or NUL, no final dot: nothing that other software could read as another host
_PLAIN = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")
_REQUIRED: dict[str, set[str]] = {
    EvidenceRule.BOTH: {Answer.YES, Answer.NO},
    EvidenceRule.YES: {Answer.YES},
    EvidenceRule.NEVER: set(),
}


def needs_link(rule: str, answer: str) -> bool:
    """Tell whether the rule of a campaign asks for a link with this answer."""
    return answer in _REQUIRED[EvidenceRule(rule)]


_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_BARE = re.compile(r"(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}(?:[/?#]\S*)?", re.IGNORECASE)
_OPENERS, _CLOSERS = "<([{\"'“‘«", ".,;:!?>)]}\"'”’»"
_PAIRS = {")": "(", "]": "[", "}": "{"}


def clean_link(text: str) -> str:
    """Return the address in a text that somebody typed or pasted, with https://; the text itself if it has none.

    Words and quotes around it go, a scheme that is missing is added, http becomes https. static/js/lib/evidence.js
    does the same, and one table of cases tests both.
    """
    text = text.strip()
    found = _ADDRESS.search(text)
    if found and (found.start() == 0 or text[found.start() - 1].isspace() or text[found.start() - 1] in _OPENERS):
        address = _without_end(found[0])
        return re.sub(r"^https?", "https", address, count=1, flags=re.IGNORECASE)
    words = [_without_end(word.lstrip(_OPENERS)) for word in text.split()]
    for word in words:
        if _BARE.fullmatch(word) and (len(words) == 1 or "/" in word or word.lower().startswith("www.")):
            return f"https://{word}"
    return text


def _without_end(address: str) -> str:
    """Return it without the punctuation that ends a sentence; a bracket stays if it was opened within."""
    while address and address[-1] in _CLOSERS:
        last = address[-1]
        opened = _PAIRS.get(last)
        if opened and address.count(opened) >= address.count(last):
            break
        address = address[:-1]
    return address


FEW = 2  # sources that a refusal names: the first, which are the usual ones or those chosen for the relation


def check_evidence(url: str, hosts: Collection[str], rule: str, answer: str) -> None:
    """Raise EvidenceError unless `url` is acceptable evidence for `answer`, or empty where none is required."""
    if not url:
        if needs_link(rule, answer):
            told = _("A {answer} needs a link to its evidence.").format(answer=Answer(answer).label)
            raise EvidenceError(f"{told} {_allowed(hosts)}")
        return
    problem = problem_of(url, hosts)
    if problem:
        raise EvidenceError(_("The link {problem}.").format(problem=problem) + f" {_allowed(hosts)}")


def _allowed(hosts: Collection[str]) -> str:
    if not hosts:
        return _("This campaign accepts no site yet.")
    if len(hosts) <= FEW + 1:
        return _("Accepted sites: {hosts}.").format(hosts=", ".join(hosts))
    named, others = ", ".join(list(hosts)[:FEW]), len(hosts) - FEW
    return _("Accepted sites: {hosts} and {n} others.").format(hosts=named, n=others)


def problem_of(url: str, hosts: Collection[str]) -> str:
    """Return why a link is not acceptable evidence, as the rest of a sentence; empty if it is fine."""
    if len(url) > MAX_LENGTH:
        return _("has {length} characters, more than {most}").format(length=len(url), most=MAX_LENGTH)
    # nearly every link is printable: only others are read by character, which takes longer than all the rest
    is_plain = url.isprintable() and " " not in url and "\\" not in url
    if not is_plain and any(c == "\\" or c.isspace() or unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in url):
        return _("has a space, a backslash or a control character")
    try:
        parts = urlsplit(url)
        host = ascii_host(parts.hostname or "")
    except ValueError:
        return _("is not a web address")
    if parts.scheme != "https":
        return _("does not begin with https://")
    if "@" in parts.netloc:
        return _("has a user name in its host")
    if ":" in parts.netloc.rpartition("]")[2]:
        return _("has a port")
    if not host or parts.netloc.startswith("[") or _is_number(host):
        return _("has no host name")
    if not _PLAIN.fullmatch(host) or not any(host == own or host.endswith(f".{own}") for own in hosts):
        return _("goes to {host}, which is not accepted").format(host=host)
    return ""


def ascii_host(host: str) -> str:
    """Return a host in lower-case ASCII, as it is looked up on the network.

    ValueError if browsers may read it differently (ß, characters that look like dots, wide letters).
    """
    host = host.lower()
    if host.isascii():
        return host
    plain = host.encode("idna").decode("ascii").lower()
    if plain.encode("ascii").decode("idna") != host:
        raise ValueError(host)
    return plain


def _is_number(host: str) -> bool:
    """Tell whether a host is an IP address in any notation: browsers read a numeric last part as one."""
    last = host.rstrip(".").rpartition(".")[2]
    return last.isdecimal() or re.fullmatch("0x[0-9a-f]*", last) is not None
