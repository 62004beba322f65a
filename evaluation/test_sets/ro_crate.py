"""Describe a test set as an RO-Crate (ro-crate-metadata.json), by the library rocrate."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.labels.licences import in_words, usual_ids
from evaluation.labels.terms import Creator, creators_of
from evaluation.models import Qrels, Terms
from evaluation.test_sets.citation import abstract_of, title_of, version_of
from evaluation.test_sets.croissant import encoding_of
from evaluation.test_sets.files import about


def ro_crate(qrels: Qrels, terms: Terms, folder: Path, sums: Mapping[str, str]) -> str:
    """Return the JSON text about the files in a folder; sums: file -> SHA-256."""
    from rocrate.rocrate import ROCrate  # takes half a second, and only an export needs it

    crate = ROCrate()
    crate.name, crate.description = title_of(qrels), abstract_of(qrels)
    crate.datePublished = terms.created_at.date()
    crate.root_dataset["version"] = version_of(terms)
    if terms.licence:
        ids = usual_ids(terms.licence)
        crate.license = f"https://spdx.org/licenses/{ids[0]}" if len(ids) == 1 else in_words(terms.licence)
    if terms.url:
        crate.root_dataset["url"] = terms.url
    if terms.citation:
        crate.root_dataset["creditText"] = terms.citation
    if creators := creators_of(terms):
        crate.root_dataset["creator"] = [crate.add(_creator(crate, one, i)) for i, one in enumerate(creators, 1)]
    for name, sha256 in sums.items():
        size = str((folder / name).stat().st_size)
        told = {"name": name, "description": about(name), "encodingFormat": encoding_of(name)}
        crate.add_file(folder / name, dest_path=name, properties={**told, "contentSize": size, "sha256": sha256})
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False)


def _creator(crate: Any, one: Creator, number: int) -> Any:
    from rocrate.model.contextentity import ContextEntity

    kind = "Person" if one.family_given else "Organization"
    return ContextEntity(crate, one.address or f"#creator-{number}", properties={"@type": kind, "name": one.name})
