"""CITATION.cff and datacite.json by their own schemas, and what croissant.json says of the terms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datacite as datacite_package
import mlcroissant
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema
from datacite import schema45
from jsonschema import Draft7Validator
from rocrate.rocrate import ROCrate

from evaluation.labels.licences import check_licence
from evaluation.labels.qrels import freeze_qrels
from evaluation.labels.terms import Creator, edit_terms, terms_of
from evaluation.models import Qrels, Terms
from evaluation.test_sets.citation import bibtex, citation_lines, datacite, suggested_citation
from evaluation.test_sets.export import export_test_set
from pooling.models import Pool

ADA, GROUP = Creator("Lovelace, Ada", "0000-0002-1825-0097"), Creator("The group")
TERMS = {"licence": "CC-BY-4.0", "citation": "Ada, 2026", "creators": [ADA, GROUP], "url": "https://example.org/set"}
LICENCES = ["MIT OR Apache-2.0", "CDLA-Permissive-2.0", "LicenseRef-Acme", "other: ask Ada", "ODbL-1.0", ""]


@pytest.fixture
def qrels(labelled: Pool) -> Qrels:
    return freeze_qrels(labelled, "v1", **TERMS)


def citation(qrels: Qrels, terms: Terms) -> dict[str, Any]:
    return yaml.safe_load("\n".join(citation_lines(qrels, terms)))


def faults(content: dict[str, Any]) -> list[str]:
    """What the schema of the Citation File Format says against it."""
    return [
        error.message
        for error in Draft7Validator(get_builtin_schema("vendor.citation-file-format")).iter_errors(content)
    ]


def test_the_citation_file_is_valid_and_says_the_terms(qrels: Qrels):
    terms = terms_of(qrels)
    found = citation(qrels, terms)
    assert faults(found) == []
    assert found["authors"] == [
        {"family-names": "Lovelace", "given-names": "Ada", "orcid": f"https://orcid.org/{ADA.orcid}"},
        {"name": "The group"},
    ]
    wanted = {
        "message": "Ada, 2026", "type": "dataset", "license": "CC-BY-4.0", "url": "https://example.org/set",
        "version": "1.0.0", "date-released": f"{qrels.created_at:%Y-%m-%d}",
    }  # fmt: skip
    assert {name: found[name] for name in wanted} == wanted
    assert faults(found | {"authors": []}) != []


def test_a_citation_is_suggested_from_what_the_terms_say(qrels: Qrels):
    terms = terms_of(qrels)
    told = suggested_citation(qrels, terms)
    assert told.startswith(
        f"Lovelace, Ada; The group ({terms.created_at:%Y}). Completed test set of the knowledge graph "
    )
    assert told.endswith(f"Version 1.0.0. https://example.org/set. SHA-256 {qrels.sha256}.")
    edit_terms(qrels, "nobody", creators=[], url="", citation="")
    bare = suggested_citation(qrels, terms_of(qrels))
    assert bare.startswith("Completed test set") and f"({terms.created_at:%Y}). Version 1.0.1. SHA-256" in bare


def test_bibtex_has_the_terms_with_signs_escaped(qrels: Qrels):
    edit_terms(qrels, "nobody", creators=[ADA, Creator("R&D, {all} of_it"), Creator("Müller & Söhne")])
    terms = terms_of(qrels)
    title = f"Completed test set of the knowledge graph {qrels.pool.graph.name}: {qrels.pool.name}, qrels v1"
    assert bibtex(qrels, terms).splitlines() == [
        f"@misc{{{qrels.pool.name}-v1,",
        r"  author = {Lovelace, Ada and R\&D, \{all\} of\_it and {Müller \& Söhne}},",
        f"  title = {{{{{title}}}}},".replace("_", r"\_"),
        f"  year = {{{terms.created_at:%Y}}},",
        r"  howpublished = {\url{https://example.org/set}},",
        f"  note = {{Version 1.0.1. SHA-256 {qrels.sha256}}}",
        "}",
    ]
    edit_terms(qrels, "nobody", creators=[], url="")
    assert "author" not in bibtex(qrels, terms_of(qrels)) and "howpublished" not in bibtex(qrels, terms_of(qrels))


def test_datacite_is_valid_and_says_the_terms(qrels: Qrels):
    found = json.loads(datacite(qrels, terms_of(qrels)))
    assert schema45.validate(found) and not schema45.validate({**found, "creators": []})
    assert found["creators"] == [
        {
            "name": "Lovelace, Ada", "nameType": "Personal", "givenName": "Ada", "familyName": "Lovelace",
            "nameIdentifiers": [{
                "nameIdentifier": f"https://orcid.org/{ADA.orcid}", "nameIdentifierScheme": "ORCID",
                "schemeUri": "https://orcid.org",
            }],
        },
        {"name": "The group", "nameType": "Organizational"},
    ]  # fmt: skip
    assert found["rightsList"][0]["rightsIdentifier"] == "CC-BY-4.0"
    assert found["types"] == {"resourceTypeGeneral": "Dataset", "resourceType": "Test set"}
    assert (found["url"], found["version"]) == ("https://example.org/set", "1.0.0")
    assert "<resource" in schema45.tostring(found | {"identifiers": []})
    assert datacite_package.__name__ == "datacite"


@pytest.mark.parametrize("licence", LICENCES)
def test_both_are_valid_whatever_the_licence(qrels: Qrels, licence: str):
    terms = Terms(qrels=qrels, version=3, licence=check_licence(licence), created_at=qrels.created_at)
    found, other = citation(qrels, terms), json.loads(datacite(qrels, terms))
    assert faults(found) == [] and schema45.validate(other)
    named = {"MIT OR Apache-2.0": ["MIT", "Apache-2.0"], "ODbL-1.0": "ODbL-1.0"}
    assert found.get("license") == named.get(licence)
    assert [one["rights"] for one in other.get("rightsList", [])] == (
        [licence.removeprefix("other: ")] if licence else []
    )
    assert (found["version"], other["version"]) == ("1.0.2", "1.0.2")
    assert (found["authors"], other["creators"]) == ([{"name": "anonymous"}], [{"name": ":unav"}])


def test_they_are_files_of_the_test_set(qrels: Qrels, tmp_path: Path):
    export_test_set(qrels, tmp_path / "out")
    terms = terms_of(qrels)
    assert yaml.safe_load((tmp_path / "out/CITATION.cff").read_text()) == citation(qrels, terms)
    assert (tmp_path / "out/CITATION.bib").read_text() == bibtex(qrels, terms) + "\n"
    assert (tmp_path / "out/datacite.json").read_text() == datacite(qrels, terms) + "\n"


def test_croissant_says_creators_address_and_version(qrels: Qrels, tmp_path: Path):
    edit_terms(qrels, "Licence", licence="CC0-1.0")
    export_test_set(qrels, tmp_path / "out")
    data = mlcroissant.Dataset(jsonld=tmp_path / "out" / "croissant.json")
    assert (data.metadata.ctx.issues.errors, data.metadata.ctx.issues.warnings) == (set(), set())
    assert [(one.name, one.url) for one in data.metadata.creators] == [
        ("Lovelace, Ada", f"https://orcid.org/{ADA.orcid}"), ("The group", None),
    ]  # fmt: skip
    assert (data.metadata.url, data.metadata.license) == ("https://example.org/set", ["CC0-1.0"])
    assert str(data.metadata.version) == "1.0.1"


def test_the_ro_crate_is_read_by_its_library(qrels: Qrels, tmp_path: Path):
    folder = tmp_path / "out"
    export_test_set(qrels, folder)
    crate = ROCrate(folder)
    assert crate.license == "https://spdx.org/licenses/CC-BY-4.0"
    assert [(one.type, one["name"], one.id) for one in crate.root_dataset["creator"]] == [
        ("Person", "Lovelace, Ada", f"https://orcid.org/{ADA.orcid}"), ("Organization", "The group", "#creator-2"),
    ]  # fmt: skip
    sums = dict(reversed(line.split("  ")) for line in (folder / "CHECKSUMS.sha256").read_text().splitlines())
    del sums["ro-crate-metadata.json"]
    assert {one.id: one["sha256"] for one in crate.data_entities} == sums
    assert crate.root_dataset["url"] == "https://example.org/set" and crate.root_dataset["version"] == "1.0.0"
