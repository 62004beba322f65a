"""Read N-Triples and Turtle: statements between resources are triples, literals are labels and descriptions."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from pooling.enums import Split
from pooling.graphs.source_data import GraphError, Problems, SideTable, plural
from pooling.layouts.layout import Found, LayoutOptions, Triples
from pooling.layouts.source_files import SourceFiles
from pooling.layouts.split_names import split_of
from pooling.layouts.tables import text_lines

FORMATS = {".nt": "nt", ".ttl": "turtle"}
TEXT = (".txt", ".tsv", "")  # may be N-Triples too, which the lines tell
LOOKED_AT = 50  # lines
_ADDRESS = r"<[^<>\s]+>"
STATEMENT = re.compile(rf"({_ADDRESS}|_:\S+)\s+{_ADDRESS}\s+({_ADDRESS}|_:\S+|\".*\"\S*)\s*\.(\s*#.*)?")
RELATIVE = re.compile(r"<(?![A-Za-z][\w+.-]*:)[^<>\s]+>(?!.*\")")  # an address without a beginning, in no literal
BASE = "http://relative/"  # of addresses without a beginning: not the folder of this machine
RDFS, SKOS = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2004/02/skos/core#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABELS = {f"{RDFS}label": 0}
DESCRIPTIONS = {  # the first that an entity has counts
    "http://schema.org/description": 0, "https://schema.org/description": 0, f"{RDFS}comment": 1,
}  # fmt: skip
ALIASES = {f"{SKOS}altLabel", "http://schema.org/alternateName", "https://schema.org/alternateName"}

Texts = dict[str, tuple[int, bool, str]]  # key -> place of the predicate, not English, text: the smallest is taken


def rdf(source: SourceFiles, options: LayoutOptions) -> Found | None:
    """Read files of statements between resources, named for splits or one of all.

    rdfs:label are labels of entities and relations, rdf:type types, schema:description or rdfs:comment descriptions,
    skos:altLabel and schema:alternateName aliases; English first. Blank nodes and other literals are counted.
    """
    paths = [path for path in source if _format(source, path)]
    if not paths:
        return None
    splits: dict[Split, list[str]] = {}
    for path in paths:
        splits.setdefault(split_of(path) or Split.TRAIN, []).append(path)
    if Split.TRAIN not in splits:
        raise GraphError(f"No file is named for train among {', '.join(paths)}.")
    known = _Known()
    triples: dict[Split, Triples] = {}
    warnings = []
    for split, files in splits.items():
        rows: list[tuple[str, str, str]] = []
        left = sum(known.take(statement, rows) for path in files for statement in _statements(source, path))
        triples[split] = Triples(", ".join(files), sorted(rows), (), "in the order of their names")
        if left:
            said = plural(left, "statement with", "statements with")
            warnings.append(f"{', '.join(files)}: {said} a literal or a blank node left out.")
    relations = {r for of in triples.values() for _, r, _ in of.rows}
    entities = {name for of in triples.values() for h, _, t in of.rows for name in (h, t)}
    return Found(
        "RDF (N-Triples or Turtle)",
        triples,
        labels=_table("rdfs:label", known.labels, entities),
        types=_sorted("rdf:type", known.types, entities),
        relation_labels=_table("rdfs:label", known.labels, relations),
        descriptions=_table("schema:description, rdfs:comment", known.descriptions, entities),
        aliases=_sorted("skos:altLabel", known.aliases, entities),
        used=set(paths),
        warnings=warnings,
    )


class _Known:
    """Collect what statements say of resources; they come in no order, so that the smallest of equals is taken."""

    def __init__(self) -> None:
        self.labels: Texts = {}
        self.descriptions: Texts = {}
        self.aliases: set[tuple[str, str]] = set()
        self.types: set[tuple[str, str]] = set()

    def take(self, statement: tuple[Any, Any, Any], rows: list[tuple[str, str, str]]) -> bool:
        """Add a statement to the rows or to what is known; return whether it was left out."""
        kinds = [type(part).__name__ for part in statement]
        subject, predicate, value = map(str, statement)
        if kinds[0] != "URIRef":
            return True
        if kinds[2] == "URIRef":
            if predicate == TYPE:
                self.types.add((subject, value))
            else:
                rows.append((subject, predicate, value))
            return False
        if kinds[2] != "Literal":
            return True
        english = (getattr(statement[2], "language", None) or "").startswith("en")
        for texts, predicates in ((self.labels, LABELS), (self.descriptions, DESCRIPTIONS)):
            if predicate in predicates:
                texts[subject] = min(texts.get(subject, (9, True, "")), (predicates[predicate], not english, value))
                return False
        if predicate in ALIASES:
            self.aliases.add((subject, value))
            return False
        return True


def _table(name: str, texts: Mapping[str, tuple[int, bool, str]], of: set[str]) -> SideTable | None:
    return _sorted(name, {(key, text) for key, (_, _, text) in texts.items()}, of)


def _sorted(name: str, rows: Iterable[tuple[str, str]], of: set[str]) -> SideTable | None:
    kept = sorted(row for row in rows if row[0] in of and row[1].strip())
    return SideTable(name, kept, has_lines=False) if kept else None


def _format(source: SourceFiles, path: str) -> str:
    """Return the format of a file of statements, by its ending or, if that tells nothing, by its first lines."""
    ending = PurePosixPath(path).suffix.lower()
    if ending in TEXT and (split_of(path) or len(source.readers) == 1):
        lines = (line.strip() for line in text_lines(source.read(path), path, Problems()))  # a look only
        first = list(islice((line for line in lines if line and not line.startswith("#")), LOOKED_AT))
        if not first or not all(map(STATEMENT.fullmatch, first)):
            return ""
        return "turtle" if any(map(RELATIVE.search, first)) else "nt"  # N-Triples has no relative addresses
    return FORMATS.get(ending, "")


def _statements(source: SourceFiles, file: str) -> Iterable[tuple[Any, Any, Any]]:
    from rdflib import Graph  # a second to load, and only here
    from rdflib.plugins.stores.memory import SimpleMemory

    found: dict[tuple[Any, Any, Any], None] = {}  # rdflib's own store has three indices, which take 2 kB a statement

    class Kept(SimpleMemory):
        def add(self, triple: tuple[Any, Any, Any], context: Any, quoted: bool = False) -> None:
            found[triple] = None

    kind, data = _format(source, file), source.read(file)
    try:
        Graph(store=Kept()).parse(data=data, format=kind, publicID=BASE)
    except Exception as error:  # rdflib raises its own kinds for each format
        said = " ".join(str(error).replace(" of <>", "").split())[:200]
        raise GraphError(f"{file} is not valid {kind}: {said}. Correct the file, or write it again.") from None
    return found
