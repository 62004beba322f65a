"""A study through the whole stack, on a tiny graph; its page's sections against literal counts."""

from dataclasses import fields, replace

import numpy as np
import pytest

from core.files.artifacts import artifact_path
from core.jobs.execution import execute
from core.jobs.progress import Progress
from core.models import Job
from evaluation.enums import EvaluationJob
from evaluation.models import Study, StudyRun
from evaluation.open_world.study import (
    SMALL,
    StudyError,
    StudyOptions,
    change_asked,
    checkpoint_epochs,
    create_study,
    density_name,
    get_study,
    options_of,
    prepare_study,
    run_system,
    start_preparing,
    start_study,
)
from evaluation.open_world.study_curves import densities_of, view_of
from evaluation.open_world.study_files import StudyRanks, open_answers, read_ranks, write_ranks
from evaluation.open_world.study_sections import study_sections
from pooling.graphs.bundled import family_tree
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import closed_world_triples, open_graph
from pooling.models import Graph, System
from tests.evaluation.studies import TINY, finish, make_study
from tests.factories import make_job


def names(graph, triples):
    arrays = open_graph(graph)
    return {(arrays.entities[h], arrays.relations[r], arrays.entities[t]) for h, r, t in triples.tolist()}


def progress_of(system: System) -> Progress:
    return Progress(make_job(EvaluationJob.OPEN_WORLD, system=system))


@pytest.mark.django_db
def test_prepare_study_same_facts_at_every_density_and_all_four_splits():
    study = make_study()
    runs = prepare_study(study)  # again: nothing is doubled
    assert [str(run) for run in runs] == [
        "tiny/tiny-d90/distmult",
        "tiny/tiny-d90/transe",
        "tiny/tiny-d60/distmult",
        "tiny/tiny-d60/transe",
    ]
    assert StudyRun.objects.count() == System.objects.count() == 4
    dense, sparse = (Graph.objects.get(name=f"tiny-{d}") for d in ("d90", "d60"))
    assert names(dense, closed_world_triples(dense)) == names(sparse, closed_world_triples(sparse))
    share = (sparse.num_train + sparse.num_valid + sparse.num_test) / len(closed_world_triples(sparse))
    assert share == pytest.approx(0.6, abs=0.05)
    system = System.objects.first()
    assert (system.settings["epochs"], system.settings["embedding_dim"], system.settings["patience"]) == (3, 8, 0)


@pytest.mark.django_db
def test_open_answers_are_the_answers_outside_train_and_valid():
    study = make_study()
    asked = {}
    for run in study.runs.select_related("graph")[::2]:
        arrays, world = open_graph(run.graph), closed_world_triples(run.graph)
        found = open_answers(run.graph, questions=30, least=4, seed=7)
        trained = {tuple(t) for split in (arrays.train, arrays.valid) for t in split.tolist()}
        test = {tuple(t) for t in arrays.test.tolist()}
        rows = []
        for head, relation in zip(found.questions.entity.tolist(), found.questions.relation.tolist(), strict=True):
            every = sorted(t for h, r, t in world.tolist() if (h, r) == (head, relation))
            assert len(every) >= 4
            rows += [(t, (head, relation, t) in test) for t in every if (head, relation, t) not in trained]
        assert list(zip(found.open.indices.tolist(), found.test.tolist(), strict=True)) == rows
        asked[run.density] = {
            (arrays.entities[h], arrays.relations[r])
            for h, r in zip(found.questions.entity, found.questions.relation, strict=True)
        }
    assert len(asked[0.9]) == 30
    assert asked[0.9] == asked[0.6]


@pytest.mark.django_db(transaction=True)
def test_study_through_its_jobs_and_again():
    study = create_study("tiny", TINY)
    first = start_preparing(study)
    assert execute(first.pk, "w") is True  # makes the graphs and starts the others
    assert Job.objects.filter(kind="open-world", state="queued").count() == 4
    finish(study)
    runs = list(study.runs.all())
    assert [run.checkpoints for run in runs] == [4, 4, 4, 4]
    assert all(run.sha256 for run in runs)
    assert start_study(study) == []
    assert set(System.objects.values_list("state", flat=True)) == {"trained"}
    ranks = read_ranks(artifact_path(runs[0].artifact))
    assert ranks.epochs.tolist() == [0, 1, 2, 3]
    assert ranks.strict.min() >= 1
    assert (ranks.strict[0] != ranks.strict[3]).any()


