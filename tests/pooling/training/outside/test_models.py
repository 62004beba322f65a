"""Models of PyKEEN, of LibKGE and plain vectors give the scores that their own program gives, for both questions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from django.core.management import CommandError, call_command

from core.files.artifacts import artifact_path
from core.models import AuditEntry
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import open_graph
from pooling.models import Graph, System
from pooling.scoring.scorer import load_scorer
from pooling.systems import FROM_ELSEWHERE, get_system
from pooling.training.outside.inert import Inert, read_inert

WIDTH = 6  # numbers per entity
Rng = np.random.Generator


@pytest.fixture
def rng() -> Rng:
    return np.random.default_rng(3)


def run(*arguments: object, **options: Any) -> str:
    from io import StringIO

    out = StringIO()
    call_command("import_model", *map(str, arguments), stdout=out, stderr=StringIO(), **options)
    return out.getvalue().strip()


def scores(system: System, side: int) -> np.ndarray:
    """Return the scores of all questions of a side by our own pass, [entities, relations, answers]."""
    graph = open_graph(system.graph)
    settings = {key: value for key, value in system.settings.items() if key != "device"}
    scorer = load_scorer(system.kind, artifact_path(system.artifact), *graph.shape, settings, "cpu", graph.train)
    entity, relation = (x.ravel() for x in np.indices(graph.shape))
    found = scorer.scores(np.full(len(entity), side), entity, relation)
    return found.numpy().reshape(*graph.shape, -1)


# ---------------------------------------------------------------- PyKEEN


def save_pykeen(folder: Path, graph: GraphArrays, label: str, inverse: bool, seed: int = 0, **options: Any) -> Any:
    """Write what PipelineResult.save_to_directory writes, entities in an order of its own; return the model."""
    from pykeen import models
    from pykeen.triples import TriplesFactory

    named = np.array([(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in graph.train], dtype=str)
    factory = TriplesFactory.from_labeled_triples(
        named,
        entity_to_id={name: i for i, name in enumerate(reversed(graph.entities))},
        relation_to_id={name: i for i, name in enumerate(reversed(graph.relations))},
        create_inverse_triples=inverse,
    )
    options = {"embedding_dim": WIDTH, **options}
    model = getattr(models, label)(triples_factory=factory, random_seed=seed, **options).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)))
        model.post_parameter_update()  # RotatE's relations are on the unit circle
    folder.mkdir(exist_ok=True)
    torch.save(model, folder / "trained_model.pkl")
    factory.to_path_binary(folder / "training_triples")
    return model, factory


def pykeen_scores(model: Any, factory: Any, graph: GraphArrays, side: int) -> np.ndarray:
    """Return the scores of PyKEEN's own prediction, in the order of the graph."""
    entity = np.array([factory.entity_to_id[name] for name in graph.entities])
    relation = np.array([factory.relation_to_id[name] for name in graph.relations])
    asked = np.array([(e, r) for e in entity for r in relation])
    with torch.no_grad():
        if side == 0:
            found = model.predict_t(torch.as_tensor(asked))
        else:
            found = model.predict_h(torch.as_tensor(asked[:, ::-1].copy()))
    return found.numpy()[:, entity].reshape(*graph.shape, -1)


PYKEEN: list[tuple[str, bool, dict[str, Any], str]] = [
    ("DistMult", True, {}, "distmult"),
    ("DistMult", False, {}, "distmult"),
    ("ComplEx", True, {}, "complex"),
    ("ComplEx", False, {}, "complex"),
    ("RotatE", True, {}, "rotate"),
    ("RotatE", False, {}, "rotate"),
    ("TransE", True, {"scoring_fct_norm": 1}, "transe-l1"),
    ("TransE", False, {"scoring_fct_norm": 2}, "transe"),
    ("RESCAL", False, {}, "rescal"),
    ("ConvE", True, {"embedding_dim": 32}, "conve"),
    ("SimplE", True, {}, "pykeen:SimplE"),
]


