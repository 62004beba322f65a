"""Systems are compared on the questions that all of them were asked; "not asked" is not "not returned"."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.browse.pool_states import pool_states
from evaluation.browse.search import list_figures
from evaluation.labels.pool_table import LACKS_ROWS, UNASKED, EvaluationError, PoolTable, pool_table, whole_table
from evaluation.measures.prepared import prepare
from evaluation.measures.rank_table import without_known
from evaluation.measures.registry import REGISTRY
from evaluation.measures.values import values
from evaluation.pages.registry import ANALYSES, get_analysis
from evaluation.sections.compared import compared_notes
from evaluation.sections.figure_cache import analysis_content
from evaluation.sections.metrics import metrics
from evaluation.sections.settings import Settings
from evaluation.test_sets.trec import pool_topics, seed_topics, trec_lists
from pooling.graphs.opening import open_graph
from pooling.models import Pool, System
from pooling.runs.asked import was_asked
from pooling.runs.export import get_run, whole_run
from pooling.runs.files import parse_question_id, question_id
from pooling.runs.imports import import_run
from pooling.runs.lacking import lacking_runs, lacking_words, topics_of
from pooling.runs.score import score_for_pool, score_system
from pooling.runs.trec_read import TrecError
from tests.evaluation.labels.test_pool_growth import extend
from tests.factories import judge_all, make_person, make_pool, make_system, progress_of

NAMES = [name if row.cutoff != "required" else f"{name}@3" for name, row in REGISTRY.items()]
MEASURES = ["micro_mrr", "macro_mrr", "map", "judged@10"]


def table_of(world, asked: np.ndarray) -> PoolTable:
    """A pool table of a small world in which systems were asked only some questions, bool[systems, questions]."""
    n, ranks = len(world.state), world.table
    zeros = np.zeros(n, dtype=np.int64)
    return PoolTable(
        graph=None,  # type: ignore[arg-type]
        triples=np.zeros((n, 3), dtype=np.int32),
        is_seed=~world.known,
        is_test=np.ones(n, dtype=bool),
        pooled_id=zeros,
        depth=zeros,
        filtered=zeros > 0,
        systems=["a", "b", "c"],
        left_out=[],
        question_keys=np.arange(ranks.questions),
        ranks=ranks,
        families=[[0], [1], [2]],
        unlike=[],
        asked=asked,
        unasked=[],
    )


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), judged=st.booleans())
def test_figures_are_those_of_a_table_that_has_only_the_common_questions(world, seed, judged):
    w = world(seed)
    asked = np.random.default_rng(seed).random((3, w.table.questions)) < 0.7
    table, whole = table_of(w, asked), prepare(without_known(w.table, w.known))
    w.state[w.known] = 0
    for names in (["a"], ["b"], ["a", "c"], ["a", "b", "c"]):
        view, rows = table.compared(names), ["abc".index(name) for name in names]
        assert view.systems == names
        common = asked[rows].all(axis=0)
        assert set(view.pool.table.question.tolist()) <= set(np.flatnonzero(common).tolist())
        expected = values(whole, w.state, NAMES, judged)
        for name, found in values(view.pool, w.state, NAMES, judged).items():
            kept = expected[name].keep(common)
            assert found.n == kept.n
            np.testing.assert_allclose(
                found.mean(), kept.mean()[rows], rtol=1e-12, atol=1e-12, equal_nan=True, err_msg=name
            )


def test_a_table_of_which_all_was_asked_is_not_copied(labelled: Pool):
    assert pool_table(labelled) is whole_table(labelled)
    assert pool_table(labelled, ["transe"]) is pool_table(labelled, ["transe", "transe"])
    assert pool_table(labelled, ["transe"]).systems == ["transe"]
    with pytest.raises(EvaluationError) as caught:
        pool_table(labelled, ["transe", "rotate"])
    assert str(caught.value) == (
        "rotate: not evaluated on this pool. A private run is compared on its own page. Systems to choose from: "
        "transe, distmult, complex."
    )
    late, asked_nothing = make_system(labelled.graph, "rescal"), replace(whole_table(labelled), unasked=["theirs"])
    score_system(late, seeds=np.zeros((0, 3), np.int32), triples=open_graph(labelled.graph).test)
    with pytest.raises(EvaluationError, match=f"^rescal {LACKS_ROWS}. Systems to choose"):
        pool_table(labelled, ["transe", "rescal"])
    with pytest.raises(EvaluationError, match=f"^theirs {UNASKED}. nobody: not evaluated on this pool"):
        asked_nothing.compared(["nobody", "theirs"])


def copy_of_transe(pool: Pool, folder: Path, *, seeds_alone: bool = False) -> None:
    """An outside run that answers the topics of the pool, or its seed questions alone, exactly as transe does."""
    topics = {line.split("\t")[0] for line in (seed_topics(pool) if seeds_alone else trec_lists(pool)["topics.tsv"])}
    text = b"".join(whole_run(get_run(pool.graph, "transe"))).decode().splitlines()
    (folder / "run").write_text("\n".join(line for line in text if line.split()[0] in topics))
    import_run(pool.graph, folder / "run", name="theirs", pool=pool)


@pytest.fixture
def small(pool: Pool) -> Pool:
    """A labelled pool of few questions, beside the usual one."""
    made = make_pool(pool.graph, "small", sample=None, count=4, depth=1, filters=[])
    judge_all(made)
    return made


@pytest.fixture
def grown(small: Pool, tmp_path: Path) -> Pool:
    """A pool with an outside run that was asked nothing of what the pool grew by."""
    copy_of_transe(small, tmp_path)
    return extend(small, count=3)


def test_an_outside_run_keeps_its_figure_when_the_pool_grows(small: Pool, tmp_path: Path):
    copy_of_transe(small, tmp_path)
    before = metrics(small, "current", MEASURES)
    assert before["compared"]["lacking"] == {}
    assert before["systems"]["theirs"] == before["systems"]["transe"]
    pool = extend(small, count=3)
    after = metrics(pool, "current", MEASURES)
    assert after["systems"]["theirs"] == after["systems"]["transe"]
    found = after["compared"]
    assert before["compared"]["questions"] <= found["questions"] < found["of"]
    assert found["lacking"] == {"theirs": found["of"] - found["questions"]}
    alone = metrics(pool, "current", MEASURES, systems=["theirs"])
    assert alone["systems"] == {"theirs": after["systems"]["theirs"]}
    ours = metrics(pool, "current", MEASURES, systems=["transe", "distmult"])
    assert (list(ours["systems"]), ours["compared"]["questions"]) == (["transe", "distmult"], found["of"])


def test_a_run_is_left_out_of_the_full_test_set_where_it_was_not_asked(small: Pool, tmp_path: Path):
    without = metrics(small, "full-test", MEASURES)
    copy_of_transe(small, tmp_path, seeds_alone=True)
    found = metrics(small, "full-test", MEASURES)
    assert list(found["compared"]["dropped"]) == ["theirs"]
    assert (found["systems"], found["n"]) == (without["systems"], without["n"])
    content = analysis_content(small, get_analysis("correlation"), Settings())
    assert content["parts"][0]["compared"]["systems"] == ["transe", "distmult", "complex"]


def test_a_run_made_for_other_questions_has_no_figure(labelled: Pool, tmp_path: Path):
    graph = open_graph(labelled.graph)
    table = whole_table(labelled)
    seeds = table.questions_of(table.is_seed)
    head, relation, tail = next(
        t for t in graph.test.tolist() if not seeds[_question(table, t, graph)] and not table.is_seed[_place(table, t)]
    )
    question = question_id(0, graph.entities[head], graph.relations[relation])
    (tmp_path / "run").write_text(f"{question} Q0 {graph.entities[tail].replace(' ', '%20')} 1 1 x\n")
    import_run(labelled.graph, tmp_path / "run", name="elsewhere")
    found = metrics(labelled)
    assert found["compared"]["unasked"] == ["elsewhere"]
    assert (list(found["systems"]), found["left_out"]) == (["transe", "distmult", "complex"], [])
    out, err = StringIO(), StringIO()
    call_command("evaluate", "p", "--json", stdout=out, stderr=err)
    assert list(json.loads(out.getvalue())["reasons"]) == ["elsewhere"]
    assert "elsewhere" in err.getvalue()


def test_scoring_gives_a_run_no_figure_over_questions_that_it_never_saw(grown: Pool):
    assert list(lacking_runs(grown)) == ["theirs"]
    system = get_run(grown.graph, "theirs").system
    before = metrics(grown)
    score_for_pool(system, grown, progress_of(grown))
    assert metrics(grown)["compared"] == before["compared"]
    assert "export_topics small FILE --lacking theirs" in lacking_words(grown, system)
    assert lacking_words(grown, get_run(grown.graph, "transe").system) == ""


def test_the_topics_that_a_private_run_lacks_are_for_its_owner(grown: Pool):
    owner, other = make_person("owner", "researcher"), make_person("other", "researcher")
    System.objects.filter(name="theirs").update(private=True, owner=owner)
    assert list(lacking_runs(grown, owner)) == ["theirs"] and lacking_runs(grown, other) == {}
    addresses = (
        reverse("export-trec-file", args=["small", "topics.tsv"]),
        reverse("api-trec-file", args=["small", "topics.tsv"]),
    )
    for person, status in ((owner, 200), (make_person("boss", "manager"), 200), (other, 404)):
        client = Client()
        client.force_login(person)
        for address in addresses:
            answer = client.get(f"{address}?lacking=theirs")
            assert answer.status_code == status, (person.username, address)
            if status == 200:
                lines = b"".join(answer.streaming_content).decode().splitlines()
                assert lines == list(pool_topics(grown, "theirs")) and len(lines) > 1
        page = client.get(reverse("pool-growth", args=["small"])).content.decode()
        assert ('data-test="lacking-theirs"' in page) == (status == 200)


def test_growth_offers_the_topics_that_a_run_lacks(grown: Pool, client, tmp_path: Path):
    count = lacking_runs(grown)["theirs"]
    every = [line.split("\t")[0] for line in pool_topics(grown)][1:]
    lacking = [line.split("\t")[0] for line in pool_topics(grown, "theirs")][1:]
    run = get_run(grown.graph, "theirs")
    keys = np.array([parse_question_id(text, open_graph(grown.graph)) for text in every])
    assert lacking == [text for text, asked in zip(every, was_asked(run, keys).tolist(), strict=True) if not asked]
    assert 0 < len(lacking) == count < len(every)
    call_command("export_topics", "small", str(tmp_path / "t.tsv"), "--lacking", "theirs", stdout=StringIO())
    assert (tmp_path / "t.tsv").read_text().splitlines() == list(pool_topics(grown, "theirs"))
    client.force_login(make_person("rea", "researcher"), backend="config.sign_in.Accounts")
    page = client.get("/pools/small/growth").content.decode()
    link = "/pools/small/export/trec/topics.tsv?lacking=theirs"
    assert f'href="{link}"' in page
    sent = client.get(link)
    assert b"".join(sent.streaming_content).decode().splitlines() == list(pool_topics(grown, "theirs"))
    assert client.get(link.replace("theirs", "nobody")).status_code == 404
    page = client.get("/pools/small/evaluation/measures").content.decode()
    assert f'href="{link}"' in page


def test_a_topics_file_says_what_a_run_was_asked(small: Pool, tmp_path: Path):
    """With the topics of the whole pool, what the file lacks is "not returned"; without them it is "not asked"."""
    topics = tmp_path / "topics.tsv"
    call_command("export_topics", "small", str(topics), stdout=StringIO())
    text = b"".join(whole_run(get_run(small.graph, "transe"))).decode().splitlines()
    known = {line.split("\t")[0] for line in pool_topics(small)}
    first = next(line for line in text if line.split()[0] in known)
    (tmp_path / "run").write_text(first)
    told = import_run(small.graph, tmp_path / "run", name="told", topics_file=topics).system.run
    untold = import_run(small.graph, tmp_path / "run", name="untold").system.run
    keys = topics_of(small)
    assert was_asked(told, keys).all() and was_asked(untold, keys).sum() == 1
    topics.write_text("tail:nobody:knows\n")
    with pytest.raises(TrecError) as caught:
        import_run(small.graph, tmp_path / "run", name="x", topics_file=topics)
    assert str(caught.value).startswith("topics.tsv:1: 'tail:nobody:knows' is not among the topics of town")


def _place(table: PoolTable, triple: list[int]) -> int:
    return int(np.flatnonzero((table.triples == triple).all(axis=1))[0])


def _question(table: PoolTable, triple: list[int], graph) -> int:
    rows = np.flatnonzero(table.ranks.triple == _place(table, triple))
    of = table.ranks.question[rows]
    return int(of[table.ranks.side[of] == 0][0])


def test_every_page_says_on_how_many_questions_it_compares(grown: Pool, few_repeats):
    found = metrics(grown)["compared"]
    told = list(compared_notes(found))
    assert len(told) == 1 and f"{found['questions']} of {found['of']} questions" in told[0]
    content = analysis_content(grown, get_analysis("measures"), Settings())
    assert content["parts"][0]["compared"] == found
    assert content["parts"][0]["sections"][0]["notes"][0] == told[0]
    other = analysis_content(grown, get_analysis("measures"), Settings(systems=("distmult", "transe")))
    assert other["parts"][0]["compared"]["lacking"] == {}
    assert all("systems" in analysis.settings for analysis in ANALYSES)


def test_no_common_question_is_said_in_words_on_every_page(labelled: Pool, tmp_path: Path, few_repeats, monkeypatch):
    copy_of_transe(labelled, tmp_path)
    table = whole_table(labelled)
    table.asked[:] = False
    table.asked[0, 0] = table.asked[3, 1] = True
    names = ("theirs", "transe")
    for analysis in ANALYSES:
        content = analysis_content(labelled, analysis, Settings(systems=names))
        assert content["settings"]["systems"] == names, analysis.key


def test_the_page_questions_compares_the_chosen_systems(grown: Pool):
    states = pool_states(grown)
    every, chosen = list_figures(grown, states), list_figures(grown, states, ["transe", "distmult"])
    assert [name for name, _ in every.shares] == ["transe", "distmult", "complex", "theirs"]
    assert [name for name, _ in chosen.shares] == ["transe", "distmult"]
    assert every.positions < chosen.positions and np.isnan(every.spread).sum() > np.isnan(chosen.spread).sum()
    assert (
        "those that all 4 systems were asked. The others are missing from theirs (not asked" in every.notes[0]
        and chosen.notes == []
    )
    client = Client()
    client.force_login(make_person("reader", "researcher"))
    page, table = reverse("evaluation-questions", args=["small"]), reverse("evaluation-questions-csv", args=["small"])
    shown = client.get(f"{page}?systems=transe,distmult").content.decode()
    assert re.findall(r'<tr><th scope="row">(\w+)</th>', shown) == ["TransE", "DistMult"]
    assert 'data-test="compared"' in client.get(page).content.decode() and 'data-test="compared"' not in shown
    rows = {name: client.get(f"{table}{name}").content for name in ("", "?systems=transe,distmult")}
    assert len(set(rows.values())) == 2
    unknown = client.get(f"{table}?systems=nobody")
    assert unknown.status_code == 400 and b"nobody: not evaluated on this pool" in unknown.content
    assert "nobody: not evaluated on this pool" in client.get(f"{page}?systems=nobody").content.decode()
