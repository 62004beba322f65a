"""Keep the terms of a test set (licence, citation, creators, address) as versions, which change no judgement."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction

from core.database import held
from core.errors import UserError
from core.people.audit_log import record
from evaluation.enums import EvaluationAct, QrelsOrigin
from evaluation.labels.licences import check_licence
from evaluation.models import Qrels, Terms

ORCID = re.compile(r"^(.*?)[\s,;(<]*(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])[)>]?$")
LONGEST = {"licence": 200, "citation": 2000, "url": 500, "changed": 500}


class Creator(NamedTuple):
    """Name who made a test set: "Family, Given" for people, any name for a group."""

    name: str
    orcid: str = ""

    @property
    def family_given(self) -> tuple[str, str] | None:
        """Return the names of a person: of "Family, Given", or with an ORCID iD the last word and those before it."""
        if "," in self.name:
            family, given = self.name.split(",", 1)
            return family.strip(), given.strip()
        given, _, family = self.name.rpartition(" ")
        return (family, given) if self.orcid and given else None

    @property
    def address(self) -> str:
        return f"https://orcid.org/{self.orcid}" if self.orcid else ""


class GivenTerms(TypedDict, total=False):
    """Fields of terms; those that an edit leaves out stay as they are."""

    licence: str
    citation: str
    creators: Sequence[Creator]
    url: str


def read_creators(text: str) -> list[Creator]:
    """Return the creators of a text with one a line: a name, and behind it an ORCID iD if there is one."""
    found = (line.strip() for line in text.splitlines())
    return [Creator(*match.groups()) if (match := ORCID.match(line)) else Creator(line) for line in found if line]


def given_terms(options: Mapping[str, Any]) -> GivenTerms:
    """Return the terms among the options of a command; its `creator` is a list of lines."""
    given: GivenTerms = {}
    for name in ("licence", "citation", "url"):
        if options[name] is not None:
            given[name] = options[name]
    if options["creator"] is not None:
        given["creators"] = read_creators("\n".join(options["creator"]))
    return given


def creator_lines(creators: Sequence[Creator]) -> list[str]:
    """Return a line for each creator, which read_creators reads."""
    return [f"{one.name}, {one.orcid}" if one.orcid else one.name for one in creators]


def creators_of(terms: Terms) -> list[Creator]:
    return [Creator(one["name"], one["orcid"]) for one in terms.creators]


def checked_terms(given: GivenTerms) -> dict[str, Any]:
    """Return the fields of Terms that were given; UserError where one cannot be taken."""
    fields: dict[str, Any] = {name: str(given.get(name, "")).strip() for name in ("citation", "url") if name in given}
    if "licence" in given:
        fields["licence"] = check_licence(given["licence"])
    if "creators" in given:
        fields["creators"] = [_creator(one) for one in given["creators"]]
    for name, value in fields.items():
        if name in LONGEST and len(value) > LONGEST[name]:
            raise UserError(f"The {name} has {len(value):,} characters: at most {LONGEST[name]:,} can be kept.")
    if fields.get("url"):
        try:
            URLValidator(["http", "https"])(fields["url"])
        except ValidationError:
            raise UserError(f"{fields['url'][:80]!r} is not an address: begin it with https://.") from None
    return fields


def _creator(one: Creator) -> dict[str, str]:
    name, orcid = " ".join(one.name.split()), one.orcid.strip().removeprefix("https://orcid.org/")
    if not name:
        raise UserError("A creator has no name: write it before the ORCID iD.")
    if orcid and not is_orcid(orcid):
        raise UserError(f"{orcid[:40]!r} is not an ORCID iD: look it up at orcid.org; its last character is a check.")
    return {"name": name, "orcid": orcid}


def is_orcid(text: str) -> bool:
    """Say whether a text is an ORCID iD, with the right check character (ISO 7064, MOD 11-2)."""
    if not re.fullmatch(r"(\d{4}-){3}\d{3}[\dX]", text):
        return False
    total = 0
    for digit in text.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    return text[-1] == "0123456789X"[(12 - total % 11) % 11]


def edit_terms(qrels: Qrels, changed: str, user: User | None = None, **given: Unpack[GivenTerms]) -> Terms:
    """Write a new version of the terms of frozen qrels; earlier versions, judgements and their files stay.

    changed: what is new, in words. UserError where a field cannot be taken, or nothing is another.
    """
    changed = changed.strip()
    if qrels.origin != QrelsOrigin.FROZEN:
        raise UserError(f"Qrels {qrels.name} were imported and are not exported: only frozen qrels have terms.")
    if not 0 < len(changed) <= LONGEST["changed"]:
        raise UserError(f"Say what you changed, in at most {LONGEST['changed']} characters.")
    fields = checked_terms(given)
    with transaction.atomic():
        held(qrels.pool)
        now = terms_of(Qrels.objects.get(pk=qrels.pk))  # `qrels` may have been read before another's version was there
        kept = {name: getattr(now, name) for name in ("licence", "citation", "creators", "url")}
        if kept | fields == kept:
            raise UserError(f"Nothing is another in the terms of {qrels}: version {now.version} says the same.")
        terms = Terms.objects.create(
            qrels=qrels, version=now.version + 1, changed=changed, created_by=user, **(kept | fields)
        )
        record(user, EvaluationAct.TERMS_EDITED, pool=qrels.pool, about=qrels.name, version=terms.version)
    return terms


def terms_of(qrels: Qrels, version: int | None = None) -> Terms:
    """Return a version of the terms, the last if none is named; terms that say nothing where there are none."""
    if version is None:
        return qrels.last_terms
    chosen = qrels.terms.filter(version=version).first()
    return chosen or Terms(qrels=qrels, version=version, created_at=qrels.created_at)
