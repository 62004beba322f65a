"""PyKEEN's datasets by name, and the family generator."""

import re

import numpy as np
import pytest

from pooling.enums import Split
from pooling.graphs.bundled import FamilyOptions, draw_names, family_template, family_tree, read_pykeen
from pooling.graphs.imports import import_graph
from pooling.graphs.kernels.family_trees import RULES, Families
from pooling.graphs.opening import closed_world_triples, given_templates, open_graph
from pooling.graphs.source_data import GraphError
from pooling.models import Graph
from pooling.questions.templates import check_template


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "entities", "relations", "triples"),
    [
        ("Nations", 14, 55, (1592, 199, 201)),
        ("umls", 135, 46, (5216, 652, 661)),
        ("KINSHIPS", 104, 25, (8544, 1068, 1074)),
    ],
)
def test_read_pykeen_counts_as_published(name, entities, relations, triples):
    graph = import_graph("g", read_pykeen(name), options={"pykeen": name})
    assert graph.source == "pykeen"
    assert (graph.num_entities, graph.num_relations) == (entities, relations)
    assert (graph.num_train, graph.num_valid, graph.num_test) == triples
    assert graph.report == []


def test_read_pykeen_same_triples_as_pykeen():
    from pykeen.datasets import Nations

    source = read_pykeen("nations")
    dataset = Nations()
    for split, factory in zip(Split, (dataset.training, dataset.validation, dataset.testing), strict=True):
        ours = {tuple(source.keys[code] for code in row) for row in source.splits[split].rows}
        assert ours == {tuple(map(str, row)) for row in factory.label_triples(factory.mapped_triples)}


def test_read_pykeen_unknown_name_refused():
    with pytest.raises(GraphError) as caught:
        read_pykeen("Nation")
    first, known = str(caught.value).split("PyKEEN also knows ")
    assert first == "PyKEEN has no dataset Nation. Without a download: Nations, UMLS, Kinships; "
    assert "FB15k237" in known.rstrip(".").split(", ")


def test_read_pykeen_dataset_that_needs_a_download_refused():
    with pytest.raises(GraphError) as caught:
        read_pykeen("FB15k-237")
    assert str(caught.value) == (
        "PyKEEN would have to download FB15k-237, and this program fetches nothing: "
        "put its train, valid and test files into a folder and import the folder. "
        "Without a download: Nations, UMLS, Kinships."
    )


@pytest.fixture
def family(db) -> Graph:
    return import_graph("family", family_tree(FamilyOptions()), options={})


def test_family_tree_default_size_and_names(family):
    arrays = open_graph(family)
    assert 200 <= arrays.num_entities <= 350
    assert sorted(arrays.relations) == sorted(RULES)
    assert len(closed_world_triples(family)) <= 15_000
    assert len(set(arrays.labels)) == arrays.num_entities
    assert all(re.fullmatch(r"[A-Z][a-z]+ [A-Z][A-Za-z']+", label) for label in arrays.labels)
    assert [key.replace("_", " ") for key in arrays.entities] == arrays.labels


def test_draw_names_more_people_than_names_numbered():
    """One couple and 200 daughters: 80 names for the daughters, then the same with II, and so on."""
    parents = np.array([(-1, -1), (-1, -1), *[(0, 1)] * 200], np.int32)
    families = Families(parents, np.arange(202) != 1, np.zeros(202, np.int32))
    daughters = draw_names(families, np.random.default_rng(0))[2:]
    assert len(set(daughters)) == 200
    assert sum(len(name.split()) == 2 for name in daughters) == 80
    assert {name.split()[2] for name in daughters[80:]} <= {"II", "III", "IV", "V", "VI"}
    assert {name.split()[1] for name in daughters} == {daughters[0].split()[1]}


def test_family_tree_splits_are_parts_of_the_closed_world(family):
    arrays = open_graph(family)
    world = set(map(tuple, closed_world_triples(family).tolist()))
    parts = [set(map(tuple, part.tolist())) for part in (arrays.train, arrays.valid, arrays.test)]
    assert len(set().union(*parts)) == sum(map(len, parts))
    assert set().union(*parts) < world
    assert sum(map(len, parts)) / len(world) == pytest.approx(0.8, abs=0.02)
    assert len(parts[1]) == round(0.05 * (len(parts[0]) + len(parts[1])))