@pytest.mark.parametrize(("label", "inverse", "options", "kind"), PYKEEN)
def test_a_model_of_pykeen_gives_its_own_scores(town: Graph, tmp_path: Path, label, inverse, options, kind):
    graph = open_graph(town)
    theirs = save_pykeen(tmp_path / "m", graph, label, inverse, **options)
    told = run("town", tmp_path / "m", form="pykeen", system="theirs")
    system = System.objects.get(name="theirs")
    assert (system.kind, system.state) == (kind, "trained")
    assert told.startswith(f"town/theirs: PyKEEN's {label}, {graph.num_entities} entities, validation MRR 0.")
    for side in (0, 1):
        np.testing.assert_allclose(scores(system, side), pykeen_scores(*theirs, graph, side), rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------- LibKGE and vectors, by the formulas


def complex_of(table: np.ndarray) -> np.ndarray:
    return table[:, : table.shape[1] // 2] + 1j * table[:, table.shape[1] // 2 :]


def literal(model: str, norm: float, entity: np.ndarray, relation: np.ndarray) -> np.ndarray:
    """Return the score of every (h, r, t), [E, R, E], as LibKGE's scorers compute it; complex tables in halves."""
    if model == "distmult":
        return np.einsum("hd,rd,td->hrt", entity, relation, entity)
    if model == "rescal":
        return np.einsum("hd,rde,te->hrt", entity, relation.reshape(len(relation), WIDTH, WIDTH), entity)
    if model == "transe":
        moved = entity[:, None] + relation[None]
        return -np.linalg.norm(moved[:, :, None] - entity, ord=norm, axis=-1)
    e = complex_of(entity)
    if model == "complex":
        return np.einsum("hd,rd,td->hrt", e, complex_of(relation), e.conj()).real
    turned = e[:, None] * np.exp(1j * relation)[None]
    return -np.linalg.norm(np.abs(turned[:, :, None] - e), ord=norm, axis=-1)


def drawn(model: str, rng: Rng, graph: GraphArrays, times: int = 1) -> tuple[np.ndarray, np.ndarray]:
    two = 2 if model in ("complex", "rotate") else 1
    width = {"rescal": WIDTH**2, "rotate": WIDTH}.get(model, two * WIDTH)
    e = rng.normal(size=(graph.num_entities, two * WIDTH))
    return e.astype(np.float32), rng.normal(size=(times * len(graph.relations), width)).astype(np.float32)


class Config:
    """What LibKGE pickles into its checkpoints: an object of a class that is not installed here."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options, self.folder = options, "/somewhere"


Config.__module__, Config.__qualname__ = "kge.config", "Config"


def save_libkge(
    folder: Path, graph: GraphArrays, model: str, norm: float, entity: np.ndarray, relation: np.ndarray,
    *, reciprocal: bool = False, packed: bool = False, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Write a checkpoint as LibKGE does; rows are in the reversed order of the graph's names."""
    module = ModuleType("kge.config")
    module.Config = Config  # type: ignore[attr-defined]
    begin = "_base_model." if reciprocal else ""
    state = {
        f"{begin}_entity_embedder._embeddings.weight": torch.from_numpy(entity),
        f"{begin}_relation_embedder._embeddings.weight": torch.from_numpy(relation),
    }
    options: dict[str, Any] = {"model": model, model: {"class_name": model, "l_norm": norm}}
    if reciprocal:
        options |= {"model": "reciprocal_relations_model"}
        options["reciprocal_relations_model"] = {"base_model": {"type": model}}
    saved = {"type": "train", "epoch": 7, "valid_trace": [], "model": (state, {}), "config": Config(options)}
    keys = {"entity": graph.entities[::-1], "relation": graph.relations[::-1]}
    folder.mkdir(exist_ok=True)
    if packed:
        saved["dataset"] = {"meta": {f"{name}_ids": ids for name, ids in keys.items()}}
    else:
        for name, ids in keys.items():
            (folder / f"{name}_ids.del").write_text("".join(f"{i}\t{key}\n" for i, key in enumerate(ids)))
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "kge", ModuleType("kge"))
        patch.setitem(sys.modules, "kge.config", module)
        torch.save(saved, folder / "checkpoint_best.pt")


LIBKGE = [
    ("distmult", 0, "distmult"),
    ("complex", 0, "complex"),
    ("rescal", 0, "rescal"),
    ("transe", 1.0, "transe-l1"),
    ("transe", 2.0, "transe"),
    ("rotate", 1.0, "rotate-moduli"),
    ("rotate", 2.0, "rotate"),
]


def check(system: System, truth: np.ndarray) -> None:
    """Compare with literal scores [h, r, t], rows of the reversed order of the names."""
    truth = truth[::-1, ::-1, ::-1]
    np.testing.assert_allclose(scores(system, 0), truth, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(scores(system, 1), truth.transpose(2, 1, 0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("model", "norm", "kind"), LIBKGE)
def test_a_checkpoint_of_libkge_gives_its_own_scores(town: Graph, tmp_path, rng, monkeypatch, model, norm, kind):
    graph = open_graph(town)
    entity, relation = drawn(model, rng, graph)
    save_libkge(tmp_path / "m", graph, model, norm, entity, relation, monkeypatch=monkeypatch)
    assert f"town/theirs: LibKGE's {model}, epoch 7" in run("town", tmp_path / "m", form="libkge", system="theirs")
    system = System.objects.get(name="theirs")
    assert system.kind == kind
    check(system, literal(model, norm, entity, relation))


def test_reciprocal_relations_of_libkge_answer_heads(town: Graph, tmp_path: Path, rng: Rng, monkeypatch):
    graph = open_graph(town)
    entity, relation = drawn("complex", rng, graph, times=2)
    save_libkge(
        tmp_path / "m", graph, "complex", 0, entity, relation, reciprocal=True, packed=True, monkeypatch=monkeypatch
    )
    run("town", tmp_path / "m", form="libkge", system="theirs")
    system, half = System.objects.get(name="theirs"), len(graph.relations)
    for side in (0, 1):
        own = relation[side * half : (side + 1) * half]
        truth = literal("complex", 0, entity, own)[::-1, ::-1, ::-1]  # R + r asks for the head, from the tail
        np.testing.assert_allclose(scores(system, side), truth, rtol=1e-4, atol=1e-4)


def write_vectors(folder: Path, graph: GraphArrays, entity: np.ndarray, relation: np.ndarray) -> None:
    folder.mkdir(exist_ok=True)
    for name, table, keys in (("entities", entity, graph.entities), ("relations", relation, graph.relations)):
        np.save(folder / f"{name}.npy", table)
        (folder / f"{name}.tsv").write_text("".join(f"{key}\n" for key in keys[::-1]))


@pytest.mark.parametrize(("model", "norm", "kind"), LIBKGE)
def test_plain_vectors_are_scored_by_the_function_that_is_named(town: Graph, tmp_path, rng, model, norm, kind):
    graph = open_graph(town)
    entity, relation = drawn(model, rng, graph)
    write_vectors(tmp_path / "m", graph, entity, relation)
    halves = model in ("complex", "rotate")
    run("town", tmp_path / "m", form="vectors", system="theirs", score=kind, halves=halves)
    check(System.objects.get(name="theirs"), literal(model, norm, entity, relation))


def test_what_this_site_lets_people_download_comes_back(trained: Graph, tmp_path: Path):
    from pooling.training.files import open_file

    own = trained.systems.get(name="distmult")
    for name in ("entities.npy", "entities.tsv", "relations.npy", "relations.tsv"):
        with open_file(own, name) as file:
            (tmp_path / name).write_bytes(file.read())
    run("town", tmp_path, form="vectors", system="back", score="distmult")
    back = System.objects.get(name="back")
    for side in (0, 1):
        np.testing.assert_array_equal(scores(back, side), scores(own, side))
    assert AuditEntry.objects.filter(act="model-imported", about="town/back").count() == 1


def test_it_is_pooled_and_ranked_like_our_own(trained: Graph, tmp_path: Path):
    from tests.factories import make_pool

    save_pykeen(tmp_path / "m", open_graph(trained), "DistMult", inverse=True)
    run("town", tmp_path / "m", form="pykeen", system="theirs")
    pool = make_pool(trained, systems=["transe", "theirs"], depth=3)
    run_ = System.objects.get(name="theirs").run
    assert run_.num_questions and run_.num_rank_rows and pool.systems.filter(name="theirs").exists()


# ---------------------------------------------------------------- what is refused


def test_no_code_of_a_file_is_run(tmp_path: Path):
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (open, (str(tmp_path / "written"), "w"))

    torch.save({"model": Evil(), "weights": torch.ones(2)}, tmp_path / "evil.pt")
    found = read_inert(tmp_path / "evil.pt")
    assert isinstance(found["model"], Inert) and found["weights"].tolist() == [1, 1]
    assert not (tmp_path / "written").exists()


Spoil = Callable[[Path], object]
REFUSED: dict[str, tuple[str, Spoil, str]] = {
    "no model": ("pykeen", lambda f: (f / "trained_model.pkl").unlink(), "has no trained_model.pkl"),
    "no folder": ("pykeen", lambda f: f.rename(f.with_name("n")), "is no folder"),
    "a damaged model": (
        "pykeen", lambda f: (f / "trained_model.pkl").write_bytes(b"PK\x03\x04no"),
        "trained_model.pkl is no file that torch.save wrote, or is damaged",
    ),
    "something else": (
        "pykeen", lambda f: torch.save({"a": 1}, f / "trained_model.pkl"), "trained_model.pkl holds no model of PyKEEN"
    ),
    "no names": (
        "pykeen", lambda f: (f / "training_triples" / "entity_to_id.tsv.gz").unlink(),
        "training_triples/entity_to_id.tsv.gz cannot be read",
    ),
    "of another program": (
        "libkge", lambda f: (f / "trained_model.pkl").rename(f / "checkpoint_best.pt"),
        "checkpoint_best.pt is no checkpoint of LibKGE",
    ),
    "an unknown form": ("dglke", lambda f: None, "Unknown form 'dglke': give pykeen, libkge, vectors."),
    "vectors without a score": ("vectors", lambda f: None, "Score '': give --score, one of distmult, complex"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_words(town: Graph, tmp_path: Path, case: str):
    form, spoil, message = REFUSED[case]
    save_pykeen(tmp_path / "m", open_graph(town), "DistMult", inverse=True)
    spoil(tmp_path / "m")
    with pytest.raises(CommandError) as refused:
        run("town", tmp_path / "m", form=form, system="theirs")
    assert message in str(refused.value)
    assert not System.objects.filter(name="theirs").exists()
    assert not any(artifact_path("systems").glob("*")) if artifact_path("systems").is_dir() else True


VECTORS: dict[str, tuple[str, Callable[[Path, GraphArrays], object], str]] = {
    "an entity too few": (
        "distmult",
        lambda f, g: (
            np.save(f / "entities.npy", np.ones((g.num_entities - 1, 4), np.float32)),
            (f / "entities.tsv").write_text("\n".join(g.entities[:-1])),
        ),
        "The model has no rows for entities of the graph: 1 (",
    ),
    "an entity that the graph has not": (
        "distmult",
        lambda f, g: (f / "entities.tsv").write_text("\n".join(["Atlantis", *g.entities[1:]])),
        "The model has entities that the graph has not: 1 (Atlantis)",
    ),
    "names that are too few": (
        "distmult",
        lambda f, g: (f / "relations.tsv").write_text("knows\n"),
        "relations.tsv names 1 rows, the table of relations has 5",
    ),
    "a wrong width": (
        "distmult",
        lambda f, g: np.save(f / "relations.npy", np.ones((5, 3), np.float32)),
        "The weights do not fit DistMult: relation_representations.0._embeddings.weight has the shape (10, 3), and "
        "(10, 4) is needed",
    ),
    "no numbers": (
        "distmult",
        lambda f, g: np.save(f / "relations.npy", np.full((5, 4), np.nan, np.float32)),
        "holds values that are no numbers",
    ),
    "a pickle in npy": (
        "distmult",
        lambda f, g: np.save(f / "relations.npy", np.array([{"a": 1}] * 5), allow_pickle=True),
        "relations.npy holds no table of numbers",
    ),
    "an odd width of complex numbers": (
        "complex",
        lambda f, g: np.save(f / "entities.npy", np.ones((g.num_entities, 5), np.float32)),
        "The table of entities has 5 columns: complex has two for each number",
    ),
}


@pytest.mark.parametrize("case", VECTORS)
def test_vectors_that_do_not_fit_are_refused_in_words(town: Graph, tmp_path: Path, case: str):
    score, spoil, message = VECTORS[case]
    graph = open_graph(town)
    write_vectors(tmp_path / "m", graph, np.ones((graph.num_entities, 4), np.float32), np.ones((5, 4), np.float32))
    spoil(tmp_path / "m", graph)
    with pytest.raises(CommandError) as refused:
        run("town", tmp_path / "m", form="vectors", system="theirs", score=score)
    assert message in str(refused.value)
    assert not System.objects.filter(name="theirs").exists()


def test_a_network_without_inverse_relations_is_refused(town: Graph, tmp_path: Path):
    save_pykeen(tmp_path / "m", open_graph(town), "ConvE", inverse=False, embedding_dim=32)
    with pytest.raises(CommandError, match="was trained without inverse relations"):
        run("town", tmp_path / "m", form="pykeen", system="theirs")


def test_a_kind_from_elsewhere_is_known_by_its_name():
    for name, entry in FROM_ELSEWHERE.items():
        assert get_system(name) is entry
