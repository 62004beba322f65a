"""Labels in a test set: those of the frozen moment, by pseudonym, with the words and the evidence of their time."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from uuid import uuid4

import mlcroissant
import pytest

from annotation.judging.label_import import import_labels
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.submit import change
from annotation.labelling.withdraw import withdraw_labels
from annotation.messages.guidelines import save_guidelines
from annotation.models import ImportedLabel, Item, Label
from annotation.questions.templates import save_template
from annotation.simulation.simulate import Simulation, simulate
from evaluation.enums import QrelsOrigin
from evaluation.labels.qrels import freeze_qrels, pooled_state, write_qrels
from evaluation.models import Qrels
from evaluation.test_sets.export import export_test_set
from evaluation.test_sets.files import ExportOptions
from evaluation.test_sets.labels import pseudonym
from pooling.models import PooledTriple
from tests.annotation.factories import LINK, World, decide, label_and_release, make_world, windows_closed
from tests.factories import names_of

ODD = "https://example.org/a b"


@pytest.fixture
def world(db, tmp_path: Path) -> World:
    """Of six items: agreed (under two versions of the words), adjudicated, undecided, imported, one label, none."""
    world = make_world(tmp_path / "tsv")
    items = list(world.campaign.items.order_by("triple_id"))
    label_and_release(world, items[0], ann="Y")
    save_guidelines(world.campaign, "# New", by=world.manager)
    relation = world.pool.graph.relations.get()
    save_template(relation, "Did {subject} live in {object}?", "Where did {subject} live?", "Who lived in {object}?")
    label_and_release(world, items[0], ben="Y")
    label_and_release(world, items[1], ann="Y", cleo="N")
    windows_closed(items[1])
    decide(world, ada="N")
    label_and_release(world, items[2], ben="?", cleo="?")
    windows_closed(items[2])
    decide(world, ada="?")
    label_and_release(world, items[4], cleo="N")
    triple = items[3].triple
    file = tmp_path / "=labels.tsv"
    file.write_text(f"{key(world, triple)}\tY\t=Alice\t{ODD}\t2025-01-02T03:04:05Z\n{key(world, triple)}\tY\n")
    import_labels(world.pool, file)
    return world


def key(world: World, triple: PooledTriple) -> str:
    return "\t".join(names_of(world.pool.graph, (triple.head, triple.relation, triple.tail)))


def items_of(world: World) -> list[Item]:
    return list(world.campaign.items.order_by("triple_id").select_related("triple"))


def export(qrels: Qrels, folder: Path, **options: bool) -> dict[str, str]:
    """File -> text."""
    files = export_test_set(qrels, folder, ExportOptions(**options))
    return {path.relative_to(folder).as_posix(): text_of(path) for path in files}


def text_of(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def test_every_label_that_counted_is_a_line(world: World, tmp_path: Path):
    Label.objects.filter(pk=Label.objects.order_by("pk")[0].pk).update(passage="She <b>lived</b> there.")
    ImportedLabel.objects.filter(annotator="=Alice").update(passage="In 1815.", cause="entity")
    Label.objects.filter(slot__number=3).update(cause="dated")
    qrels = freeze_qrels(world.pool, "v1")
    lines = [json.loads(line) for line in export(qrels, tmp_path / "out")["labels.jsonl"].splitlines()]
    triple = {pk: key(world, item.triple).split("\t") for item in items_of(world) for pk in [item.pk]}
    expected = []
    for label in Label.objects.order_by("pk").select_related("slot", "item", "template"):
        head, relation, tail = triple[label.item_id]
        first = label.pk == Label.objects.order_by("pk")[0].pk
        expected.append(
            {
                "head": head,
                "relation": relation,
                "tail": tail,
                "label": label.answer,
                "role": "adjudicator" if label.slot.number == 3 else "annotator",
                "annotator": pseudonym(qrels, label.annotator_id),
                "at": label.created_at.isoformat().replace("+00:00", "Z"),
                "active_ms": 0,
                "away_ms": 0,
                "side": label.item.side,
                "question_version": 1 if first else 2,
                "guideline_version": 1 if first else label_guidelines(label),
                "evidence": LINK,
                **({"cause": "dated"} if label.slot.number == 3 else {}),
                **({"passage": "She <b>lived</b> there."} if first else {}),
            }
        )
    odd = dict(zip(("head", "relation", "tail"), key(world, items_of(world)[3].triple).split("\t"), strict=True))
    expected += [
        {
            **odd,
            "label": "Y",
            "role": "import",
            "annotator": pseudonym(qrels, "=Alice"),
            "at": "2025-01-02T03:04:05Z",
            "cause": "entity",
            "evidence": ODD,
            "passage": "In 1815.",
        },
        {**odd, "label": "Y", "role": "import", "annotator": None, "at": None, "evidence": ""},
    ]
    assert lines == expected


def label_guidelines(label: Label) -> int | None:
    """windows_closed moved some labels to before the campaign, when there were no guidelines."""
    made = list(label.item.campaign.guideline_versions.order_by("version").values_list("created_at", "version"))
    return max((version for at, version in made if at <= label.created_at), default=None)


def test_croissant_reads_every_record_of_every_set(world: World, tmp_path: Path):
    """Nothing of a cell is lost: labels are objects a line, the others tables."""
    last = Label.objects.order_by("-pk")[0].pk  # what the first line lacks is a column too
    Label.objects.filter(pk=last).update(passage="She lived there.", is_bulk=True)
    files = export(freeze_qrels(world.pool, "v1"), tmp_path / "out")
    data = mlcroissant.Dataset(jsonld=tmp_path / "out" / "croissant.json")
    assert data.metadata.ctx.issues.errors == set()
    told = {one.id: one for one in data.metadata.record_sets}
    assert set(told) == {"triples", "judgements", "labels", "questions", "topics"}
    names = {name: f"{name}.tsv" for name in set(told) - {"labels"}}
    names |= {"triples": "triples.tsv.gz", "topics": "trec/topics.tsv"}
    lines = {name: [line.split("\t") for line in files[file].splitlines()] for name, file in names.items()}
    tables = {name: (header, rows) for name, (header, *rows) in lines.items()}
    objects = [json.loads(line) for line in files["labels.jsonl"].splitlines()]
    columns = [*objects[0], "bulk", "passage"]
    tables["labels"] = (columns, [[one.get(column) for column in columns] for one in objects])
    for name, (columns, rows) in tables.items():
        assert [field.id for field in told[name].fields] == [f"{name}/{column}" for column in columns]
        records = [[plain(record[f"{name}/{column}"]) for column in columns] for record in data.records(name)]
        assert records == [[plain(cell) for cell in row] for row in rows], name


def plain(value: object) -> str:
    """A cell as Croissant gives it and as the file has it: numbers as floats, nothing as nothing."""
    if isinstance(value, bytes):
        value = value.decode()
    if value is None or value != value:
        return ""
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return str(value)


def test_nobody_is_named_and_no_comment_is_told(world: World, tmp_path: Path):
    qrels = freeze_qrels(world.pool, "v1")
    everything = "\n".join(export(qrels, tmp_path / "out").values())
    for secret in ("ann", "ben", "cleo", "ada", "Alice", "because", qrels.salt, "=labels.tsv"):
        words = everything.replace("annotator", "").replace("cannot", "").replace("Annotator", "")
        assert f'"{secret}"' not in words and f"\t{secret}" not in words and f" {secret} " not in words, secret
    for secret in ("cleo", "Alice", "because", qrels.salt, "=labels.tsv"):
        assert secret not in everything, secret
    people = {json.loads(line)["annotator"] for line in (tmp_path / "out/labels.jsonl").read_text().splitlines()}
    assert len(people - {None}) == 5
    other = freeze_qrels(world.pool, "v2")
    assert {pseudonym(other, world.ann.pk), pseudonym(qrels, world.ann.pk)}.isdisjoint(
        people - {pseudonym(qrels, world.ann.pk)}
    )


def test_judgements_say_how_they_were_settled_with_what_evidence(world: World, tmp_path: Path):
    qrels = freeze_qrels(world.pool, "v1")
    lines = [line.split("\t")[3:] for line in export(qrels, tmp_path / "out")["judgements.tsv"].splitlines()]
    assert lines == [
        ["state", "settled", "depth", "filter", "evidence"],
        ["positive", "seed", "0", "", ""],
        ["positive", "agreed", "7", "", LINK],
        ["negative", "adjudicated", "7", "", LINK],
        ["unjudged", "undecided", "7", "", LINK],
        ["positive", "imported", "7", "", "https://example.org/a%20b"],
        ["unjudged", "open", "7", "", LINK],
        ["unjudged", "open", "7", "", ""],
        ["assumed_negative", "filtered", "3", "types", ""],
    ]


def test_questions_are_the_words_that_people_saw(world: World, tmp_path: Path):
    qrels = freeze_qrels(world.pool, "v1")
    header, *lines = export(qrels, tmp_path / "out")["questions.tsv"].splitlines()
    assert header == "head\trelation\ttail\tside\tversion\tgroup_question\tstatement"
    item = items_of(world)[0]
    keys, (person, _, city) = key(world, item.triple), key(world, item.triple).split("\t")
    who, where = f"Person {person[1:]}", f"City {city[1:]}"
    old, new = (
        (f"Where has {who} lived?", f"Where did {who} live?")
        if item.side == "tail"
        else (f"Who has lived in {where}?", f"Who lived in {where}?")
    )
    assert lines[:2] == [
        f"{keys}\t{item.side}\t1\t{old}\tHas {who} lived in {where}?",
        f"{keys}\t{item.side}\t2\t{new}\tDid {who} live in {where}?",
    ]
    assert len(lines) == 2 + 3  # the adjudicated, the undecided, and the one with one label


def test_what_comes_later_changes_no_byte(world: World, tmp_path: Path):
    qrels = freeze_qrels(world.pool, "v1", licence="CC-BY-4.0", citation="Ada, 2026")
    before = export(qrels, tmp_path / "before")
    label = Label.objects.filter(annotator=world.cleo).latest("pk")
    change(world.cleo, label.client_id, GivenAnswer(answer="Y", client_id=uuid4(), source_url=LINK, comment="x"))
    withdraw_labels(world.campaign, world.ben, by=world.manager, reason="gone")
    label_and_release(world, items_of(world)[5], ann="Y", cleo="Y")
    save_guidelines(world.campaign, "# Newest", by=world.manager)
    relation = world.pool.graph.relations.get()
    save_template(relation, "Is {subject} of {object}?", "Of where is {subject}?", "Who is of {object}?")
    file = tmp_path / "more.tsv"
    file.write_text(f"{key(world, items_of(world)[3].triple)}\tN\n")
    import_labels(world.pool, file)
    assert export(qrels, tmp_path / "after") == before
    assert export(freeze_qrels(world.pool, "v2"), tmp_path / "v2") != before


def test_the_card_says_licence_citation_agreement_and_how_many(world: World, tmp_path: Path):
    qrels = freeze_qrels(world.pool, "v1", licence="CC-BY-4.0", citation="Ada, 2026")
    world.campaign.evidence_rule, graph = "never", world.pool.graph
    world.campaign.save()  # what is changed later is not told
    times = [label.created_at for label in Label.objects.order_by("pk")]
    first, last = (f"{time:%Y-%m-%d}" for time in (times[0], times[-1]))
    asked = f"on {first}" if first == last else f"from {first} to {last}"
    card = export(qrels, tmp_path / "out")["README.md"].splitlines()
    for line in (
        "| seed | seed triple, positive by definition | 1 |",
        "| agreed | two people agreed | 1 |",
        "| adjudicated | an adjudicator decided | 1 |",
        "| imported | labels made elsewhere | 1 |",
        "| undecided | undecided, counts as unjudged | 1 |",
        "| open | without an answer yet | 2 |",
        "| types | entity type not consistent with the relation | 1 |",
        f"A completed test set of the knowledge graph {graph.name}: {graph.num_entities} entities,",
        f"{graph.num_relations} relations, {graph.num_train} train, {graph.num_valid} valid and",
        f"People were asked {asked}, in the words of questions.tsv.",
        "A link to evidence was asked: for yes and no. Order of judging: depth.",
        "Only 4 of the 9 questions have a positive answer: leave the others",
        "`Dataset('croissant.json').records('judgements')`. pytrec_eval and ir_measures read trec/qrels.txt.",
        "9 questions. 7 labels and 2 decisions of adjudicators,",
        "by 4 people; 2 labels made elsewhere.",
        "3 triples have two labels, 2 of them yes or no from both.",
        "The same answer: 0.5000 (95 % 0.0945 to 0.9055).",
        "CC-BY-4.0",
        "Ada, 2026",
    ):
        assert line in card, line


def test_hugging_face_loads_the_questions(world: World, tmp_path: Path):
    from datasets import load_dataset

    files = export(freeze_qrels(world.pool, "v1"), tmp_path / "out")
    found = load_dataset(str(tmp_path / "out"), "questions", cache_dir=str(tmp_path / "cache"))["test"]
    header, *rows = (line.split("\t") for line in files["questions.tsv"].splitlines())
    assert found.column_names == header
    assert [[str(cell) for cell in row.values()] for row in found] == rows
    assert rows and isinstance(found[0]["version"], int)


def test_the_card_tells_the_labels_of_simulated_people(world: World, tmp_path: Path):
    before = freeze_qrels(world.pool, "v1")
    done = simulate(world.campaign, Simulation({}, open_world=False, annotators=2, error_rate=0))
    assert (done.labels, done.adjudicated) == (5, 0)  # the second of one item, both of two others
    world.ann.username = "sim-annotator-of-mars"  # somebody who can sign in
    world.ann.set_password("quite a phrase")
    world.ann.save()
    after = freeze_qrels(world.pool, "v2")
    told = "5 of these labels, decisions included, are simulated: they come from a known truth and"
    assert told in export(after, tmp_path / "after")["README.md"].splitlines()
    assert "simulated" not in export(before, tmp_path / "before")["README.md"]


def test_options_leave_out_what_they_say(world: World, tmp_path: Path):
    qrels = freeze_qrels(world.pool, "v1")
    without = export(qrels, tmp_path / "without", with_evidence=False)
    assert LINK not in "".join(without.values()) and "example.org" not in "".join(without.values())
    assert without["judgements.tsv"].splitlines()[0].split("\t")[-1] == "filter"
    whole = export(qrels, tmp_path / "whole")
    some = export(qrels, tmp_path / "some", positives_only=True)
    kept = {tuple(line.split("\t")) for line in whole["test.tsv"].splitlines()}
    assert some["test.tsv"] == whole["test.tsv"] and len(kept) == 3
    for name in ("judgements.tsv", "questions.tsv"):
        header, *lines = whole[name].splitlines()
        assert some[name].splitlines() == [header, *(ln for ln in lines if tuple(ln.split("\t")[:3]) in kept)]
    pooled = [line for line in whole["pool.tsv"].splitlines() if tuple(line.split("\t")[:3]) in kept]
    assert some["pool.tsv"].splitlines() == pooled and len(pooled) == 2
    spoken = [json.loads(line) for line in some["labels.jsonl"].splitlines()]
    assert len(spoken) == 4 and all((one["head"], one["relation"], one["tail"]) in kept for one in spoken)
    assert {line.split(" ")[3] for line in some["trec/qrels.txt"].splitlines()} == {"1"}
    assert "This archive: positives only. The numbers below are of all judgements." in some["README.md"]
    assert [ln for ln in some["README.md"].splitlines() if ln not in whole["README.md"].splitlines()] == [
        "This archive: positives only. The numbers below are of all judgements."
    ]


def test_qrels_of_an_earlier_version_are_exported_with_what_is_known_now(world: World, tmp_path: Path):
    old = write_qrels(world.pool, "old", *pooled_state(world.pool), origin=QrelsOrigin.FROZEN, user=None)
    new = freeze_qrels(world.pool, "v1")
    found, expected = export(old, tmp_path / "old"), export(new, tmp_path / "new")
    for name in ("judgements.tsv", "questions.tsv", "pool.tsv", "trec/qrels.txt"):
        assert found[name] == expected[name], name
