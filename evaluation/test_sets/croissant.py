"""Describe a test set as MLCommons Croissant 1.0 (croissant.json), which mlcroissant validates and reads."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.labels.licences import in_words
from evaluation.labels.terms import Creator, creators_of
from evaluation.models import Qrels, Terms
from evaluation.test_sets.citation import version_of
from evaluation.test_sets.columns import Table, tables
from evaluation.test_sets.files import about

CONTEXT = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
    "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet", "format": "cr:format",
    "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key",
    "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path", "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source",
    "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
_TYPES = {".tsv": "text/tab-separated-values", ".jsonl": "application/jsonlines", ".md": "text/markdown"}
_DATA_TYPES = {str: "sc:Text", int: "sc:Integer", float: "sc:Float", bool: "sc:Boolean"}


def croissant(qrels: Qrels, terms: Terms, folder: Path, sums: Mapping[str, str]) -> str:
    """Return the JSON text about the files in a folder; sums: file -> SHA-256."""
    pool = qrels.pool
    metadata = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"{pool.name}-{qrels.name}",
        "description": f"Completed test set of the knowledge graph {pool.graph.name}: qrels {qrels.name} of the pool "
        f"{pool.name}, {qrels.num_positive} positive and {qrels.num_negative} negative triples by people or an import.",
        "datePublished": f"{terms.created_at:%Y-%m-%d}",
        "version": version_of(terms),
        **({"license": in_words(terms.licence)} if terms.licence else {}),
        **({"citeAs": terms.citation} if terms.citation else {}),
        **({"creator": [_creator(one) for one in creators_of(terms)]} if terms.creators else {}),
        **({"url": terms.url} if terms.url else {}),
        "distribution": [_file(name, sha256, (folder / name).stat().st_size) for name, sha256 in sums.items()],
        "recordSet": [_records(table) for table in tables(folder, sums) if table.has_header],
    }
    return json.dumps(metadata, indent=1, ensure_ascii=False)


def _creator(one: Creator) -> dict[str, str]:
    kind = "sc:Person" if one.family_given else "sc:Organization"
    return {"@type": kind, "name": one.name, **({"url": one.address} if one.address else {})}


def encoding_of(name: str) -> str:
    """Return the kind of a file; Croissant calls a packed table by what is in it."""
    return _TYPES.get(Path(name.removesuffix(".gz")).suffix, "text/plain")


def _file(name: str, sha256: str, size: int) -> dict[str, Any]:
    named = {"@type": "cr:FileObject", "@id": name, "name": name, "description": about(name), "contentUrl": name}
    return {**named, "contentSize": f"{size} B", "encodingFormat": encoding_of(name), "sha256": sha256}


def _records(table: Table) -> dict[str, Any]:
    fields = []
    for column, kind in table.columns.items():
        field = {"@type": "cr:Field", "@id": f"{table.stem}/{column}", "name": column, "dataType": _DATA_TYPES[kind]}
        fields.append({**field, "source": {"fileObject": {"@id": table.name}, "extract": {"column": column}}})
    named = {"@type": "cr:RecordSet", "@id": table.stem, "name": table.stem, "description": table.about}
    return {**named, "field": fields}