def test_family_tree_types_agree_with_domain_and_range(family):
    arrays = open_graph(family)
    assert set(arrays.types) == {("person", "male"), ("person", "female")}
    for head, relation, tail in closed_world_triples(family).tolist():
        assert arrays.domains[relation] in arrays.types[head]
        assert arrays.ranges[relation] in arrays.types[tail]
    mother = arrays.relation_index["motherOf"]
    assert (arrays.domains[mother], arrays.ranges[mother]) == ("female", "person")


def test_family_tree_templates_for_all_relations(family):
    templates = given_templates(family)
    assert sorted(templates) == list(range(23))
    for texts in templates.values():
        check_template(*texts)
    assert templates[open_graph(family).relation_index["motherOf"]] == (
        "Is {subject} the mother of {object}?",
        "Whose mother is {subject}?",
        "Who is the mother of {object}?",
    )
    assert family_template("auntOf") == (
        "Is {subject} an aunt of {object}?",
        "Whose aunt is {subject}?",
        "Who are the aunts of {object}?",
    )


def test_family_tree_relations_are_called_as_their_questions_call_them(family):
    arrays, templates = open_graph(family), given_templates(family)
    called = {key: arrays.relation_name(index) for key, index in arrays.relation_index.items()}
    assert (called["girlCousinOf"], called["motherOf"]) == ("female cousin of", "mother of")
    assert all(called[arrays.relations[r]] in texts.statement for r, texts in templates.items())


def test_family_tree_seed_decides_everything_and_density_only_the_division():
    one, same, other, sparse = (
        family_tree(FamilyOptions(families=2, people=30, seed=seed, density=density))
        for seed, density in ((1, 0.8), (1, 0.8), (2, 0.8), (1, 0.5))
    )
    assert one.keys == same.keys == sparse.keys != other.keys
    assert np.array_equal(one.closed_world, sparse.closed_world)
    for split in Split:
        assert np.array_equal(one.splits[split].rows, same.splits[split].rows)
    assert len(sparse.splits[Split.TEST].rows) < len(one.splits[Split.TEST].rows)


@pytest.mark.django_db
def test_family_tree_people_without_training_facts_stay_in_the_closed_world():
    options = FamilyOptions(families=3, people=12, density=0.2, seed=3)
    graph = import_graph("thin", family_tree(options), options={})
    assert {entry["kind"] for entry in graph.report} <= {"unseen-entities", "unseen-relations"}
    assert len(closed_world_triples(graph)) == len(family_tree(options).closed_world)
    assert closed_world_triples(graph)[:, [0, 2]].max() == graph.num_entities - 1
    dropped = import_graph("dropped", family_tree(options), unseen="drop", options={})
    seen = set(open_graph(dropped).train[:, [0, 2]].ravel().tolist())
    assert seen == set(range(dropped.num_entities))
    assert set(closed_world_triples(dropped)[:, [0, 2]].ravel().tolist()) <= seen


def test_family_tree_bad_options_all_named():
    with pytest.raises(GraphError) as caught:
        family_tree(FamilyOptions(families=0, people=2, seed=-1, density=0, train_share=1))
    assert str(caught.value) == (
        "Family trees: families must be from 1 to 10,000, not 0; people must be from 3 to 1,000, not 2; "
        "seed must be 0 or more, not -1; density must be above 0 and at most 1, not 0; "
        "train share must lie within 0 and 1, not 1."
    )


def test_family_tree_too_few_facts_refused():
    with pytest.raises(GraphError) as caught:
        family_tree(FamilyOptions(families=1, people=3, density=1, train_share=0.99, seed=1))
    assert str(caught.value) == (
        "Family trees: no fact fell into test (10 facts in all): ask for more families or people, "
        "or another density or train share."
    )
