"""Importing a graph: what is reported, what is stored, and that nothing is left behind when it fails."""

import errno
import hashlib
import json
import os
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.conf import settings as django_settings

from pooling.graphs import files as graph_files
from pooling.graphs import imports as graph_domain
from pooling.graphs.bundled import FamilyOptions, family_tree
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import closed_world_triples, get_graph, given_templates, open_graph
from pooling.graphs.source_data import GraphError
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph, Relation

pytestmark = pytest.mark.django_db

TRAIN = "a\tr\tb\nb\tr\tc\nc\ts\ta\na\tr\tc\n"
VALID = "a\ts\tc\n"
TEST = "b\ts\ta\n"


def make_folder(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for stem, content in {"train": TRAIN, "valid": VALID, "test": TEST, **files}.items():
        (folder / f"{stem}.tsv").write_text(content)
    return folder


@pytest.fixture
def make(tmp_path):
    """Import a folder of these files as graph g."""

    def make(unseen="keep", name="g", **files) -> Graph:
        source = read_tsv(make_folder(tmp_path / "source", **files))
        return import_graph(name, source, unseen=unseen, options={"tsv": "source"})

    return make


def keys(graph: Graph, split: str) -> list[tuple[str, str, str]]:
    arrays = open_graph(graph)
    return [
        (arrays.entities[h], arrays.relations[r], arrays.entities[t]) for h, r, t in getattr(arrays, split).tolist()
    ]


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_import_graph_stores_what_the_source_says(make):
    graph = make(
        entity_labels="a\tAnna\nc\tCarl\n",
        entity_types="a\tperson\na\tfemale\na\tperson\nb\tplace\n",
        relation_domain_range="s\tperson\t\n",
        relation_templates="s\tIs {subject} s of {object}?\tWhose s is {subject}?\tWho is s of {object}?\n",
    )
    arrays = open_graph(graph)
    assert arrays.entities == ["a", "b", "c"]
    assert arrays.labels == ["Anna", "", "Carl"]
    assert [arrays.label(entity) for entity in range(3)] == ["Anna", "b", "Carl"]
    assert arrays.types == [("person", "female"), ("place",), ()]
    assert arrays.relations == ["r", "s"]
    assert (arrays.domains, arrays.ranges) == (["", "person"], ["", ""])
    assert arrays.categories == ["1-1", "1-1"]
    assert arrays.train.tolist() == [[0, 0, 1], [1, 0, 2], [2, 1, 0], [0, 0, 2]]
    assert arrays.valid.tolist() == [[0, 1, 2]]
    assert arrays.test.tolist() == [[1, 1, 0]]
    assert {split.dtype for split in (arrays.train, arrays.valid, arrays.test)} == {np.dtype(np.int32)}
    assert (arrays.num_entities, arrays.num_relations) == (3, 2)
    assert arrays.entity_index == {"a": 0, "b": 1, "c": 2} and arrays.relation_index == {"r": 0, "s": 1}
    assert given_templates(graph) == {
        1: ("Is {subject} s of {object}?", "Whose s is {subject}?", "Who is s of {object}?")
    }
    assert graph.report == []
    row = Graph.objects.get()
    assert (row.num_entities, row.num_relations, row.num_train, row.num_valid, row.num_test) == (3, 2, 4, 1, 1)
    assert row.options == {"tsv": "source", "unseen": "keep"}
    fields = ("index", "key", "category", "domain", "range", "num_train", "num_test")
    assert list(Relation.objects.values_list(*fields)) == [
        (0, "r", "1-1", "", "", 3, 0),
        (1, "s", "1-1", "person", "", 1, 1),
    ]


def test_import_graph_ids_by_first_appearance_even_if_a_name_is_both(make):
    graph = make(train="x\ty\tz\ny\tx\tx\n", valid="w\ty\tx\n", test="z\ty\tx\n")
    arrays = open_graph(graph)
    assert arrays.entities == ["x", "z", "y", "w"]
    assert arrays.relations == ["y", "x"]
    assert arrays.train.tolist() == [[0, 0, 1], [2, 1, 0]]


def test_import_graph_duplicates_and_leaks_dropped_and_reported(make):
    graph = make(
        train="a\tr\tb\nb\tr\tc\na\tr\tb\n", valid="a\tr\tc\nb\tr\tc\na\tr\tc\n", test="a\tr\tc\nc\tr\ta\na\tr\tb\n"
    )
    assert graph.report == [
        {
            "kind": "duplicate-triples",
            "count": 2,
            "message": "2 triples stood more than once in a split; the first was kept.",
            "examples": ["train.tsv:3 repeats train.tsv:1 (a r b)", "valid.tsv:3 repeats valid.tsv:1 (a r c)"],
        },
        {
            "kind": "leaking-triples",
            "count": 3,
            "message": "3 triples stood in an earlier split too; dropped from the later one.",
            "examples": [
                "valid.tsv:2 is also train.tsv:2 (b r c)",
                "test.tsv:1 is also valid.tsv:1 (a r c)",
                "test.tsv:3 is also train.tsv:1 (a r b)",
            ],
        },
    ]
    assert keys(graph, "train") == [("a", "r", "b"), ("b", "r", "c")]
    assert keys(graph, "valid") == [("a", "r", "c")]
    assert keys(graph, "test") == [("c", "r", "a")]


UNSEEN = {"valid": "a\ts\tc\nx\tr\ta\n", "test": "b\ts\ta\nb\tr\tx\ny\ts\tx\n"}


def test_import_graph_unseen_entities_kept_and_reported(make):
    graph = make(**UNSEEN)
    assert graph.report == [
        {
            "kind": "unseen-entities",
            "count": 2,
            "message": "1 valid triple and 2 test triples have 2 entities that train does not have; "
            "they are kept. To leave them out, drop unseen entities in the import.",
            "examples": ["valid.tsv:2 x", "test.tsv:2 x", "test.tsv:3 y", "test.tsv:3 x"],
        }
    ]
    assert open_graph(graph).entities == ["a", "b", "c", "x", "y"]


def test_import_graph_unseen_entity_of_a_repeated_triple_counts_once(make):
    graph = make(test="b\ts\ta\nx\tr\ta\nx\tr\ta\n")
    assert [(entry["kind"], entry["examples"]) for entry in graph.report] == [
        ("duplicate-triples", ["test.tsv:3 repeats test.tsv:2 (x r a)"]),
        ("unseen-entities", ["test.tsv:2 x"]),
    ]
    assert graph.report[1]["message"] == (
        "1 test triple has 1 entity that train does not have; they are kept. "
        "To leave them out, drop unseen entities in the import."
    )


def test_import_graph_unseen_entities_dropped_and_reported(make):
    graph = make(unseen="drop", **UNSEEN)
    assert [entry["message"] for entry in graph.report] == [
        "1 valid triple and 2 test triples have 2 entities that train does not have; they were dropped."
    ]
    assert open_graph(graph).entities == ["a", "b", "c"]
    assert keys(graph, "valid") == [("a", "s", "c")] and keys(graph, "test") == [("b", "s", "a")]


def test_import_graph_nothing_left_refused(make):
    with pytest.raises(GraphError) as caught:
        make(unseen="drop", test="x\tr\ta\n")
    assert str(caught.value) == (
        "test.tsv: no triple is left in test after repeats, leaks and unseen entities were dropped: "
        "a graph needs train, valid and test triples."
    )
    assert not Graph.objects.exists()


def test_import_graph_unseen_relation_reported_without_category(make):
    graph = make(test="b\ts\ta\na\tnew\tb\n")
    assert graph.report == [
        {
            "kind": "unseen-relations",
            "count": 1,
            "message": "1 relation of valid or test that train does not have; kept, without a category.",
            "examples": ["test.tsv:2 new"],
        }
    ]
    assert open_graph(graph).categories == ["1-1", "1-1", ""]


def test_import_graph_tables_on_unknown_names_and_second_lines_reported(make):
    graph = make(
        entity_labels="a\tAnna\nz\tZoe\na\tAnna\na\tHannah\n",
        entity_types="z\tperson\n",
        relation_domain_range="q\tperson\tplace\n",
    )
    assert graph.report == [
        {
            "kind": "unknown-relations",
            "count": 1,
            "message": "1 line of relation_domain_range.tsv on a relation that no triple has; ignored.",
            "examples": ["relation_domain_range.tsv:1 q"],
        },
        {
            "kind": "unknown-entities",
            "count": 1,
            "message": "1 line of entity_labels.tsv on an entity that no triple has; ignored.",
            "examples": ["entity_labels.tsv:2 z"],
        },
        {
            "kind": "repeated-label",
            "count": 1,
            "message": "1 line with a second label for an entity; the first was kept.",
            "examples": ["entity_labels.tsv:4 differs from entity_labels.tsv:1 on a"],
        },
        {
            "kind": "unknown-entities",
            "count": 1,
            "message": "1 line of entity_types.tsv on an entity that no triple has; ignored.",
            "examples": ["entity_types.tsv:1 z"],
        },
    ]


def test_import_graph_reports_count_all_and_show_five(make):
    graph = make(train=TRAIN + "a\tr\tb\n" * 7)
    (entry,) = graph.report
    assert entry["count"] == 7
    assert entry["examples"] == [f"train.tsv:{line} repeats train.tsv:1 (a r b)" for line in range(5, 10)]


def test_import_graph_artifact_as_the_format_says(make):
    graph = make(entity_labels="a\tAnna\n")
    folder = Path(django_settings.ARTIFACT_ROOT) / graph.artifact
    files = folder_bytes(folder)
    assert re.fullmatch(r"graphs/[0-9a-f]{12}", graph.artifact)
    assert list(files) == ["entities.parquet", "graph.json", "relations.parquet", "triples.npz"]
    assert graph.sha256 == hashlib.sha256(files["graph.json"]).hexdigest()
    index = json.loads(files.pop("graph.json"))
    assert index == {
        "source": "tsv",
        "options": {"tsv": "source", "unseen": "keep"},
        "report": [],
        "counts": {"entities": 3, "relations": 2, "train": 4, "valid": 1, "test": 1},
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    }
    assert pq.read_table(folder / "entities.parquet").column_names == ["id", "key", "label", "types"]
    assert pq.read_table(folder / "relations.parquet").column_names == ["id", "key", "category", "domain", "range"]


def test_import_graph_twice_same_bytes(tmp_path):
    made = []
    for name in ("one", "two"):
        options = FamilyOptions(families=2, people=20, seed=5)
        graph = import_graph(name, family_tree(options), options=vars(options))
        made.append(folder_bytes(Path(django_settings.ARTIFACT_ROOT) / graph.artifact))
    assert made[0] == made[1]
    assert list(made[0]) == [
        "closed_world.npz",
        "entities.parquet",
        "graph.json",
        "relation_templates.tsv",
        "relations.parquet",
        "triples.npz",
    ]


def test_import_graph_existing_name_refused(make):
    make()
    before = folder_bytes(Path(django_settings.ARTIFACT_ROOT) / Graph.objects.get().artifact)
    with pytest.raises(GraphError) as caught:
        make(train=TRAIN + "b\ts\tb\n")
    assert str(caught.value) == ("There is a graph g already: choose another name, or delete that one first.")
    assert folder_bytes(Path(django_settings.ARTIFACT_ROOT) / Graph.objects.get().artifact) == before


def test_import_graph_name_taken_meanwhile_refused(make, monkeypatch):
    """Two imports at once: both find the name free, the database lets one in."""
    make()
    real, calls = graph_domain.check_new_name, []
    monkeypatch.setattr(graph_domain, "check_new_name", lambda name: calls.append(name) if not calls else real(name))
    with pytest.raises(GraphError) as caught:
        make()
    assert str(caught.value) == ("There is a graph g already: choose another name, or delete that one first.")
    graphs = Path(django_settings.ARTIFACT_ROOT) / "graphs"
    assert [f"graphs/{path.name}" for path in graphs.iterdir()] == [Graph.objects.get().artifact]


@pytest.mark.parametrize("name", ["", "two words", "../up", "ü", "a/b"])
def test_import_graph_bad_name_refused(make, name):
    with pytest.raises(GraphError) as caught:
        make(name=name)
    assert str(caught.value) == f"{name!r} cannot name a graph: use letters, digits, - and _ only."


def test_import_graph_long_name_refused(make):
    with pytest.raises(GraphError) as caught:
        make(name="g" * 81)
    assert str(caught.value) == f"{'g' * 81!r} is too long for a graph's name: 80 characters at most."


@pytest.mark.parametrize("step", ["write", "rename"])
def test_import_graph_no_disk_space_leaves_nothing(make, monkeypatch, step):
    first = make(name="first")
    graphs = Path(django_settings.ARTIFACT_ROOT) / "graphs"
    before = folder_bytes(graphs.parent / first.artifact)

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if step == "write":
        monkeypatch.setattr(graph_files.np, "savez", full)
    else:
        monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(GraphError) as caught:
        make(name="second")
    assert str(caught.value) == (
        f"Graph second could not be written below {graphs}: No space left on device. "
        "Nothing was changed; free some disk space and import it again."
    )
    assert [graph.name for graph in Graph.objects.all()] == ["first"]
    assert Relation.objects.count() == 2
    assert [f"graphs/{path.name}" for path in graphs.iterdir()] == [first.artifact]
    assert folder_bytes(graphs.parent / first.artifact) == before
    monkeypatch.undo()
    assert keys(make(name="second"), "valid") == [("a", "s", "c")]


def test_import_graph_tells_its_progress(tmp_path):
    seen = []
    source = read_tsv(make_folder(tmp_path / "source"))
    import_graph("g", source, options={}, progress=lambda *step: seen.append(step))
    assert seen == [
        ("check triples", 0, 1),
        ("check triples", 1, 1),
        ("write files", 1, 3),
        ("write files", 2, 3),
        ("write files", 3, 3),
    ]


def test_import_graph_unknown_unseen_refused(make):
    with pytest.raises(GraphError) as caught:
        make(unseen="maybe")
    assert str(caught.value) == "unseen must be keep or drop, not 'maybe'."


def test_get_graph_unknown_names_those_there_are(make):
    with pytest.raises(GraphError) as caught:
        get_graph("x")
    assert str(caught.value) == ("There is no graph x. Graphs: none yet; import one with import_graph.")
    make(name="one")
    make(name="two")
    with pytest.raises(GraphError) as caught:
        get_graph("x")
    assert str(caught.value) == "There is no graph x. Graphs: one, two."
    assert get_graph("one") == Graph.objects.get(name="one")


def test_open_graph_same_object_and_read_only(make):
    graph = make()
    arrays = open_graph(graph)
    assert open_graph(Graph.objects.get()) is arrays
    with pytest.raises(ValueError, match="read-only"):
        arrays.train[0, 0] = 1


@pytest.mark.parametrize("name", ["graph.json", "triples.npz", "entities.parquet", "relations.parquet"])
def test_open_graph_changed_file_refused(make, name):
    graph = make()
    path = Path(django_settings.ARTIFACT_ROOT) / graph.artifact / name
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(GraphError) as caught:
        open_graph(graph)
    assert str(caught.value) == (
        f"Graph g cannot be opened: {path} is not the file that was written (SHA-256 differs): "
        "restore it from a backup."
    )


def test_open_graph_missing_file_refused(make):
    graph = make()
    path = Path(django_settings.ARTIFACT_ROOT) / graph.artifact / "triples.npz"
    path.unlink()
    with pytest.raises(GraphError) as caught:
        open_graph(graph)
    assert str(caught.value) == (
        f"Graph g cannot be opened: {path} is missing: restore the artifact folder, or repeat the step that made it."
    )


def test_closed_world_of_a_graph_without_one_refused(make):
    graph = make()
    with pytest.raises(GraphError) as caught:
        closed_world_triples(graph)
    assert str(caught.value) == ("Graph g has no closed world: only the family generator knows all true triples.")
    assert given_templates(graph) == {}


@pytest.mark.data
def test_import_graph_fb15k237():
    source = read_tsv(Path(django_settings.DATA_ROOT) / "fb15k-237")
    graph = import_graph("fb", source, options={})
    assert (graph.num_entities, graph.num_relations) == (14_541, 237)
    assert (graph.num_train, graph.num_valid, graph.num_test) == (272_115, 17_535, 20_466)
    assert [(entry["kind"], entry["count"], entry["message"]) for entry in graph.report] == [
        (
            "unseen-entities",
            36,
            "9 valid triples and 28 test triples have 36 entities that train does not have; "
            "they are kept. To leave them out, drop unseen entities in the import.",
        )
    ]
    arrays = open_graph(graph)
    assert arrays.entities[:2] == ["/m/027rn", "/m/06cx9"]
    assert arrays.label(arrays.entity_index["/m/016ywr"]) == "Jeremy Irons"
    categories = {name: arrays.categories.count(name) for name in ("1-1", "1-N", "N-1", "N-N")}
    assert categories == {"1-1": 17, "1-N": 26, "N-1": 86, "N-N": 108}


@pytest.mark.data
def test_import_graph_wn18rr_without_unseen():
    source = read_tsv(Path(django_settings.DATA_ROOT) / "wn18rr")
    graph = import_graph("wn", source, unseen="drop", options={})
    assert (graph.num_train, graph.num_valid, graph.num_test) == (86_835, 2_824, 2_924)
    assert (graph.num_entities, graph.num_relations) == (40_559, 11)
