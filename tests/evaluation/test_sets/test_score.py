"""A stranger recomputes the figures: score.py with numpy alone, and the card's recipe with PyKEEN."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evaluation.labels.qrels import freeze_qrels
from evaluation.measures.registry import USUAL_NAMES
from evaluation.sections.metrics import metrics
from evaluation.test_sets.export import export_test_set
from evaluation.test_sets.files import ExportOptions
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.runs.files import question_id
from pooling.runs.imports import import_run
from tests.evaluation.max_k.test_stored_runs import import_own

BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def folder(labelled: Pool, tmp_path: Path) -> Path:
    import_own(labelled, tmp_path)  # a run that returned a few entities of each question
    export_test_set(freeze_qrels(labelled, "v1"), tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def numpy_alone(tmp_path: Path) -> Path:
    """A folder with numpy and nothing else of what is installed here."""
    place = tmp_path / "site"
    place.mkdir()
    installed = Path(np.__file__).parent
    for name in (installed, *installed.parent.glob("numpy.libs")):
        (place / name.name).symlink_to(name)
    return place


def test_score_explains_itself(folder: Path):
    run = subprocess.run([sys.executable, folder / "score.py", "--help"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "") and "python score.py [FOLDER]" in run.stdout


def score(folder: Path, site: Path) -> subprocess.CompletedProcess[str]:
    # -S, -E: no installed packages, nothing from the environment but the path
    code = f"import sys, runpy; sys.path.append({str(site)!r}); sys.argv = ['score.py', {str(folder)!r}]; "
    code += f"runpy.run_path({str(folder / 'score.py')!r}, run_name='__main__')"
    return subprocess.run([sys.executable, "-S", "-E", "-c", code], capture_output=True, text=True, check=False)


def printed(run: subprocess.CompletedProcess[str]) -> dict[tuple[str, str], float]:
    lines = [line.split("\t") for line in run.stdout.splitlines() if "\t" in line]
    return {(line[0], line[1]): float(line[2]) for line in lines}


def test_score_gives_the_figures_of_the_card_with_numpy_alone(labelled: Pool, folder: Path, numpy_alone: Path):
    run = score(folder, numpy_alone)
    assert (run.returncode, run.stderr) == (0, "")
    ours = metrics(labelled, "qrels:v1")["systems"]
    assert set(ours) == {"transe", "distmult", "complex", "outside"}
    assert printed(run) == {
        (system, name): pytest.approx(float("nan") if value is None else value, abs=1e-6, nan_ok=True)
        for system, values in ours.items()
        for name, value in values.items()
    }
    assert ours["outside"]["micro_mr"] is None  # it did not return every answer
    text = (folder / "README.md").read_text()
    shown = {"transe": "TransE (`transe`)", "distmult": "DistMult (`distmult`)", "complex": "ComplEx (`complex`)"}
    for system, values in ours.items():
        cells = ["undefined" if value is None else f"{value:.4f}" for value in values.values()]
        assert f"| {shown.get(system, system)} | {' | '.join(cells)} |" in text


def test_score_says_which_figure_differs(labelled: Pool, folder: Path, numpy_alone: Path):
    file = folder / "ranks/complex.tsv.gz"
    header, *lines = gzip.decompress(file.read_bytes()).decode().splitlines()
    graph = open_graph(labelled.graph)
    head, relation, tail = labelled.seeds.order_by("pk").values_list("head", "relation", "tail")[0]
    answer = f"{question_id(0, graph.entities[head], graph.relations[relation])}\t{graph.entities[tail]}\t"
    at = next(i for i, line in enumerate(lines) if line.startswith(answer))
    cells = lines[at].split("\t")
    lines[at] = "\t".join([*cells[:2], *3 * [str(int(cells[2]) + 1)], *cells[5:]])
    file.write_bytes(gzip.compress("\n".join([header, *lines, ""]).encode()))
    run = score(folder, numpy_alone)
    assert run.returncode == 1
    differing = [line for line in run.stdout.splitlines() if "measures.tsv has" in line]
    assert differing and all(line.startswith("complex\t") for line in differing)


@pytest.mark.parametrize(
    "options", [ExportOptions(positives_only=True), ExportOptions(strict=True, with_evidence=False)]
)
def test_score_of_what_was_left_out(labelled: Pool, tmp_path: Path, numpy_alone: Path, options: ExportOptions):
    export_test_set(freeze_qrels(labelled, "v1"), tmp_path / "out", options)
    run = score(tmp_path / "out", numpy_alone)
    assert (run.returncode, run.stderr) == (0, "")
    names = set(USUAL_NAMES) - ({"judged@10"} if options.positives_only else set())
    assert {name for _, name in printed(run)} == names


def test_ranks_hold_every_judged_and_test_answer_on_both_sides(labelled: Pool, folder: Path):
    graph = open_graph(labelled.graph)
    triples = {*labelled.triples.values_list("head", "relation", "tail"), *map(tuple, graph.test.tolist())}
    text = gzip.decompress((folder / "ranks/complex.tsv.gz").read_bytes()).decode()
    rows = [line.split("\t") for line in text.splitlines()]
    assert rows[0] == ["question", "answer", "strict", "optimistic", "pessimistic", "candidates", "returned"]
    assert len({(row[0], row[1]) for row in rows[1:]}) == len(rows) - 1
    known = {*map(tuple, graph.train.tolist()), *map(tuple, graph.valid.tolist())}
    assert len(rows) - 1 == sum(2 for triple in triples if triple not in known)
    for row in rows[1:]:
        strict, first, last, candidates, returned = map(int, row[2:])
        assert 1 <= first <= strict <= last <= candidates == returned <= graph.num_entities


def test_the_recipe_for_pykeen_gives_the_micro_mrr_of_the_card(
    labelled: Pool, folder: Path, tmp_path: Path, monkeypatch
):
    """A model of PyKEEN is brought here as a run; the recipe, run on the exported files, gives what we measured."""
    import torch
    from pykeen.models import DistMult

    monkeypatch.chdir(folder)
    splits, evaluation = BLOCK.findall((folder / "README.md").read_text())
    names: dict = {}
    exec(splits, names)
    model = DistMult(triples_factory=names["train"], embedding_dim=8, random_seed=3)
    topics = [line.split("\t") for line in (folder / "trec/topics.tsv").read_text().splitlines()[1:]]
    lines = []
    keys = np.array(list(names["entities"]))
    for question, side, entity, relation, _ in topics:
        pair = torch.tensor([[names["entities"][entity], names["relations"][relation]]])
        scores = model.predict_t(pair) if side == "tail" else model.predict_h(pair.flip(1))
        order = torch.argsort(scores[0], descending=True).tolist()
        lines += [f"{question} Q0 {keys[e].replace(' ', '%20')} {i + 1} {-i} model\n" for i, e in enumerate(order)]
    run = tmp_path / "model.txt"
    run.write_text("".join(lines))
    import_run(labelled.graph, run, name="model", pool=labelled)
    ours = metrics(labelled, "qrels:v1", ["micro_mrr", "micro_hits@10"], systems=["model"])["systems"]["model"]
    names["model"] = model
    exec(evaluation, names)
    assert names["micro_mrr"] == pytest.approx(ours["micro_mrr"], rel=1e-6)
    assert names["found"].get_metric("both.realistic.hits_at_10") == pytest.approx(ours["micro_hits@10"], rel=1e-6)
    names["known"] = names["valid"]  # what was not sampled must be filtered, or the figure is another
    exec(evaluation, names)
    assert names["micro_mrr"] < ours["micro_mrr"] - 1e-3