class Dies(BaseException):
    """What a kill is to the code that runs."""


class DiesInEpoch(Progress):
    def __init__(self, job, epoch):
        super().__init__(job)
        self.epoch = epoch

    def report(self, stage, *args, **kwargs):
        if stage.startswith(f"epoch {self.epoch} "):
            raise Dies


@pytest.mark.django_db
def test_run_system_interrupted_goes_on_to_the_same_ranks_and_evaluates_nothing_twice():
    run, other = (make_study(name).runs.select_related("study", "graph", "system")[0] for name in ("one", "two"))
    run_system(run, run.system, progress_of(run.system))
    run.refresh_from_db()
    whole = read_ranks(artifact_path(run.artifact))
    job = make_job(EvaluationJob.OPEN_WORLD, system=other.system)
    with pytest.raises(Dies):
        run_system(other, other.system, DiesInEpoch(job, 2))
    other.refresh_from_db()
    path = artifact_path(other.artifact)
    kept = read_ranks(path)
    assert kept.epochs.tolist()[:2] == [0, 1] and len(kept.epochs) < 4
    assert (other.checkpoints, other.sha256) == (len(kept.epochs), "")
    write_ranks(path, replace(kept, strict=np.concatenate([kept.strict[:1] + 1000, kept.strict[1:]])))
    run_system(other, System.objects.get(pk=other.system_id), progress_of(other.system))
    other.refresh_from_db()
    found = read_ranks(artifact_path(other.artifact))
    assert (found.strict[0] == whole.strict[0] + 1000).all()  # not ranked again
    for field in fields(StudyRanks):
        skipped = 1 if field.name == "strict" else 0
        assert np.array_equal(getattr(found, field.name)[skipped:], getattr(whole, field.name)[skipped:]), field.name


@pytest.mark.django_db
def test_run_system_trained_by_another_job_refused():
    run = make_study().runs.select_related("study", "graph", "system")[0]
    System.objects.filter(pk=run.system_id).update(state="trained")
    run.system.refresh_from_db()
    with pytest.raises(StudyError, match="distmult was trained by another job"):
        run_system(run, run.system, progress_of(run.system))


@pytest.mark.django_db(transaction=True)
def test_study_sections_say_what_the_files_hold():
    study = make_study()
    assert study_sections(study, view_of(study, {})) == []
    finish(study)
    view = view_of(study, {"density": "0.6"})
    sections = {section.key: section for section in study_sections(study, view)}
    assert list(sections) == [
        "mrr",
        "hits-1",
        "hits-3",
        "hits-10",
        "log-mrr",
        "p-mrr",
        "summary",
        "divisions",
        "rests-on",
        "checkpoints",
    ]
    (run,) = study.runs.filter(density=0.6, system__name="transe")
    ranks = read_ranks(artifact_path(run.artifact))
    row = next(row for row in sections["mrr"].tables[0].rows if row[0] == "transe")
    assert row[1] == pytest.approx(literal_mrr(ranks, np.ones_like(ranks.test)))
    assert row[2] == pytest.approx(literal_mrr(ranks, ranks.test))
    rests = dict(
        zip(
            (c.key for c in sections["rests-on"].tables[0].columns), sections["rests-on"].tables[0].rows[1], strict=True
        )
    )
    assert (rests["graph"], rests["answers"]) == ("tiny-d60", len(ranks.test))
    assert rests["beta"] == pytest.approx(1 - ranks.test.mean())
    assert len(sections["checkpoints"].tables[0].rows) == 2 * 4
    assert [row[:2] for row in sections["summary"].tables[0].rows][::6] == [["0.9", "MRR"], ["0.6", "MRR"]]


