"""Layouts that other people publish: a small folder of each gives the same graph, and what is wrong is named."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
from django.conf import settings

from pooling.enums import Split
from pooling.graphs.checks import check_source
from pooling.graphs.source_data import GraphError
from pooling.layouts.doubts import ID
from pooling.layouts.layout import LayoutOptions, Triples
from pooling.layouts.preview import preview_lines
from pooling.layouts.recognise import Reading, read_layout
from pooling.layouts.splitter import divide

TRAIN = [("a", "likes", "b"), ("b", "likes", "c"), ("c", "knows", "a"), ("a", "knows", "c"), ("b", "likes", "a")]
VALID, TEST = [("a", "likes", "c")], [("b", "knows", "a")]
SPLITS = {Split.TRAIN: TRAIN, Split.VALID: VALID, Split.TEST: TEST}
NAMES = ("train", "valid", "test")
ENTITIES, RELATIONS = {"a": 0, "b": 1, "c": 2}, {"likes": 0, "knows": 1}


def lines(rows, separator: str = "\t") -> str:
    return "".join(f"{separator.join(map(str, row))}\n" for row in rows)


def three(
    ending: str, separator: str = "\t", names=NAMES, header: str = "", make=lambda row: row, folder: str = ""
) -> dict:
    return {
        f"{folder}{name}{ending}": header + lines(map(make, rows), separator)
        for name, rows in zip(names, SPLITS.values(), strict=True)
    }


def numbers(row) -> tuple[int, int, int]:
    return ENTITIES[row[0]], RELATIONS[row[1]], ENTITIES[row[2]]


def counted(rows) -> str:
    return f"{len(rows)}\n" + lines(rows)


OPENKE = {
    **{
        f"{split.value}2id.txt": counted([(h, t, r) for h, r, t in map(numbers, rows)])
        for split, rows in SPLITS.items()
    },
    "entity2id.txt": counted(ENTITIES.items()),
    "relation2id.txt": counted(RELATIONS.items()),
}
LIBKGE = {
    **three(".del", make=numbers),
    "entity_ids.del": lines((i, name) for name, i in ENTITIES.items()),
    "relation_ids.del": lines((i, name) for name, i in RELATIONS.items()),
}
DICTIONARIES = {
    "entities.dict": lines((i, name) for name, i in ENTITIES.items()),
    "relations.dict": lines((i, name) for name, i in RELATIONS.items()),
}
LABELLED = {"a": "Anna", "b": "Ben", "c": "Cora"}
CODEX = {
    **three(".txt", folder="data/triples/codex-s/"),
    "data/triples/codex-s/test_negatives.txt": "a\tlikes\ta\n",
    "data/entities/en/entities.json": json.dumps({key: {"label": name} for key, name in LABELLED.items()}),
    "data/entities/de/entities.json": json.dumps({"a": {"label": "Anna (de)"}}),
    "data/types/entity2types.json": json.dumps({"a": ["Q5"], "b": ["Q5", "Q9"]}),
    "data/types/en/types.json": json.dumps({"Q5": {"label": "human"}}),
}

# layout in docs/formats.md: files, options, and whether it has labels and types
FOLDERS: dict[str, tuple[dict, dict, bool, bool]] = {
    "tab-separated .tsv": (three(".tsv"), {}, False, False),
    "tab-separated .txt": (three(".txt"), {}, False, False),
    "comma-separated .csv": (three(".csv", ","), {}, False, False),
    "semicolons": (three(".csv", ";"), {}, False, False),
    "bars": (three(".txt", "|"), {}, False, False),
    "spaces": (three(".txt", " "), {}, False, False),
    "no ending": (three(""), {}, False, False),
    "dev for valid": (three(".tsv", names=("train", "dev", "test")), {}, False, False),
    "name before the split": (three(".txt", names=("wn18-train", "wn18-valid", "wn18-test")), {}, False, False),
    "header head, relation, tail": (three(".csv", ",", header="head,relation,tail\n"), {}, False, False),
    "header subject, object, predicate": (
        three(".tsv", header="subject\tobject\tpredicate\n", make=lambda row: (row[0], row[2], row[1])),
        {},
        False,
        False,
    ),
    "columns h t r": (three(".tsv", make=lambda row: (row[0], row[2], row[1])), {"columns": "htr"}, False, False),
    "quoted csv": (three(".csv", '","', make=lambda row: (f'"{row[0]}', row[1], f'{row[2]}"')), {}, False, False),
    "empty lines and columns": (
        {name: text.replace("\n", "\n\n", 1) for name, text in three(".tsv", make=lambda row: (*row, "")).items()},
        {},
        False,
        False,
    ),
    "lines that end as on an old Macintosh": (
        {name: text.replace("\n", "\r") for name, text in three(".tsv").items()},
        {},
        False,
        False,
    ),
    "a byte order mark and CRLF": (
        {name: "\ufeff" + text.replace("\n", "\r\n") for name, text in three(".tsv").items()},
        {},
        False,
        False,
    ),
    "count lines": ({f"{split.value}.txt": counted(rows) for split, rows in SPLITS.items()}, {}, False, False),
    "count lines and numbers (Fast-TransX)": (
        {name.replace("2id", "") if name[0] in "tv" else name: text for name, text in OPENKE.items()},
        {},
        False,
        False,
    ),
    "parts of train beside it": ({**three(".tsv"), "train_5.tsv": lines(TRAIN[:1])}, {}, False, False),
    "columns h t r that names tell": (three(".tsv", make=lambda row: (row[0], row[2], row[1])), {}, False, False),
    "one folder of several": (
        {**three(".txt", folder="small/"), **three(".txt", folder="large/")},
        {"folder": "small"},
        False,
        False,
    ),
    "OpenKE": (OPENKE, {}, False, False),
    "OpenKE, names without a count": (
        {**OPENKE, "entity2id.txt": lines(ENTITIES.items()), "relation2id.txt": lines(RELATIONS.items())},
        {},
        False,
        False,
    ),
    "OpenKE without any count": ({name: text.split("\n", 1)[1] for name, text in OPENKE.items()}, {}, False, False),
    "LibKGE": (LIBKGE, {}, False, False),
    "RotatE, names": ({**three(".txt"), **DICTIONARIES}, {}, False, False),
    "RotatE, numbers": ({**three(".txt", make=numbers), **DICTIONARIES}, {}, False, False),
    "KG-BERT": (
        {**three(".tsv", names=("train", "dev", "test")), "entity2text.txt": lines(LABELLED.items())},
        {},
        True,
        False,
    ),
    "CoDEx": (CODEX, {}, True, True),
    "quadruples": (three(".txt", make=lambda row: (*row, "2014-01-01")), {"ignore_time": True}, False, False),
    "statements with qualifiers": (
        {**three(".txt", ","), "train.txt": lines(TRAIN, ",").replace("a,likes,b", "a,likes,b,since,1999")},
        {"drop_qualifiers": True},
        False,
        False,
    ),
    "quadruples with a header": (
        three(".csv", ",", header="timestamp,head,relation,tail\n", make=lambda row: ("2014", *row)),
        {"ignore_time": True},
        False,
        False,
    ),
    "a header with an index": (
        three(".csv", ",", header=",head,relation,tail\n", make=lambda row: (7, *row)),
        {},
        False,
        False,
    ),
    "a header of other words": (three(".csv", ",", header="kopf,art,ziel\n"), {"header": "yes"}, False, False),
    "RE-Net": (
        {
            **three(".txt", make=lambda row: (*numbers(row), 24)),
            "entity2id.txt": lines(ENTITIES.items()),
            "relation2id.txt": lines(RELATIONS.items()),
            "stat.txt": "3\t2\n",
        },
        {"ignore_time": True},
        False,
        False,
    ),
    "LibKGE with strings": (
        {**LIBKGE, "entity_strings.del": lines((i, LABELLED[name]) for name, i in ENTITIES.items())},
        {},
        True,
        False,
    ),
    "labels of lines beside a header": (
        three(".csv", ",", header="head,relation,tail,label\n", make=lambda row: (*row, 1)),
        {},
        False,
        False,
    ),
    "triples with 1 and -1": ({**three(".tsv"), "test.tsv": "b\tknows\tb\t-1\nb\tknows\ta\t1\n"}, {}, False, False),
    "own folder with labels and types": (
        {**three(".tsv"), "entity_labels.tsv": lines(LABELLED.items()), "entity_types.tsv": "a\tperson\n"},
        {},
        True,
        True,
    ),
    "RDF by split": (
        three(".nt", " ", make=lambda row: (*(f"<http://x.org/{name}>" for name in row), ".")),
        {},
        False,
        False,
    ),
    "N-Triples in .txt files": (
        three(".txt", " ", make=lambda row: (*(f"<http://x.org/{name}>" for name in row), ".")),
        {},
        False,
        False,
    ),
    "N-Triples with relative addresses in .txt files": (
        three(".txt", " ", make=lambda row: (*(f"<{name}>" for name in row), ".")),
        {},
        False,
        False,
    ),
}
# without splits: all triples in train
SINGLE: dict[str, tuple[dict, bool, bool]] = {
    "one file": ({"graph.tsv": lines(TRAIN)}, False, False),
    "Hetionet": (
        {
            "hetionet-edges.sif": "source\tmetaedge\ttarget\n" + lines(TRAIN),
            "hetionet-nodes.tsv": "id\tname\tkind\n" + lines((key, name, "Gene") for key, name in LABELLED.items()),
        },
        True,
        True,
    ),
    "OGB": (
        {
            "raw/edge.csv": lines(((ENTITIES[h], ENTITIES[t]) for h, _, t in TRAIN), ","),
            "raw/edge_reltype.csv": lines((RELATIONS[r],) for _, r, _ in TRAIN),
            "mapping/nodeidx2entityid.csv": "node idx,entity id\n"
            + lines(((i, name) for name, i in ENTITIES.items()), ","),
            "mapping/reltype2relid.csv": "reltype,rel id\n" + lines(((i, name) for name, i in RELATIONS.items()), ","),
        },
        False,
        False,
    ),
    "Neo4j": (
        {
            "nodes.csv": "id:ID,name,:LABEL\n"
            + lines(((key, name, "Person;Human") for key, name in LABELLED.items()), ","),
            "edges.csv": ":START_ID,:END_ID,:TYPE\n" + lines(((h, t, r) for h, r, t in TRAIN), ","),
        },
        True,
        True,
    ),
    "Neo4j, apoc": (
        {
            "all.csv": '"_id","_labels","name","_start","_end","_type"\n'
            + lines(((f'"{key}"', '":Person:Human"', f'"{name}"', "", "", "") for key, name in LABELLED.items()), ",")
            + lines((("", "", "", h, t, r) for h, r, t in TRAIN), ",")
        },
        True,
        True,
    ),
    "Turtle": (
        {
            "graph.ttl": "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
            + "@prefix x: <http://x.org/> .\n"
            + lines((f"x:{h}", f"x:{r}", f"x:{t}", ".") for h, r, t in TRAIN)
            + "".join(
                f'x:{key} rdfs:label "{name} (de)"@de, "{name}"@en ; a x:Person .\n' for key, name in LABELLED.items()
            )
        },
        True,
        True,
    ),
    "N-Triples in a .txt file": (
        {
            "graph.txt": "# made by hand\n"
            + lines((*(f"<http://x.org/{name}>" for name in row), ".") for row in TRAIN)
            + "".join(
                f'<http://x.org/{key}> <http://www.w3.org/2000/01/rdf-schema#label> "{name}"@en .\n'
                for key, name in LABELLED.items()
            )
        },
        True,
        False,
    ),
}


def write(folder: Path, files: dict) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def rows_of(reading: Reading) -> dict[Split, list]:
    """The triples of each split; names of RDF lose what comes before the last part."""
    return {split: [tuple(map(ending, row)) for row in of.rows] for split, of in reading.found.splits.items()}


def ending(name: str) -> str:
    return name.removeprefix("http://x.org/").removeprefix("http://relative/")


@pytest.mark.parametrize("layout", FOLDERS)
def test_layouts_with_splits_give_the_same_graph(layout: str, tmp_path: Path):
    files, options, has_labels, has_types = FOLDERS[layout]
    reading = read_layout(write(tmp_path, files), LayoutOptions(**options))
    found = rows_of(reading)
    if layout.startswith(("RDF by split", "N-Triples")):  # sets of statements
        found = {split: sorted(rows) for split, rows in found.items()}
        assert found == {split: sorted(rows) for split, rows in SPLITS.items()}
    else:
        assert found == SPLITS
    assert reading.drawn == []
    labels = {ending(key): name for key, name in reading.found.labels.rows} if reading.found.labels else {}
    assert labels == (LABELLED if has_labels else {})
    assert (reading.found.types is not None) == has_types


@pytest.mark.parametrize("layout", SINGLE)
def test_layouts_without_splits_are_divided(layout: str, tmp_path: Path):
    files, has_labels, has_types = SINGLE[layout]
    reading = read_layout(write(tmp_path, files), LayoutOptions(shares=(0.2, 0.2)))
    found = rows_of(reading)
    assert sorted(row for rows in found.values() for row in rows) == sorted(TRAIN)
    assert reading.drawn == [Split.VALID, Split.TEST]
    assert len(found[Split.VALID]) == len(found[Split.TEST]) == 1
    assert {name for h, _, t in found[Split.TRAIN] for name in (h, t)} == set(ENTITIES)
    assert {r for _, r, _ in found[Split.TRAIN]} == set(RELATIONS)
    labels = {ending(key): name for key, name in reading.found.labels.rows} if reading.found.labels else {}
    assert labels == (LABELLED if has_labels else {})
    assert (reading.found.types is not None) == has_types


def test_types_of_codex_have_their_names(tmp_path: Path):
    reading = read_layout(write(tmp_path, CODEX))
    assert list(reading.found.types.rows) == [("a", "human"), ("b", "human"), ("b", "Q9")]
    assert "data/triples/codex-s/test_negatives.txt" in reading.ignored
    assert "data/entities/de/entities.json" in reading.ignored


TEXTS: dict[str, dict] = {  # files beside those of the layout
    "CoDEx": {
        **CODEX,
        "data/entities/en/entities.json": json.dumps(
            {"a": {"label": "Anna", "description": "a\nwoman", "wiki": "https://en.wikipedia.org/wiki/Anna"}}
        ),
        "data/relations/en/relations.json": json.dumps({"likes": {"label": "is fond of"}}),
    },
    "KG-BERT": {
        **three(".tsv", names=("train", "dev", "test")),
        "entity2text.txt": "a\tAnna\n",
        "entity2textlong.txt": "a\ta woman\n",
        "relation2text.txt": "likes\tis fond of\n",
    },
    "own files": {
        **three(".tsv"),
        "entity_labels.tsv": "a\tAnna\n",
        "entity_descriptions.tsv": "a\ta woman\n",
        "entity_aliases.tsv": "a\tAnn\na\tAnnie\n",
        "entity_links.tsv": "a\thttps://en.wikipedia.org/wiki/Anna\n",
        "relation_labels.tsv": "likes\tis fond of\n",
    },
    "RDF": {
        "graph.ttl": "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n@prefix x: <http://x.org/> .\n"
        "@prefix schema: <http://schema.org/> .\n@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        + lines((f"x:{h}", f"x:{r}", f"x:{t}", ".") for h, r, t in TRAIN)
        + 'x:a rdfs:comment "a comment"@en ; schema:description "eine Frau"@de, "a woman"@en, "zz"@en ;'
        ' rdfs:label "Anna"@en ; skos:altLabel "Annie", "Ann" ; x:age 7 .\n'
        'x:likes rdfs:label "is fond of"@en .\nx:elsewhere rdfs:label "Nowhere" .\n'
    },
}


@pytest.mark.parametrize("layout", TEXTS)
def test_descriptions_aliases_links_and_relation_labels_are_read(layout: str, tmp_path: Path):
    reading = read_layout(write(tmp_path, TEXTS[layout]), LayoutOptions(shares=(0.2, 0.2)))
    data = reading.source_data()

    def plain(table) -> list[tuple[str, str]]:
        return [(ending(key), text) for key, text in table.rows] if table else []

    assert plain(data.labels)[0] == ("a", "Anna")
    assert plain(data.descriptions) == [("a", "a woman")]
    assert plain(data.relation_labels) == [("likes", "is fond of")]
    has_aliases, has_links = layout in ("own files", "RDF"), layout in ("own files", "CoDEx")
    assert plain(data.aliases) == ([("a", "Ann"), ("a", "Annie")] if has_aliases else [])
    assert plain(data.links) == ([("a", "https://en.wikipedia.org/wiki/Anna")] if has_links else [])
    assert reading.ignored == [name for name in reading.ignored if "entities/de" in name or "negatives" in name]
    if layout == "RDF":
        assert "graph.ttl: 1 statement with a literal or a blank node left out." in reading.found.warnings


def test_labels_of_relations_are_read_by_number(tmp_path: Path):
    files = {**LIBKGE, "relation_strings.del": "0\tis fond of\n1\tis acquainted with\n"}
    found = read_layout(write(tmp_path, files)).found
    assert dict(found.relation_labels.rows) == {"likes": "is fond of", "knows": "is acquainted with"}


def test_entries_of_json_have_a_file_and_no_line(tmp_path: Path):
    of_z = {"label": "Zoe", "description": "nobody", "wiki": "https://x.org/z"}
    files = {**CODEX, "data/entities/en/entities.json": json.dumps({"a": {"label": "Anna"}, "z": of_z})}
    reading = read_layout(write(tmp_path, files))
    assert "labels: 2 entries of data/entities/en/entities.json" in list(preview_lines(reading))
    told = {entry["message"]: entry["examples"] for entry in check_source(reading.source_data(), "keep").report}
    path = "data/entities/en/entities.json"
    for what in ("label", "description", "link"):
        assert told[f"1 entry of {path} ({what}) on an entity that no triple has; ignored."] == [f"{path} z"]


def test_archive_that_was_cut_off_is_refused(tmp_path: Path):
    (tmp_path / "graph.zip").write_bytes(b"PK\3\4 and no end")
    with pytest.raises(GraphError, match=r"graph\.zip is not a complete zip file: copy or pack it again\."):
        read_layout(tmp_path / "graph.zip")


def test_layout_names_where_the_folder_comes_from(tmp_path: Path):
    named = {
        name: read_layout(write(tmp_path / name, TEXTS[name])).found.layout
        for name in ("CoDEx", "KG-BERT", "own files")
    }
    assert named == {
        "CoDEx": "files of triples with CoDEx's JSON",
        "KG-BERT": "files of triples with KG-BERT's texts",
        "own files": "files of triples",
    }


def test_preview_names_what_came_with_the_triples(tmp_path: Path):
    pattern = "https://www.wikidata.org/wiki/{id}"
    shown = list(preview_lines(read_layout(write(tmp_path, TEXTS["own files"]), LayoutOptions(link_pattern=pattern))))
    assert [line for line in shown if line.partition(":")[0] not in NAMES and not line.startswith(" ")][2:8] == [
        "labels: 1 line of entity_labels.tsv",
        "labels of relations: 1 line of relation_labels.tsv",
        "descriptions: 1 line of entity_descriptions.tsv",
        "aliases: 2 lines of entity_aliases.tsv",
        "links: 1 line of entity_links.tsv",
        f"links of other entities: {pattern}",
    ]


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "gz inside"])
def test_archives_are_read_like_their_folder(kind: str, tmp_path: Path):
    files = three(".txt", folder="graph/")
    if kind == "zip":
        with zipfile.ZipFile(tmp_path / "g.zip", "w") as archive:
            for name, content in {**files, "__MACOSX/graph/._train.txt": "x", "graph/.DS_Store": "x"}.items():
                archive.writestr(name, content)
        path = tmp_path / "g.zip"
    elif kind == "tar.gz":
        path = tmp_path / "g.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content.encode())
                archive.addfile(info, io.BytesIO(content.encode()))
    else:
        path = tmp_path / "g"
        path.mkdir()
        for name, content in three(".tsv").items():
            (path / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
    reading = read_layout(path)
    assert rows_of(reading) == SPLITS and reading.ignored == []


def test_valid_alone_is_drawn_from_train(tmp_path: Path):
    files = three(".tsv")
    del files["valid.tsv"]
    reading = read_layout(write(tmp_path, files), LayoutOptions(shares=(0.2, 0.2)))
    found = rows_of(reading)
    assert reading.drawn == [Split.VALID] and found[Split.TEST] == TEST
    assert sorted(found[Split.TRAIN] + found[Split.VALID]) == sorted(TRAIN)


def test_columns_are_found_by_how_many_names_they_have(tmp_path: Path):
    rows = [(f"e{i}", f"e{(i * 7) % 40}", f"r{i % 3}") for i in range(40)]
    files = {"train.tsv": lines(rows), "valid.tsv": lines(rows[:5]), "test.tsv": lines(rows[5:9])}
    reading = read_layout(write(tmp_path, files))
    assert rows_of(reading)[Split.TRAIN] == [(h, r, t) for h, t, r in rows]
    assert "columns head, tail, relation" in reading.found.splits[Split.TRAIN].form


def test_columns_have_one_order_in_all_files(tmp_path: Path):
    """Few lines of test, which alone would look like h t r, are read as train is, and the other way round."""
    rows = [(f"p{i}", f"r{i % 12}", f"c{(i * 5) % 17}") for i in range(120)]
    few = [("p1", "r3", "c4"), ("p2", "r4", "c4"), ("p3", "r5", "c4"), ("p5", "r6", "c6")]
    files = {"train.tsv": lines(rows), "valid.tsv": lines(rows[:1]), "test.tsv": lines(few)}
    assert rows_of(read_layout(write(tmp_path / "hrt", files)))[Split.TEST] == few
    turned = [(f"e{i}", f"e{(i * 7 + 1) % 40}", f"r{i % 3}") for i in range(40)]
    files = {"train.tsv": lines(turned), "valid.tsv": lines(turned[:1]), "test.tsv": lines([("e1", "e5", "r0")])}
    found = rows_of(read_layout(write(tmp_path / "htr", files)))
    assert (found[Split.VALID], found[Split.TEST]) == ([("e0", "r0", "e1")], [("e1", "r0", "e5")])


def test_few_tails_that_are_also_heads_are_no_relations(tmp_path: Path):
    rows = [(f"e{i}", f"r{i % 20}", f"e{i % 4}") for i in range(60)]
    files = {f"{name}.tsv": lines(rows) for name in NAMES}
    assert rows_of(read_layout(write(tmp_path, files)))[Split.TRAIN] == rows


def test_same_seed_divides_alike_and_another_one_not(tmp_path: Path):
    rows = [(f"e{i % 9}", f"r{i % 2}", f"e{(i * 5 + 1) % 11}") for i in range(60)]
    folder = write(tmp_path, {"graph.tsv": lines(rows)})
    one, same, other = (rows_of(read_layout(folder, LayoutOptions(shares=(0.1, 0.1), seed=s))) for s in (3, 3, 4))
    assert one == same != other


def test_drawn_triples_keep_their_lines_and_repeats_are_told(tmp_path: Path):
    folder = write(tmp_path, {"graph.csv": "head,relation,tail\n" + lines([*TRAIN, TRAIN[0]], ",")})
    reading = read_layout(folder, LayoutOptions(shares=(0.2, 0.2)))
    at = {row: line for of in reading.found.splits.values() for row, line in zip(of.rows, of.lines, strict=True)}
    assert at == {row: i for i, row in enumerate(TRAIN, 2)}
    assert "graph.csv: 1 triple more than once; the first was kept." in reading.found.warnings


def test_every_name_stays_in_train_whatever_is_drawn():
    rows = [(f"e{i % 6}", "usual", f"e{(i * 5 + 1) % 7}") for i in range(40)]
    rows += [("e0", "rare", "e1"), ("e2", "usual", "x"), ("e1", "twice", "e2"), ("e3", "twice", "e4")]
    triples = Triples("g.tsv", rows)
    for seed in range(40):
        parts = divide(triples, {Split.VALID: 0.3, Split.TEST: 0.3}, seed)
        train = parts[Split.TRAIN].rows
        assert {r for _, r, _ in train} == {"usual", "rare", "twice"}
        assert {name for h, _, t in train for name in (h, t)} == {"x", *(f"e{i}" for i in range(7))}
        assert sorted(row for part in parts.values() for row in part.rows) == sorted(set(rows))


UNREADABLE = (
    "{} of 2 relations have no readable name or label, such as {}: a campaign opens only when somebody has written"
    " their questions. Add relation_labels.tsv, or write the questions later."
)
UNLABELLED = (
    "3 of 3 entities have no label: people would read names such as a. To change that, add entity_labels.tsv"
    " (a line for each entity: its name here, a tab, its label)."
)
REFUSED: dict[str, tuple[dict, str]] = {
    "nothing known": ({"readme.md": "x"}, "docs/formats.md has a table"),
    "no train": ({"test.tsv": lines(TEST)}, "test.tsv and no file of train"),
    "no test": ({"train.tsv": lines(TRAIN), "valid.tsv": lines(VALID)}, "no file of test beside"),
    "split twice": ({**three(".tsv"), "train.txt": lines(TRAIN)}, "train is there 2 times (train.tsv and train.txt)"),
    "several folders": (
        {**three(".txt", folder="s/"), **three(".txt", folder="l/")},
        "Splits lie in 2 folders (l, s): choose one with --folder",
    ),
    "several tables": ({"a.tsv": lines(TRAIN), "b.tsv": lines(TRAIN)}, "a.tsv, b.tsv may all hold triples: give one"),
    "a line too short": (
        {**three(".tsv"), "train.tsv": lines(TRAIN * 3) + "a\tb\n"},
        "train.tsv:16: 2 fields where most lines have 3",
    ),
    "an empty name": ({**three(".tsv"), "test.tsv": "b\t\ta\n"}, "test.tsv:1: the relation is empty"),
    "two columns": (
        {**three(".tsv"), "train.tsv": "a\tb\nb\tc\n"},
        "train.tsv: 2 columns, separated by tab: triples need three",
    ),
    "no UTF-8": ({**three(".tsv")}, "train.tsv:2: byte 0xff is not UTF-8"),
    "times": (three(".txt", make=lambda row: (*row, "2014-01-01")), "a column of times (2014-01-01): leave times out"),
    "qualifiers": (three(".txt", make=lambda row: (*row, "q", "v")), "leave qualifiers out with --drop-qualifiers"),
    "a wrong count": ({**OPENKE, "train2id.txt": "9\n0 1 0\n"}, "the count is 9, and 1 line follows"),
    "a wrong count of names": ({**OPENKE, "entity2id.txt": "2\na 0\nb 1\nc 2\n"}, "entity2id.txt:1: the count is 2"),
    "a number without a name": ({**OPENKE, "test2id.txt": "1\n0 7 0\n"}, "test2id.txt:2: no entity has the number 7"),
    "no names": ({name: text for name, text in OPENKE.items() if name != "entity2id.txt"}, "entity2id.txt is missing"),
    "no ids of LibKGE": (three(".del", make=numbers), "entity_ids.del is missing"),
    "broken JSON": ({**CODEX, "data/types/entity2types.json": "{"}, "data/types/entity2types.json:1: this is not JSON"),
    "broken RDF": ({"graph.ttl": "<a> <b .\n"}, "graph.ttl is not valid turtle"),
    "another count above plain triples": (
        {**three(".txt"), "test.txt": "3\n" + lines(TEST)},
        "test.txt:1: the count is 3, and 1 line follows",
    ),
    "OpenKE without train": (
        {name: text for name, text in OPENKE.items() if name != "train2id.txt"},
        "test2id.txt, valid2id.txt and no file of train",
    ),
    "qualifiers in a few lines": (
        {
            **three(".txt", ","),
            "train.txt": lines([*TRAIN, *TRAIN[:2], ("a", "likes", "b", "at", "x"), *TRAIN * 4], ","),
        },
        "train.txt:8: 5 fields where most lines have 3, separated by comma: correct the line, or name another"
        " separator. If its last fields are qualifiers, leave them out with --drop-qualifiers.",
    ),
    "OGB with three columns": (
        {"raw/edge.csv": "0,1,2\n", "raw/edge_reltype.csv": "0\n"},
        "3 columns where OGB has two",
    ),
    "names of columns in a file of their own": (
        {"rels.csv": ":START_ID,:END_ID,:TYPE\n", "data.csv": "a,b,likes\n"},
        "rels.csv: no line below the names of columns",
    ),
    "nothing to divide": ({"graph.tsv": "a\tr\tb\nc\ts\td\n"}, "2 triples cannot be divided"),
    "times under a header": (
        three(".csv", ",", header="head,relation,tail,date\n", make=lambda row: (*row, "May")),
        "a column of times (May): leave times out with --ignore-time",
    ),
    "OGB with a folder for each relation": (
        {"raw/edge.csv": "0,1\n", "raw/relations/x/edge.csv": "0,1\n", "raw/edge_reltype.csv": "0\n"},
        "Write their triples into one table",
    ),
    "OGB of two lengths": (
        {"raw/edge.csv": "0,1\n1,2\n", "raw/edge_reltype.csv": "0\n"},
        "raw/edge.csv has 2 lines and raw/edge_reltype.csv 1",
    ),
    "Hetionet with many targets": ({"net.sif": "a\tlikes\tb\tc\n"}, "4 columns where a .sif file has three"),
    "Neo4j without a type": ({"edges.csv": ":START_ID,:END_ID\na,b\n"}, "edges.csv: no column :TYPE in its first line"),
    "valid without test": ({"train.tsv": lines(TRAIN), "dev.tsv": lines(VALID)}, "There is no file of test beside"),
    "RDF without train": ({"test.nt": "<x:a> <x:b> <x:c> .\n"}, "No file is named for train among test.nt"),
    "a list for CoDEx": ({**CODEX, "data/entities/en/entities.json": "[]"}, "a list where there is an object"),
    "a number twice": (
        {**three(".txt", make=numbers), **DICTIONARIES, "entities.dict": "0\ta\n0\tb\n"},
        "number 0 is there twice",
    ),
    "an .xlsx": ({"graph.xlsx": "PK"}, "docs/formats.md has a table"),
    "RDF/XML": ({"graph.rdf": "<rdf/>"}, "docs/formats.md has a table"),
    "a quote that never ends": ({"graph.csv": 'a,r,"b\n' * 20}, "the lines have no common number of fields"),
    "an own file with a short line": (
        {**three(".tsv"), "entity_descriptions.tsv": "a\n"},
        "entity_descriptions.tsv:1: 1 column instead of 2",
    ),
    "OGB without a mapping": (
        {"raw/edge.csv": "0,1\n", "raw/edge_reltype.csv": "0\n"},
        "mapping/nodeidx2entityid.csv is missing",
    ),
    "KG-BERT with a short line": (
        {**three(".tsv"), "entity2text.txt": "a\tAnna\nb\n"},
        "entity2text.txt:2: one column",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_named_with_its_place(name: str, tmp_path: Path):
    files, message = REFUSED[name]
    write(tmp_path, files)
    if name == "no UTF-8":
        (tmp_path / "train.tsv").write_bytes(b"a\tlikes\tb\nb\t\xff\tc\n")
    with pytest.raises(GraphError) as caught:
        read_layout(tmp_path)
    assert message in str(caught.value)


DOCS = Path(settings.BASE_DIR) / "docs" / "formats.md"


def told(folder: Path, files: dict) -> list[str]:
    with pytest.raises(GraphError) as caught:
        read_layout(write(folder, files))
    return str(caught.value).split("\n")


SHORT = "where most lines have 3, separated by tab."
WIDTH = "where most lines have 3, separated by tab: correct the line, or name another separator."


def test_bad_lines_of_all_files_are_told_at_once_with_their_text(tmp_path: Path):
    long = f"a\tb{'x' * 100}"
    files = {
        "train.tsv": lines(TRAIN * 3) + "a\tb\n",
        "valid.tsv": lines(VALID * 9) + "\u202ea\tr\n\tr\tb\n" + long + "\n",
        "test.tsv": lines(TEST * 9) + "a\tb\tc\td\n",
    }
    n, v, t = len(TRAIN) * 3, len(VALID) * 9, len(TEST) * 9
    more = " If its last fields are qualifiers, leave them out with --drop-qualifiers."
    assert told(tmp_path / "g", files) == [
        f"test.tsv:{t + 1}: 4 fields {WIDTH}{more} The line: a\\tb\\tc\\td",
        f"train.tsv:{n + 1}: 2 fields {WIDTH} The line: a\\tb",
        f"valid.tsv:{v + 1}: 2 fields {SHORT} The line: \\u202ea\\tr",
        f"valid.tsv:{v + 2}: the head is empty: fill it in or remove the line. The line: \\tr\\tb",
        f"valid.tsv:{v + 3}: 2 fields {SHORT} The line: a\\tb{'x' * 76}…",
    ]


def test_of_many_bad_lines_twenty_are_told_and_how_many_there_are(tmp_path: Path):
    files = {**three(".tsv"), "train.tsv": lines(TRAIN * 60) + "a\tb\n" * 1_050}
    shown = told(tmp_path / "g", files)
    first = len(TRAIN) * 60 + 1
    assert shown[0] == f"train.tsv:{first}: 2 fields {WIDTH} The line: a\\tb"
    rest = range(first + 1, first + 20)
    assert shown[1:20] == [f"train.tsv:{n}: 2 fields {SHORT} The line: a\\tb" for n in rest]
    assert shown[20:] == ["… and 1,030 more problems, 1,050 in all."]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"train.tsv": b"a\tr\tb\n\xfc\tr\tb\nb\tr\ta\n\xe4\tr\tb\n"},
            [
                "train.tsv:2: byte 0xfc is not UTF-8: save the file as UTF-8. The line: \\xfc\\tr\\tb",
                "train.tsv:4: byte 0xe4 is not UTF-8. The line: \\xe4\\tr\\tb",
            ],
        ),
        (
            {"entity2text.txt": "a\tA\nb\nc\n"},
            [
                "entity2text.txt:2: one column where there are two, separated by a tab: correct the line. The line: b",
                "entity2text.txt:3: one column where there are two, separated by a tab. The line: c",
            ],
        ),
        (
            {"entity_labels.tsv": "a\n", "entity_types.tsv": "b\n"},
            [
                "entity_labels.tsv:1: 1 column instead of 2 (entity, label, separated by tabs): correct the line or"
                " remove it. The line: a",
                "entity_types.tsv:1: 1 column instead of 2 (entity, type, separated by tabs): correct the line or"
                " remove it. The line: b",
            ],
        ),
        (
            {
                "train.tsv": b"a\tr\tb\n\xfc\tr\tb\n",
                "valid.tsv": "a\tr\n",
                "test.tsv": "a\tr\tb\n" * 19 + "c\n",
                "entity_labels.tsv": "a\n",
                "entity2textlong.txt": b"a\t\xe9\n",
                "relation2text.txt": "r\n",
            },
            [
                "valid.tsv: 2 columns, separated by tab: triples need three.",
                f"test.tsv:20: 1 field {WIDTH} The line: c",
                "train.tsv:2: byte 0xfc is not UTF-8: save the file as UTF-8. The line: \\xfc\\tr\\tb",
                "entity_labels.tsv:1: 1 column instead of 2 (entity, label, separated by tabs): correct the line or"
                " remove it. The line: a",
                "relation2text.txt:1: one column where there are two, separated by a tab: correct the line."
                " The line: r",
                "entity2textlong.txt:1: byte 0xe9 is not UTF-8: save the file as UTF-8. The line: a\\t\\xe9",
            ],
        ),
    ],
    ids=["bytes", "texts", "side files", "all kinds"],
)
def test_bad_lines_of_other_kinds_are_told_at_once(files: dict, expected: list[str], tmp_path: Path):
    assert told(tmp_path / "g", {**three(".tsv"), **files}) == expected


def test_numbers_without_a_name_are_told_at_once(tmp_path: Path):
    files = {**OPENKE, "test2id.txt": "2\n0 7 0\n8 0 0\n", "valid2id.txt": "1\n0 1 9\n"}
    assert told(tmp_path / "g", files) == [
        "test2id.txt:2: no entity has the number 7.",
        "test2id.txt:3: no entity has the number 8.",
        "valid2id.txt:2: no relation has the number 9.",
    ]


def test_numbers_of_names_that_are_wrong_are_told_at_once(tmp_path: Path):
    files = {**OPENKE, "entity2id.txt": "a 0\nb 0\nc x\n"}
    assert told(tmp_path / "g", files) == [
        "entity2id.txt:2: number 0 is there twice: correct one of the lines. The line: b 0",
        "entity2id.txt:3: 'x' is not a number: correct the line. The line: c x",
    ]


def test_line_of_a_row_in_quotes_over_two_lines_is_right(tmp_path: Path):
    files = {**three(".csv", ","), "train.csv": lines(TRAIN * 9, ",") + '"a\nb",likes,c\na,b\n'}
    assert told(tmp_path / "g", files)[0].startswith(f"train.csv:{len(TRAIN) * 9 + 3}: 2 fields")


def told_in_docs(heading: str) -> list[list[str]]:
    """The cells of each row of the table under a first line of columns."""
    _, _, rest = DOCS.read_text(encoding="utf-8").partition(f"{heading}\n")
    rows = rest.split("\n\n", 1)[0].split("\n")[1:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_docs_list_at_least_twenty_layouts():
    assert len(told_in_docs("| layout | files | what is read |")) >= 20


@pytest.mark.parametrize("message", [row[1] for row in told_in_docs("| what was given | message |")])
def test_refusals_of_the_docs_are_said(message: str, refusals: list[str]):
    """Each message of the table is that of a folder of REFUSED; what differs from case to case is "…" there."""
    pattern = re.compile(".*".join(re.escape(part) for part in message.split("…")))
    assert [one for one in refusals if pattern.search(one)]


@pytest.fixture(scope="module")
def refusals(tmp_path_factory) -> list[str]:
    folder, said = tmp_path_factory.mktemp("refused"), []
    for i, (files, _) in enumerate([*REFUSED.values(), LINKED, LARGE]):
        place = write(folder / str(i), files)
        if list(REFUSED)[i : i + 1] == ["no UTF-8"]:
            (place / "train.tsv").write_bytes(b"a\tlikes\tb\nb\t\xff\tc\n")
        with pytest.raises(GraphError) as caught:
            check_source(read_layout(place, most=10_000).source_data(), "keep")
        said.append(str(caught.value))
    (folder / "graph.zip").write_bytes(b"PK\3\4 and no end")
    with pytest.raises(GraphError) as caught:
        read_layout(folder / "graph.zip", name="graph.zip")
    return [*said, str(caught.value)]


LINKED = ({**three(".tsv"), "entity_links.tsv": "a\tjavascript:alert(1)\n"}, "")
LARGE = ({**three(".tsv"), "entity_labels.tsv": "x" * 20_000}, "")


@pytest.mark.parametrize("options", [{"separator": "dots"}, {"columns": "hhh"}, {"folder": "nowhere"}])
def test_options_that_cannot_be_are_refused(options: dict, tmp_path: Path):
    with pytest.raises(GraphError, match=next(iter(options.values()))):
        read_layout(write(tmp_path, three(".tsv")), LayoutOptions(**options))


@pytest.mark.parametrize("shares", [(0.0, 0.1), (0.6, 0.5)])
def test_shares_that_leave_nothing_are_refused(shares, tmp_path: Path):
    with pytest.raises(GraphError, match="Give two above 0"):
        read_layout(write(tmp_path, {"graph.tsv": lines(TRAIN)}), LayoutOptions(shares=shares))


def test_doubts_are_told(tmp_path: Path):
    ids = {"a": "Q1", "b": "Q2", "c": "Q3"}
    rows = [(ids[h], r, ids[t]) for h, r, t in TRAIN]
    files = {"train.tsv": "kopf\tart\tziel\n" + lines(rows), "valid.tsv": lines(rows[:1]), "test.tsv": lines(rows[1:2])}
    told = read_layout(write(tmp_path / "one", files)).found.warnings
    header = " (kopf, art, ziel) has no name in common with other lines: is it a header? If so, set --header to yes."
    assert f"train.tsv:1{header}" in told
    single = write(tmp_path / "single", {"graph.tsv": "kopf\tart\tziel\n" + lines(rows)})
    assert f"graph.tsv:1{header}" in read_layout(single, LayoutOptions(shares=(0.2, 0.2))).found.warnings
    assert any("ids without labels" in warning for warning in told)
    files |= {"entity_labels.tsv": "Q1\tQ1\nQ2\tBen\nQ3\tQ3\n"}
    told = read_layout(write(tmp_path / "two", files)).found.warnings
    assert "2 of 5 entities have no label." in told  # the words of the header
    plain = read_layout(write(tmp_path / "plain", three(".tsv"))).found.warnings
    assert plain == [UNLABELLED]
    properties = {"likes": "P31", "knows": "P17"}
    files = three(".tsv", make=lambda row: (row[0], properties[row[1]], row[2]))
    told = read_layout(write(tmp_path / "ids", files)).found.warnings
    assert told[1:] == [UNREADABLE.format(2, "P17")]
    files |= {"relation_labels.tsv": "P17\tP17\nP31\tinstance of\n"}
    assert read_layout(write(tmp_path / "labelled", files)).found.warnings[1:] == [UNREADABLE.format(1, "P17")]
    many = [(f"e{i}", f"r{i}", f"e{i + 1}") for i in range(300)]
    files = {"train.tsv": lines(many), "valid.tsv": lines(many[:2]), "test.tsv": lines(many[2:4])}
    assert any(
        "300 relations for 301 entities" in w for w in read_layout(write(tmp_path / "three", files)).found.warnings
    )


@pytest.mark.parametrize(
    ("name", "is_id"),
    [("Q5", True), ("/m/027rn", True), ("01vs_v8", True), ("GO:0008150", True), ("C0026106", True), ("17", True),
     ("house_of_god", False), ("Apollo 11", False), ("neighbor", False), ("2010_FIFA_World_Cup", False)],
)  # fmt: skip
def test_names_that_are_ids_are_known(name: str, is_id: bool):
    assert bool(ID.match(name)) == is_id


def test_words_of_a_header_in_every_split_are_doubted_and_new_names_of_test_are_not(tmp_path: Path):
    told = read_layout(write(tmp_path / "one", three(".tsv", header="kopf\tart\tziel\n"))).found.warnings
    assert {warning.split(" ")[0] for warning in told if "header" in warning} == {f"{name}.tsv:1" for name in NAMES}
    files = {**three(".tsv"), "test.tsv": "x\tknows\ty\nb\tknows\ta\n"}
    assert not [told for told in read_layout(write(tmp_path / "two", files)).found.warnings if "header" in told]


def test_header_that_looks_like_one_can_be_a_triple(tmp_path: Path):
    folder = write(tmp_path, three(".tsv", header="head\trelation\ttail\n"))
    found = rows_of(read_layout(folder, LayoutOptions(header="no")))
    assert found[Split.VALID] == [("head", "relation", "tail"), *VALID]


def test_columns_that_a_header_names_otherwise_are_told(tmp_path: Path):
    files = three(".csv", ",", header=",head,relation,tail,weight\n", make=lambda row: (7, *row, 0.5))
    form = read_layout(write(tmp_path, files)).found.splits[Split.TRAIN].form
    assert form == "separated by comma; columns (no name left out), head, relation, tail, (weight left out)"


def test_names_with_a_comma_are_read_where_semicolons_separate(tmp_path: Path):
    files = {f"{name}.csv": "Smith, A;knows;B\nB;knows;Smith, A\nB;likes;C, D\n" for name in NAMES}
    reading = read_layout(write(tmp_path, files))
    assert rows_of(reading)[Split.TRAIN][0] == ("Smith, A", "knows", "B")


def test_preview_has_three_triples_of_each_split_and_ignored_files(tmp_path: Path):
    reading = read_layout(write(tmp_path, {**three(".csv", ","), "notes.docx": "x"}))
    assert list(preview_lines(reading)) == [
        "Read as files of triples.",
        "train: 5 triples of train.csv (separated by comma; columns head, relation, tail)",
        "    a | likes | b",
        "    b | likes | c",
        "    c | knows | a",
        "valid: 1 triple of valid.csv (separated by comma; columns head, relation, tail)",
        "    a | likes | c",
        "test: 1 triple of test.csv (separated by comma; columns head, relation, tail)",
        "    b | knows | a",
        "in all: 3 entities, 2 relations",
        "not read: notes.docx",
        f"Warning: {UNLABELLED}",
    ]


def test_lines_of_problems_count_the_header(tmp_path: Path):
    source = read_layout(write(tmp_path, three(".csv", ",", header="head,relation,tail\n"))).source_data()
    assert [source.splits[Split.TRAIN].line(i) for i in (0, 4)] == [2, 6]


def test_a_file_larger_than_the_limit_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("pooling.layouts.source_files.MOST_BYTES", 100)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train.tsv", "a\tr\tb\n" * 1000)
    with pytest.raises(GraphError, match=r"train\.tsv is larger than the 100 bytes that are left"):
        read_layout(tmp_path / "bomb.zip")
