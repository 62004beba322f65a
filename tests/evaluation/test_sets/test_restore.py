"""An exported test set comes back into an empty site with every figure of its card."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.models import ImportedLabel, Judgement
from annotation.questions.templates import save_template
from core.errors import UserError
from core.files.artifacts import artifact_path
from evaluation.labels.pool_table import EvaluationError, pool_table
from evaluation.labels.qrels import freeze_qrels, read_frozen
from evaluation.labels.terms import edit_terms
from evaluation.models import Qrels
from evaluation.sections.metrics import metrics
from evaluation.test_sets.export import export_test_set
from evaluation.test_sets.files import ExportOptions
from evaluation.test_sets.graph_tables import (
    alias_lines,
    description_lines,
    domain_range_lines,
    link_lines,
    relation_label_lines,
    template_lines,
    type_lines,
)
from evaluation.test_sets.restore import restore_test_set
from evaluation.views.test_sets import RESTORED
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import open_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph, Pool, PooledTriple, Relation, Run, System
from pooling.pools.rows import read_rows
from pooling.runs.lacking import rows_advice
from pooling.runs.score import score_for_pool
from tests.annotation.factories import World
from tests.evaluation.max_k.test_stored_runs import import_own
from tests.evaluation.test_sets.test_labels import world  # noqa: F401
from tests.evaluation.test_sets.test_score import numpy_alone, score  # noqa: F401
from tests.factories import make_person, progress_of
from tests.page import notices

QUESTIONS = b"head\trelation\ttail\tside\tversion\tgroup_question\tstatement\n"
NAMES = ["micro_mrr", "macro_mrr", "map", "bpref", "infap", "judged@10"]
SAME = {  # files of the export that are the same when the restored test set is exported
    "train.tsv", "valid.tsv", "test.tsv", "known_test.tsv", "original_test.tsv", "triples.tsv.gz", "seeds.tsv",
    "entity_labels.tsv", "entity_types.tsv", "relation_domain_range.tsv", "relation_templates.tsv", "pool.tsv",
    "judgements.tsv", "trec/topics.tsv", "trec/qrels.txt", "trec/qrels_infap.txt", "trec/pool.txt", "measures.tsv",
    "score.py", "per_question.tsv.gz",
}  # fmt: skip


@pytest.fixture
def exported(labelled: Pool, tmp_path: Path) -> tuple[Path, dict]:
    """A test set with an outside run, templates and labels; and what the site says of it."""
    import_own(labelled, tmp_path)
    relation = labelled.graph.relations.order_by("index").first()
    assert relation is not None
    save_template(relation, "Is {subject} near {object}?", "Near {subject}?", "Near {object}?")
    qrels = freeze_qrels(labelled, "v1", licence="CC-BY-4.0", citation="Ada, 2026")
    edit_terms(qrels, "Ada has an address.", url="https://example.org/ada")
    export_test_set(qrels, tmp_path / "out")
    return tmp_path / "out", told(qrels)


def told(qrels: Qrels) -> dict:
    """Everything of a test set that has to come back, in words and numbers without row ids."""
    pool, frozen, graph = qrels.pool, read_frozen(qrels), open_graph(qrels.pool.graph)
    _, gathered, reason = read_rows(pool)
    return {
        "graph": [graph.entities, graph.labels, graph.types, graph.relations, graph.domains, graph.ranges],
        "triples": [of.tolist() for of in (graph.train, graph.valid, graph.test)],
        "seeds": list(pool.seeds.order_by("id").values_list("head", "relation", "tail")),
        "pooled": [of.tolist() for of in (*gathered, reason)],
        "pool": [pool.depth, pool.rule, pool.seed_source, pool.filters, pool.contributors],
        "frozen": [of.tolist() for of in frozen[:5]] + [frozen.findings.values.tolist()],
        "about": {key: of for key, of in frozen.about.items() if key != "labels"},
        "judgements": list(pool.judgements.order_by("triple_id").values_list("triple__head", "verdict")),
        "qrels": [qrels.name, qrels.origin, qrels.systems, qrels.created_at],
        "terms": list(qrels.terms.values_list("version", "licence", "citation", "creators", "changed", "created_at")),
        "figures": metrics(pool, "qrels:v1", NAMES)["systems"],
        "full": metrics(pool, "full-test", NAMES[:2])["systems"],
        "current": metrics(pool, "current", NAMES)["systems"],
        "ranks": [of.tolist() for of in (pool_table(pool).ranks.strict, pool_table(pool).ranks.pessimistic)],
    }  # fmt: skip


def empty_site(settings, tmp_path: Path) -> None:
    """No row of ours is left, and no file."""
    settings.ARTIFACT_ROOT = tmp_path / "new"
    with connection.cursor() as cursor, connection.constraint_checks_disabled():
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA defer_foreign_keys = ON")
        for model in apps.get_models():
            if model._meta.app_label in ("core", "pooling", "annotation", "evaluation"):
                model._base_manager.all()._raw_delete(using="default")
                for field in model._meta.local_many_to_many:
                    getattr(model, field.name).through.objects.all()._raw_delete(using="default")
    assert not Graph.objects.exists()


def differing(folder: Path, again: Path) -> list[str]:
    """Say in which lines two cards differ, below their YAML, which names the tables that have a row."""
    cards = [(of / "README.md").read_text().split("\n---\n", 1)[1].splitlines() for of in (folder, again)]
    pairs = [(a, b) for a, b in zip(*cards, strict=True) if a != b]
    return ["SHA-256" if a.startswith("Frozen ") and a.split("SHA")[0] == b.split("SHA")[0] else a for a, b in pairs]


def counts() -> list[int]:
    return [m.objects.count() for m in (Graph, Relation, Pool, System, Run, Qrels, ImportedLabel, Judgement)]


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


def test_everything_comes_back_into_an_empty_site(exported, settings, tmp_path: Path, numpy_alone: Path):  # noqa: F811
    folder, before = exported
    empty_site(settings, tmp_path)
    out = StringIO()
    call_command("import_test_set", str(folder), stdout=out)
    qrels = Qrels.objects.get()
    assert told(qrels) == before
    assert out.getvalue().splitlines()[-1] == "Next: evaluate p --labels qrels:v1"
    printed_json = StringIO()
    call_command("evaluate", "p", "--labels", "qrels:v1", "--json", "--measures", ",".join(NAMES), stdout=printed_json)
    assert json.loads(printed_json.getvalue())["systems"] == before["figures"]
    export_test_set(qrels, tmp_path / "again")
    for name in SAME & {path.relative_to(folder).as_posix() for path in files_below(folder)}:
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name
    assert {path.relative_to(folder) for path in files_below(folder)} == {
        path.relative_to(tmp_path / "again") for path in files_below(tmp_path / "again")
    }
    run = score(tmp_path / "again", numpy_alone)
    assert (run.returncode, run.stdout) == (0, score(folder, numpy_alone).stdout)
    assert differing(folder, tmp_path / "again") == ["SHA-256"]
    for runs in ("trec/runs", "trec/bpref", "ranks"):
        for path in (folder / runs).iterdir():
            assert gzip.decompress((tmp_path / "again" / runs / path.name).read_bytes()) == gzip.decompress(
                path.read_bytes()
            ), path


def test_labels_come_back_as_imported_ones_and_their_figures_stay_on_the_card(
    world: World,  # noqa: F811
    settings,
    tmp_path: Path,
):
    frozen = freeze_qrels(world.pool, "v1", citation="Ada, 2026")
    export_test_set(frozen, tmp_path / "out")
    name, people = (
        world.pool.name,
        [json.loads(line) for line in (tmp_path / "out/labels.jsonl").read_text().splitlines()],
    )
    before = dict(world.pool.judgements.values_list("triple__tail", "verdict"))
    empty_site(settings, tmp_path)
    qrels = restore_test_set(tmp_path / "out")
    pool = Pool.objects.get(name=name)
    assert dict(pool.judgements.values_list("triple__tail", "verdict")) == before
    assert set(pool.judgements.values_list("origin", flat=True)) == {"import"}
    kept = ImportedLabel.objects.order_by("line").values_list(
        "answer", "annotator", "source_url", "side", "question_version"
    )
    asked = [(of.get("side", ""), of.get("question_version")) for of in people]
    assert list(kept) == [
        (of["label"], of["annotator"] or "", of["evidence"], *words) for of, words in zip(people, asked, strict=True)
    ]
    assert {1, 2} <= {version for _, version in asked}
    export_test_set(qrels, tmp_path / "again")
    assert differing(tmp_path / "out", tmp_path / "again") == ["SHA-256"]
    tables = {path.name for path in (tmp_path / "out").glob("*.tsv")}
    assert {"judgements.tsv", "relation_templates.tsv", "pool.tsv", "questions.tsv"} <= tables
    assert len((tmp_path / "out/questions.tsv").read_text().splitlines()) > 2
    again = [json.loads(line) for line in (tmp_path / "again/labels.jsonl").read_text().splitlines()]
    assert [(of.get("side", ""), of.get("question_version")) for of in again] == asked
    for name in tables:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes(), name


def test_restored_runs_that_a_grown_pool_lacks_are_not_told_to_be_scored(exported, settings, tmp_path: Path):
    folder, before = exported
    empty_site(settings, tmp_path)
    qrels = restore_test_set(folder)
    pool, graph = qrels.pool, open_graph(qrels.pool.graph)
    held = {tuple(row) for of in (pool_table(pool).triples, graph.train, graph.valid) for row in of.tolist()}
    seed = pool.seeds.order_by("id")[0]
    tail = next(t for t in range(graph.num_entities) if (seed.head, seed.relation, t) not in held)
    PooledTriple.objects.create(pool=pool, head=seed.head, relation=seed.relation, tail=tail, depth=1)
    names = before["qrels"][2]
    trained_then, from_file = names[:3], names[3]  # the file of this one has everything that it returned
    stuck = (
        f"Scoring cannot help {', '.join(trained_then)}, whose model is not here: import a new run under another name."
    )
    with pytest.raises(UserError) as caught:
        pool_table(Pool.objects.get())
    assert str(caught.value).endswith(f"needs (incomplete: {', '.join(names)}). Run score_runs p. {stuck}")
    assert rows_advice(pool, trained_then) == stuck
    assert rows_advice(pool, [from_file]) == "Run score_runs p."
    assert rows_advice(pool, []) == ""
    with pytest.raises(EvaluationError, match=r"archived: run score_runs p, take the systems back"):
        export_test_set(qrels, tmp_path / "again")
    score_for_pool(System.objects.get(name=from_file), pool, progress_of(pool))
    assert pool_table(Pool.objects.get()).systems == [from_file]
    with pytest.raises(EvaluationError, match=r"archived: take the systems back, or export without runs\. Nothing"):
        export_test_set(qrels, tmp_path / "again")


def test_a_zip_file_comes_back_under_other_names_beside_the_first(exported, tmp_path: Path):
    folder, before = exported
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as packed:
        for path in files_below(folder):
            packed.write(path, f"p-v1/{path.relative_to(folder)}")
    with pytest.raises(UserError, match="There is a pool 'p' already"):
        restore_test_set(tmp_path / "set.zip")
    qrels = restore_test_set(tmp_path / "set.zip", name="q", graph_name="other")
    assert (qrels.pool.name, qrels.pool.graph.name, Graph.objects.count()) == ("q", "other", 2)
    assert {key: of for key, of in told(qrels).items() if key != "qrels"} == {
        key: of for key, of in before.items() if key != "qrels"
    }


def test_without_runs_the_judgements_come_back(exported, settings, tmp_path: Path):
    export_test_set(Qrels.objects.get(), tmp_path / "few", ExportOptions(with_runs=False, with_evidence=False))
    empty_site(settings, tmp_path)
    qrels = restore_test_set(tmp_path / "few")
    assert (qrels.systems, System.objects.count()) == ([], 0)
    assert read_frozen(qrels).state.tolist() == exported[1]["frozen"][1]


def spoiled(folder: Path, name: str, text: bytes | None) -> None:
    """Change or remove a file, and its checksum with it."""
    path, sums = folder / name, folder / "CHECKSUMS.sha256"
    lines = [line for line in sums.read_text().splitlines() if not line.endswith(f"  {name}")]
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text)
        lines.append(f"{hashlib.sha256(text).hexdigest()}  {name}")
    sums.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("test_set.json", b"{}", "test_set.json cannot be read"),
        ("test_set.json", None, "has no test_set.json"),
        ("judgements.tsv", b"a\tb\n", "judgements.tsv:1: the columns are not"),
        ("train.tsv", b"a\tb\n", "train.tsv"),
        ("ranks/complex.tsv.gz", gzip.compress(b"x\ny\n", mtime=0), "complex.tsv.gz:2: cannot be read"),
        ("trec/runs/complex.txt.gz", None, "runs/complex.txt.gz of system complex are missing"),
        ("labels.jsonl", b"{\n", "labels.jsonl:1: is not JSON"),
        ("questions.tsv", b"a\tb\n", "questions.tsv:1: the columns are not head, relation"),
        ("questions.tsv", QUESTIONS + b"a\tb\n", "questions.tsv:2: has 2 columns"),
    ],
)
def test_what_is_wrong_leaves_nothing(exported, settings, tmp_path: Path, name: str, text: bytes | None, why: str):
    folder, _ = exported
    spoiled(folder, name, text)
    empty_site(settings, tmp_path)
    with pytest.raises(UserError) as caught:
        restore_test_set(folder)
    assert why in str(caught.value)
    assert counts() == [0] * 8
    assert files_below(tmp_path / "new") == []


def test_a_failure_at_the_end_leaves_nothing(exported, settings, tmp_path: Path, monkeypatch):
    def fail(*args: object, **more: object) -> None:
        raise OSError("full")

    empty_site(settings, tmp_path)
    monkeypatch.setattr("evaluation.test_sets.restore.write_qrels", fail)
    with pytest.raises(OSError, match="full"):
        restore_test_set(exported[0])
    assert counts() == [0] * 8
    assert files_below(artifact_path("")) == []


def test_a_second_test_set_of_one_graph_is_told_to_give_it_another_name(exported, tmp_path: Path):
    def refusal() -> str:
        with pytest.raises(UserError) as caught:
            restore_test_set(exported[0], name="second")
        return str(caught.value)

    advice = "--graph NAME in the command, graph in the API. Nothing was imported."
    assert refusal().startswith("Graph town already has systems ") and refusal().endswith(advice)
    Graph.objects.filter(name="town").update(name="earlier")
    (tmp_path / "few").mkdir()
    for name, triples in {"train": "a\tr\tb\nb\tr\ta\n", "valid": "a\tr\ta\n", "test": "b\tr\tb\n"}.items():
        (tmp_path / "few" / f"{name}.tsv").write_text(triples)
    import_graph("town", read_tsv(tmp_path / "few"), options={})
    assert refusal().startswith("This site has a graph town with other triples") and refusal().endswith(advice)
    assert not Pool.objects.filter(name="second").exists()


def test_damaged_files_are_named(exported, tmp_path: Path):
    folder, _ = exported
    (folder / "pool.tsv").write_text("changed")
    (folder / "seeds.tsv").unlink()
    with pytest.raises(EvaluationError) as caught:
        restore_test_set(folder)
    assert str(caught.value).splitlines() == [
        "pool.tsv is not the file that was written (SHA-256 differs)",
        "seeds.tsv is missing",
        "Copy or export it again. Nothing was imported.",
    ]
    shutil.rmtree(folder)
    folder.mkdir()
    with pytest.raises(EvaluationError, match=r"out has no CHECKSUMS\.sha256"):
        restore_test_set(folder)
    with pytest.raises(EvaluationError, match=r"^nowhere does not exist: "):
        restore_test_set(tmp_path / "nowhere")


def test_the_command_says_what_does_not_go_together(exported):
    folder = str(exported[0])
    for arguments, why in (
        ([folder, "--threshold", "1"], "--threshold: not with a folder"),
        (["town", f"{folder}/judgements.tsv"], "Give the new pool a name"),
    ):
        with pytest.raises(CommandError, match=why):
            call_command("import_test_set", *arguments)


def test_a_zip_file_is_imported_on_the_page(exported, tmp_path: Path):
    folder, _ = exported
    packed = Path(shutil.make_archive(str(tmp_path / "set"), "zip", folder.parent, folder.name))
    client = Client()
    client.force_login(make_person("boss", "manager"), backend="config.sign_in.Accounts")

    def send(content: bytes, **names: str):
        data = {"archive": SimpleUploadedFile("set.zip", content), "pool_name": "", "graph_name": "", **names}
        return client.post("/test-sets/import", data)

    before = counts()
    for content, why in ((b"x", "is neither a folder nor a zip file"), (packed.read_bytes(), "There is a pool")):
        page = send(content)
        assert page.status_code == 200 and why in page.content.decode()
        assert counts() == before
    assert client.post("/test-sets/import", {"pool_name": "", "graph_name": ""}).status_code == 200
    assert send(packed.read_bytes(), pool_name="q", graph_name="other").headers["Location"] == "/pools/q"
    assert notices(client.get("/pools/q")) == [RESTORED.format("q", "v1")]
    assert Qrels.objects.get(pool__name="q").created_by is not None


def test_what_a_graph_knows_is_written_as_it_was_read(db, tmp_path: Path):
    given = {
        "train": "a\tr\tb\nb\ts\tc\n",
        "valid": "a\ts\tc\n",
        "test": "a\tr\tc\n",
        "entity_labels": "a\tAda\n",
        "entity_types": "a\tperson\na\tpoet\nb\tcity\n",
        "relation_domain_range": "r\tperson\tcity\ns\t\tcity\n",
        "relation_templates": "r\tIs {subject} in {object}?\tWhere is {subject}?\tWho is in {object}?\n",
        "relation_labels": "s\tborn in\n",
        "entity_descriptions": "b\tA city.\n",
        "entity_aliases": "a\tA.\na\tAdah\n",
        "entity_links": "a\thttps://example.org/a\n",
    }
    for stem, text in given.items():
        (tmp_path / f"{stem}.tsv").write_text(text)
    graph = import_graph("g", read_tsv(tmp_path), options={})
    arrays, qrels = open_graph(graph), Qrels(pool=Pool(graph=graph), created_at=timezone.now())
    written = {
        "entity_types": type_lines(arrays),
        "relation_domain_range": domain_range_lines(arrays),
        "relation_templates": template_lines(qrels, arrays),
        "relation_labels": relation_label_lines(arrays),
        "entity_descriptions": description_lines(qrels, arrays),
        "entity_aliases": alias_lines(qrels, arrays),
        "entity_links": link_lines(qrels, arrays),
    }
    assert {name: "".join(f"{line}\n" for line in lines) for name, lines in written.items()} == {
        name: given[name] for name in written
    }


@pytest.mark.parametrize("name", ["labels.jsonl", "pool.tsv", "original_test.tsv", "CHECKSUMS.sha256"])
def test_a_file_that_its_checksums_lack_is_named_without_a_path(exported, settings, tmp_path: Path, name: str):
    folder, _ = exported
    empty_site(settings, tmp_path)
    sums = folder / "CHECKSUMS.sha256"
    if name == sums.name:
        sums.write_bytes(b"\xff" + sums.read_bytes())
    else:
        (folder / name).unlink()
        sums.write_text("".join(line for line in sums.open() if not line.endswith(f"  {name}\n")))
    with pytest.raises(EvaluationError, match=r"is missing|differs") as refusal:
        restore_test_set(folder)
    assert (name in str(refusal.value) or name == sums.name) and str(tmp_path) not in str(refusal.value)
