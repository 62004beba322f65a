"""Methods of a report: its numbers are those of the pool and the settings."""

from __future__ import annotations

from pathlib import Path

from annotation.campaigns.lifecycle import open_campaign
from annotation.judging.label_import import import_labels
from annotation.simulation.simulate import Simulation, simulate
from evaluation.overview.methods import methods, systems_table
from evaluation.sections.section import Context
from evaluation.sections.settings import Settings
from pooling.models import Pool, Run, System
from tests.factories import names_of


def test_methods_have_the_numbers_of_the_pool_and_the_settings(labelled: Pool):
    settings = Settings(labels="depth:2", alpha=0.01, seed=99)
    said = dict(methods(Context(labelled, settings)))
    graph, triples = labelled.graph, labelled.triples
    assert (
        f"{graph.num_entities} entities, {graph.num_relations} relations; {graph.num_train:,} triples" in said["Graph"]
    )
    assert f"to depth 5 from {labelled.seeds.count()} seed triples (sample 0.5 of test, seed 5)" in said["Pool"]
    assert f"{triples.count()} pooled triples" in said["Pool"]
    filtered = triples.exclude(reason="").count()
    assert said["Filters"].startswith(f"{filtered} pooled triples were assumed to be negative")
    assert said["Filters"].endswith(f" {triples.count() - filtered} went to people. A label beats a filter.")
    assert said["Annotation"] == f"{labelled.judgements.count()} triples were judged by people."
    assert "Labels: labels to depth 2" in said["Label sets"] and "Labels: seeds only" in said["Label sets"]
    assert "seed 99" in said["Rank correlation"] and "α = 0.01" in said["Tests"]
    assert "10,000 permutations" in said["Tests"]


def label_by_people(pool: Pool, limit: int | None = None) -> None:
    """Simulated people answer no to all that is asked: the two labels of a triple agree."""
    campaign = open_campaign(pool)
    simulate(campaign, Simulation({}, open_world=False, error_rate=0, limit=limit))


def import_file(pool: Pool, path: Path, triples: int) -> None:
    graph = pool.graph
    chosen = [names_of(graph, (t.head, t.relation, t.tail)) for t in pool.triples.filter(reason="")[:triples]]
    lines = ["\t".join(["head", "relation", "tail", "label"]), *("\t".join([*names, "Y"]) for names in chosen)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert import_labels(pool, path).imported == triples


def test_methods_of_a_campaign_tell_the_rule_its_labels_and_agreement(pool: Pool):
    label_by_people(pool)
    said, n = dict(methods(Context(pool, Settings()))), pool.judgements.count()
    assert n > 10
    assert said["Annotation"].startswith("Each triple gets two blind labels (yes, no, can't tell) of two people;")
    assert (
        f" Labels that count: {2 * n}, and 0 of adjudicators. {n} triples were judged by people." in said["Annotation"]
    )
    assert f"can't tell left out: 100.0 % of {n} triples" in said["Annotation"]
    assert "import" not in said["Annotation"] and f" {n} went to people." in said["Filters"]


def test_methods_tell_that_there_is_no_agreement_yet(pool: Pool):
    label_by_people(pool, limit=1)
    said = dict(methods(Context(pool, Settings())))["Annotation"]
    assert " Labels that count: 1, " in said
    assert said.endswith("No triple has two labels of yes or no yet, so agreement is undefined.")


def test_methods_of_imported_judgements_name_their_files_and_no_rule(pool: Pool, tmp_path: Path):
    for i in range(5):
        import_file(pool, tmp_path / f"labels {i}.tsv", i + 1)
    left = pool.triples.filter(reason="").count()
    expected = (
        "5 triples have judgements imported from labels 0.tsv, labels 1.tsv, labels 2.tsv, labels 3.tsv"
        " and 1 more: the majority of the imported labels of a triple, undecided where they tie."
    )
    said = dict(methods(Context(pool, Settings())))
    assert said["Annotation"] == expected
    assert said["Filters"].endswith(f" {left} were not filtered. A label beats a filter.")
    open_campaign(pool)
    said = dict(methods(Context(pool, Settings())))
    assert said["Annotation"] == f"A campaign was opened, but nobody has labelled in it yet. {expected}"
    assert "were not filtered" in said["Filters"]


def test_methods_of_people_and_imports_tell_both(labelled: Pool, tmp_path: Path):
    import_file(labelled, tmp_path / "old.tsv", 30)
    origins = list(labelled.judgements.values_list("origin", flat=True))
    said = dict(methods(Context(labelled, Settings())))["Annotation"]
    people, imported = origins.count("people"), origins.count("import")
    assert imported > 0
    assert said == (
        f"{people} triples were judged by people. {imported} triples have judgements imported from old.tsv:"
        " the majority of the imported labels of a triple that people have not judged, undecided where they tie."
    )


def test_methods_of_a_pool_without_a_judgement_say_so(pool: Pool):
    said = dict(methods(Context(pool, Settings())))
    assert said["Annotation"] == "No triple is judged."
    assert "were not filtered" in said["Filters"]


def test_table_of_systems_has_those_with_a_run(labelled: Pool):
    Run.objects.filter(system__name="distmult").delete()
    assert [row[0] for row in systems_table(labelled).rows] == ["transe", "complex"]


def test_imported_systems_have_no_training(labelled: Pool):
    System.objects.filter(name="distmult").update(kind="imported", seed=0, best_epoch=0)
    row = next(row for row in systems_table(labelled).rows if row[0] == "distmult")
    assert row[2:5] == [{"value": None, "reason": "an imported run: nothing is known of its training"}] * 3
