"""Check licences against SPDX, and say what they are called elsewhere.

A licence is an SPDX expression (CC-BY-4.0, MIT OR Apache-2.0), a name of one's own (LicenseRef-Acme), or free text
after OTHER. What was frozen before this was checked stays as it is and counts as free text.
"""

import re
from difflib import get_close_matches

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.licenses._spdx import LICENSES  # the pinned version; it has no public list

from core.errors import UserError

OTHER = "other: "
_IDS = {known["id"]: key for key, known in LICENSES.items()}
# ids of Hugging Face that are not SPDX's own in lower case
_RENAMED = {
    "odbl-1.0": "odbl", "odc-by-1.0": "odc-by", "pddl-1.0": "pddl", "c-uda-1.0": "c-uda", "gfdl-1.3-only": "gfdl",
    "gfdl-1.3-or-later": "gfdl", "agpl-3.0-only": "agpl-3.0", "agpl-3.0-or-later": "agpl-3.0",
    "gpl-2.0-only": "gpl-2.0", "gpl-2.0-or-later": "gpl-2.0", "gpl-3.0-only": "gpl-3.0", "gpl-3.0-or-later": "gpl-3.0",
    "lgpl-2.1-only": "lgpl-2.1", "lgpl-2.1-or-later": "lgpl-2.1", "lgpl-3.0-only": "lgpl-3.0",
    "lgpl-3.0-or-later": "lgpl-3.0",
}  # fmt: skip
_SAME = frozenset({
    "afl-3.0", "agpl-3.0", "apache-2.0", "artistic-2.0", "bsd-2-clause", "bsd-3-clause", "bsd-3-clause-clear",
    "bsl-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0",
    "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0",
    "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0", "cdla-permissive-1.0", "cdla-permissive-2.0", "cdla-sharing-1.0",
    "ecl-2.0", "epl-1.0", "epl-2.0", "etalab-2.0", "eupl-1.1", "eupl-1.2", "gpl-2.0", "gpl-3.0", "isc", "lgpl-2.1",
    "lgpl-3.0", "lppl-1.3c", "mit", "mpl-2.0", "ms-pl", "ncsa", "ofl-1.1", "osl-3.0", "postgresql", "unlicense",
    "wtfpl", "zlib",
})  # fmt: skip


def check_licence(text: str) -> str:
    """Return a licence as SPDX writes it, or as it is where it names terms of its own; UserError with suggestions."""
    text = text.strip()
    if not text or text.startswith(OTHER.strip()):
        words = text.removeprefix(OTHER.strip()).strip()
        return OTHER + words if words else ""
    try:
        return canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        close = suggestions(text)
        meant = f"Did you mean {' or '.join(close)}? " if close else ""
        raise UserError(
            f"Licence {text[:80]!r} is not an SPDX identifier or expression. {meant}"
            f"Terms of your own are LicenseRef-NAME, or {OTHER.strip()!r} and then any text or address."
        ) from None


def suggestions(text: str, most: int = 3) -> list[str]:
    """Return the SPDX identifiers that a text may mean: the one of the same words, or some that begin alike."""
    words = _words(text)
    current = [known for known in _IDS if not LICENSES[_IDS[known]]["deprecated"]]
    if same := [known for known in current if words and _words(known) == words]:
        return same[:1]
    begun = [known for known in current if words and _words(known)[: len(words)] == words]
    near = get_close_matches(text.lower(), _IDS.values(), most, 0.8)
    return list(dict.fromkeys([*sorted(begun, key=_usual), *(LICENSES[key]["id"] for key in near)]))[:most]


_CREATIVE = (
    (r"creative commons", "cc"), (r"attribution", "by"), (r"share ?-?alike", "sa"), (r"non ?-?commercial", "nc"),
    (r"no ?-?deriv[a-z]*", "nd"), (r"\b(licen[cs]e|version|the|international|unported|generic)\b", " "),
    (r"v(?=\d)", " "),
)  # fmt: skip


def _words(text: str) -> tuple[str, ...]:
    """Return words and numbers of a licence in lower case; Creative Commons by its names and addresses too."""
    text = text.lower()
    if found := re.search(r"creativecommons\.org/(licenses|publicdomain)/([a-z-]+)/([\d.]+)", text):
        text = f"cc0 {found[3]}" if found[1] == "publicdomain" else f"cc {found[2]} {found[3]}"
    for pattern, word in _CREATIVE:
        text = re.sub(pattern, word, text)
    return tuple(part.removesuffix(".0") for part in re.findall(r"\d+(?:\.\d+)*|[a-z]+\d*", text))


def _usual(known: str) -> tuple[bool, int, list[float]]:
    """Sort by: known to Hugging Face, short, new."""
    numbers = [-float(part) for part in re.findall(r"\d+(?:\.\d+)?", known)]
    return known.lower() not in _SAME and known.lower() not in _RENAMED, len(_words(known)), numbers


def is_spdx(licence: str) -> bool:
    """Say whether a licence is an SPDX expression, references to terms of one's own among them."""
    try:
        return bool(licence) and canonicalize_license_expression(licence) == licence
    except InvalidLicenseExpression:
        return False


def in_words(licence: str) -> str:
    """Return a licence as a card shows it: without the word that marks free text."""
    return licence.removeprefix(OTHER)


def listed_ids(licence: str) -> list[str]:
    """Return the SPDX identifiers of a licence that is one identifier or a choice between some; else none."""
    parts = licence.split(" OR ")
    return parts if all(part in _IDS for part in parts) else []


def usual_ids(licence: str) -> list[str]:
    """Return the identifiers of a licence where each is among the usual ones, which Hugging Face knows; else none."""
    ids = listed_ids(licence)
    return ids if all(known.lower() in _SAME or known.lower() in _RENAMED for known in ids) else []


def hugging_face(licence: str) -> dict[str, str | list[str]]:
    """Return `license` as the front matter of a dataset card has it; other terms are `other` with their name."""
    if not licence:
        return {"license": "unknown"}
    lower = [known.lower() for known in usual_ids(licence)]
    ids = list(dict.fromkeys(_RENAMED.get(known, known) for known in lower))
    if ids:
        return {"license": ids[0] if len(ids) == 1 else ids}
    return {"license": "other", "license_name": in_words(licence)}
