"""Describe a test set as MLCommons Croissant 1.0 (croissant.json), which mlcroissant validates and reads."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.models import Qrels
from evaluation.test_sets.files import FILES, about

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
_NUMBERS = {
    "depth": "sc:Integer", "version": "sc:Integer", "answers": "sc:Integer", "active_ms": "sc:Integer",
    "away_ms": "sc:Integer", "question_version": "sc:Integer", "guideline_version": "sc:Integer",
}  # fmt: skip


def croissant(qrels: Qrels, folder: Path, sums: Mapping[str, str]) -> str:
    """Return the JSON text about the files in a folder; sums: file -> SHA-256."""
    pool = qrels.pool
    columns = {file.name: _columns(folder / file.name) for file in FILES if file.records and file.name in sums}
    metadata = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"{pool.name}-{qrels.name}",
        "description": f"Completed test set of the knowledge graph {pool.graph.name}: qrels {qrels.name} of the pool "
        f"{pool.name}, {qrels.num_positive} positive and {qrels.num_negative} negative triples by people or an import.",
        "datePublished": f"{qrels.created_at:%Y-%m-%d}",
        "version": "1.0.0",
        **({"license": qrels.licence} if qrels.licence else {}),
        **({"citeAs": qrels.citation} if qrels.citation else {}),
        "distribution": [_file(name, sha256, (folder / name).stat().st_size) for name, sha256 in sums.items()],
        "recordSet": [_records(name, columns[name]) for name in columns if columns[name]],
    }
    return json.dumps(metadata, indent=1, ensure_ascii=False)


def _file(name: str, sha256: str, size: int) -> dict[str, Any]:
    # Croissant calls a packed table by what is in it
    kind = _TYPES.get(Path(name.removesuffix(".gz")).suffix, "text/plain")
    named = {"@type": "cr:FileObject", "@id": name, "name": name, "description": about(name), "contentUrl": name}
    return {**named, "contentSize": f"{size} B", "encodingFormat": kind, "sha256": sha256}


def _columns(path: Path) -> list[str]:
    """Return the columns in the header of a table or in the first JSON object; none where there is no record."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        first, second = file.readline(), file.readline()
    if path.suffix == ".jsonl":
        return list(json.loads(first)) if first else []
    return first.rstrip("\n").split("\t") if second else []


def _records(name: str, columns: list[str]) -> dict[str, Any]:
    stem, fields = name.split(".")[0], []
    for column in columns:
        field = {"@type": "cr:Field", "@id": f"{stem}/{column}", "name": column, "dataType": _type(name, column)}
        fields.append({**field, "source": {"fileObject": {"@id": name}, "extract": {"column": column}}})
    return {"@type": "cr:RecordSet", "@id": stem, "name": stem, "description": about(name), "field": fields}


def _type(name: str, column: str) -> str:
    measure = name.startswith("per_question") and column not in ("question", "system", "answers")
    return "sc:Float" if measure or (name, column) == ("measures.tsv", "value") else _NUMBERS.get(column, "sc:Text")
