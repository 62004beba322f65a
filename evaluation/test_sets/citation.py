"""Write how to cite a test set: CITATION.cff (Citation File Format 1.2), BibTeX, datacite.json (DataCite, kernel 4)."""

import json
from collections.abc import Iterator
from typing import Any

import yaml

from evaluation.labels.licences import in_words, is_spdx, usual_ids
from evaluation.labels.terms import Creator, creators_of
from evaluation.models import Qrels, Terms

NOBODY = "anonymous"  # in CITATION.cff, which needs an author
UNKNOWN = ":unav"  # DataCite's own word where a value that it needs is not known
_NEWER = {"CDLA-Permissive-2.0"}  # than Citation File Format 1.2
KEYWORDS = ["knowledge graph completion", "link prediction", "test collection", "pooling"]


def title_of(qrels: Qrels) -> str:
    return f"Completed test set of the knowledge graph {qrels.pool.graph.name}: {qrels.pool.name}, qrels {qrels.name}"


def version_of(terms: Terms) -> str:
    """Return the version of a test set: its judgements never change, and the last number is that of its terms."""
    return f"1.0.{terms.version - 1}"


def abstract_of(qrels: Qrels) -> str:
    return (
        f"{qrels.num_positive:,} positive and {qrels.num_negative:,} negative triples by people or an import, "
        f"{qrels.num_assumed_negative:,} assumed negative, {qrels.num_unjudged:,} pooled and unjudged."
    )


def suggested_citation(qrels: Qrels, terms: Terms) -> str:
    """Return how to cite a test set whose terms say nothing of it, in one line."""
    names = "; ".join(one.name for one in creators_of(terms))
    title, year = title_of(qrels), f"({terms.created_at:%Y})"
    named = f"{names} {year}. {title}" if names else f"{title} {year}"
    address = f" {terms.url}." if terms.url else ""
    return f"{named}. Version {version_of(terms)}.{address} SHA-256 {qrels.sha256}."


def bibtex(qrels: Qrels, terms: Terms) -> str:
    """Return a BibTeX entry, @misc since plain BibTeX has no @dataset; without an author where none is named."""
    fields = {
        "author": " and ".join(_bibtex_name(one) for one in creators_of(terms)),
        "title": f"{{{_tex(title_of(qrels))}}}",
        "year": f"{terms.created_at:%Y}",
        "howpublished": f"\\url{{{terms.url}}}" if terms.url else "",
        "note": f"Version {version_of(terms)}. SHA-256 {qrels.sha256}",
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return ",\n".join([f"@misc{{{qrels.pool.name}-{qrels.name}", *lines]) + "\n}"


def _bibtex_name(one: Creator) -> str:
    """Return a name as BibTeX splits it; one of a group stands in braces, which keep it whole."""
    return _tex(", ".join(one.family_given)) if one.family_given else f"{{{_tex(one.name)}}}"


_TEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "{}$&#%_"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


def _tex(text: str) -> str:
    """Return a text whose signs TeX takes for commands are escaped."""
    return text.translate(_TEX)


def citation_lines(qrels: Qrels, terms: Terms) -> Iterator[str]:
    """Yield CITATION.cff, in YAML. It has no licence where its format does not know that one."""
    ids = [known for known in usual_ids(terms.licence) if known not in _NEWER]
    content = {
        "cff-version": "1.2.0",
        "message": terms.citation or "Cite this test set as below.",
        "type": "dataset",
        "title": title_of(qrels),
        "authors": [_author(one) for one in creators_of(terms)] or [{"name": NOBODY}],
        "abstract": abstract_of(qrels),
        "version": version_of(terms),
        "date-released": f"{terms.created_at:%Y-%m-%d}",
        **({"license": ids[0] if len(ids) == 1 else ids} if ids else {}),
        **({"url": terms.url} if terms.url else {}),
        "keywords": KEYWORDS,
        "identifiers": [{"type": "other", "value": f"sha256:{qrels.sha256}", "description": "SHA-256 of the qrels"}],
    }
    yield from yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110).splitlines()


def _author(one: Creator) -> dict[str, str]:
    named = (
        {"family-names": one.family_given[0], "given-names": one.family_given[1]}
        if one.family_given
        else {"name": one.name}
    )
    return {**named, **({"orcid": one.address} if one.orcid else {})}


def datacite(qrels: Qrels, terms: Terms) -> str:
    """Return the JSON text of DataCite's metadata, without a DOI; the publisher is whoever registers one."""
    content: dict[str, Any] = {
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Test set"},
        "titles": [{"title": title_of(qrels)}],
        "creators": [_named(one) for one in creators_of(terms)] or [{"name": UNKNOWN}],
        "publisher": {"name": UNKNOWN},
        "publicationYear": f"{terms.created_at:%Y}",
        "subjects": [{"subject": word} for word in KEYWORDS],
        "dates": [
            {"date": f"{qrels.created_at:%Y-%m-%d}", "dateType": "Created"},
            {"date": f"{terms.created_at:%Y-%m-%d}", "dateType": "Issued"},
        ],
        "alternateIdentifiers": [
            {"alternateIdentifier": qrels.sha256, "alternateIdentifierType": "SHA-256 of the qrels"}
        ],
        "version": version_of(terms),
        **({"rightsList": [_rights(terms.licence)]} if terms.licence else {}),
        "descriptions": [{"description": abstract_of(qrels), "descriptionType": "Abstract"}],
        **({"url": terms.url} if terms.url else {}),
        "schemaVersion": "http://datacite.org/schema/kernel-4",
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _named(one: Creator) -> dict[str, Any]:
    named: dict[str, Any] = {"name": one.name, "nameType": "Organizational"}
    if one.family_given:
        family, given = one.family_given
        named = {"name": f"{family}, {given}", "nameType": "Personal", "givenName": given, "familyName": family}
    if one.orcid:
        scheme = {"nameIdentifierScheme": "ORCID", "schemeUri": "https://orcid.org"}
        named["nameIdentifiers"] = [{"nameIdentifier": one.address, **scheme}]
    return named


def _rights(licence: str) -> dict[str, str]:
    rights = {"rights": in_words(licence)}
    if is_spdx(licence):
        rights |= {"rightsIdentifier": licence, "rightsIdentifierScheme": "SPDX"}
        rights["schemeUri"] = "https://spdx.org/licenses/"
    return rights