def literal_mrr(ranks: StudyRanks, counted) -> float:
    """At the last checkpoint: each question's mean of 1/rank, other counted answers taken out by hand."""
    optimistic, pessimistic = ranks.optimistic[-1].tolist(), ranks.pessimistic[-1].tolist()
    means = []
    for question in np.unique(ranks.question[counted]):
        own = np.flatnonzero((ranks.question == question) & counted).tolist()
        of_rows = [
            (
                optimistic[i]
                - sum(optimistic[j] < optimistic[i] for j in own)
                + pessimistic[i]
                - sum(pessimistic[j] <= pessimistic[i] for j in own if j != i)
            )
            / 2
            for i in own
        ]
        means.append(np.mean([1 / rank for rank in of_rows]))
    return float(np.mean(means))


@pytest.mark.django_db(transaction=True)
def test_densities_of_divisions_keep_the_share_and_leave_out_who_divides():
    study = make_study()
    finish(study)
    drawn = {d.density: d for d in densities_of(study)}
    for division in ("predicted-present", "predicted-missing"):
        for density in densities_of(study, division, "transe"):
            assert [curve.system for curve in density.curves] == ["distmult"]
            same = drawn[density.density].curves[0].values
            values = density.curves[0].values
            assert (values.open, values.test, values.asked_sparse) == (same.open, same.test, same.asked_sparse)
            assert np.array_equal(values.full["mrr"], same.full["mrr"])
            assert not np.array_equal(values.sparse["mrr"], same.sparse["mrr"])


@pytest.mark.django_db
def test_view_of_names_what_there_is():
    study = make_study()
    for asked, said in (
        ({"density": "0.5"}, "Study tiny has no density 0.5: it has 0.9, 0.6."),
        ({"density": "x"}, "Study tiny has no density x: it has 0.9, 0.6."),
        ({"division": "x"}, "There is no division 'x': there are independent, predicted-present, predicted-missing."),
        ({"chooser": "x"}, "Study tiny has no system x: it has distmult, transe."),
    ):
        with pytest.raises(StudyError) as caught:
            view_of(study, asked)
        assert str(caught.value) == said


def test_checkpoint_epochs_first_last_and_before_training():
    assert checkpoint_epochs(4, 24) == {0, 1, 2, 3, 4}
    assert checkpoint_epochs(100, 3) == {0, 1, 10, 100}


def test_density_name_has_no_dot():
    assert [density_name(d) for d in (0.95, 0.075, 0.5)] == ["d95", "d7-5", "d50"]


@pytest.mark.django_db
def test_create_study_refusals_say_what_is_wrong():
    make_study()
    for name, change, said in (
        ("tiny", {}, "There is a study tiny already"),
        ("a b", {}, "'a b' cannot name a study"),
        ("x" * 61, {}, "is too long for a study's name: 60 characters at most"),
        ("new", {"densities": (1.0,)}, "a density must lie within 0 and 1"),
        ("new", {"densities": (0.5, 0.5)}, "a density is there twice"),
        ("new", {"densities": ()}, "name one density at least"),
        ("new", {"systems": ()}, "name one system at least"),
        ("new", {"systems": ("rules",), "settings": {}}, "rules is not trained by epochs"),
        ("new", {"systems": ("nothing",)}, "unknown system 'nothing'"),
        ("new", {"checkpoints": 1, "questions": 0}, "questions must be 1 or more, not 0; checkpoints must be from 2"),
        ("new", {"people": 2}, "people must be from 3 to 1,000"),
    ):
        with pytest.raises(Exception, match=said):
            create_study(name, replace(TINY, **change))
    import_graph("taken-d90", family_tree(TINY.family(0.9)), options={})
    with pytest.raises(StudyError, match="There is a graph taken-d90 already"):
        create_study("taken", TINY)
    assert Study.objects.count() == 1


@pytest.mark.django_db
def test_change_asked_other_options_refused():
    study = make_study()
    assert options_of(study) == TINY
    change_asked(study, {"seed": 7, "densities": (0.9, 0.6)})
    with pytest.raises(StudyError, match="Study tiny was made with other seed, densities"):
        change_asked(study, {"seed": 8, "densities": (0.9,), "questions": 30})


@pytest.mark.django_db
def test_get_study_names_those_that_exist():
    make_study()
    assert get_study("tiny").name == "tiny"
    with pytest.raises(StudyError) as caught:
        get_study("other")
    assert str(caught.value) == "There is no open-world study other. Studies: tiny."


def test_usual_options_are_allowed():
    SMALL.check()
    StudyOptions().check()
