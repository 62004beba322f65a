"""The pages of questions: who may see them, what they say of each candidate, and what they cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.utils.html import escape

from evaluation.browse.pool_states import LEGEND, TripleState, pool_states
from evaluation.browse.question import inspect_question
from evaluation.browse.search import QuestionFilter, find_questions, list_figures
from evaluation.labels.pool_table import pool_table
from evaluation.test_sets.trec import pool_topics
from pooling.models import Pool, Run
from pooling.runs.export import get_run, whole_run
from pooling.runs.files import question_id
from pooling.runs.imports import import_run
from pooling.systems.shown_names import shown_name
from tests.page import element, has, parse, refusal
from tests.pages.world import EVIL, make_graph, make_pool

LIST = "/pools/p/evaluation/questions"


def address(pool: Pool, question: int) -> str:
    side, entity, relation = (int(column[question]) for column in pool_states(pool).contents.questions)
    return f"/pools/{pool.name}/evaluation/questions/{('tail', 'head')[side]}/{relation}/{entity}"


def listed(html: str) -> list[str]:
    return re.findall(r'<td><a href="(/pools/p/evaluation/questions/[^"]+)"', html)


def row_of(html: str, heading: str) -> list[str]:
    """Cells of the table row with this heading, as text."""
    row = re.search(rf"<tr><th scope=\"row\"[^>]*>{re.escape(heading)}</th>(.*?)</tr>", html, re.DOTALL)
    assert row is not None
    cells = re.findall(r"<td.*?</td>", row[1], re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in cells]


@pytest.fixture
def busiest(labelled: Pool) -> int:
    """The question with most answers."""
    return int(pool_states(labelled).answers.argmax())


@pytest.mark.parametrize(
    ("role", "status"),
    [
        ("manager", 200), ("researcher", 200), ("annotator", 403), ("adjudicator", 403), ("guest", 403),
        ("stranger", 302),
    ],
)  # fmt: skip
def test_who_may_see_questions(sign_in, labelled: Pool, busiest, role, status):
    client = sign_in(role)
    for url in (LIST, address(labelled, busiest)):
        answer = client.get(url)
        assert answer.status_code == status
        if status == 403:
            assert "distmult" not in answer.content.decode()


def test_the_list_has_the_questions_that_were_asked_for_in_their_order(sign_in, labelled: Pool):
    client, states = sign_in("researcher"), pool_states(labelled)
    spread = list_figures(labelled, states).spread
    for query, wanted in (
        ({}, QuestionFilter()),
        ({"which": "all", "sort": "spread", "page": "2"}, QuestionFilter(which="all", sort="spread")),
        ({"q": "p7", "side": "head", "which": "all"}, QuestionFilter("p7", "head", which="all")),
        ({"relation": "0", "sort": "unjudged"}, QuestionFilter(relation=0, sort="unjudged")),
    ):
        places = find_questions(states, wanted, spread)
        page = slice(25, 50) if "page" in query else slice(0, 25)
        html = client.get(LIST, query).content.decode()
        assert listed(html) == [address(labelled, place) for place in places[page]] != []
        assert f"{len(places)} question" in html


def test_nonsense_in_the_address_counts_as_empty(sign_in):
    client = sign_in("researcher")
    plain = listed(client.get(LIST).content.decode())
    odd = {"side": "left", "relation": "x", "which": "?", "sort": "1", "page": "zz"}
    assert listed(client.get(LIST, odd).content.decode()) == plain
    html = client.get(LIST, {"q": "<b>nobody"}).content.decode()
    assert parse(html).has("none-found") and "<b>nobody" not in html


def test_shares_stand_below_the_list_with_their_bars(sign_in, labelled: Pool):
    html = sign_in("researcher").get(LIST).content.decode()
    for system, parts in list_figures(labelled, pool_states(labelled)).shares:
        assert row_of(html, shown_name(system)) == [f"{100 * part:.1f} %" for _, part in parts if part is not None]
        assert len(row_of(html, shown_name(system))) == len(LEGEND)
        for shown, part in parts:
            bar = rf'bar-{shown.key}" [^>]*><rect [^>]*/><rect width="{part:.4f}"'
            assert re.search(bar, html)


def test_each_candidate_has_link_state_and_mark(sign_in, labelled: Pool, busiest):
    html = sign_in("researcher").get(address(labelled, busiest)).content.decode()
    states = pool_states(labelled)
    side, entity, relation = (int(column[busiest]) for column in states.contents.questions)
    detail = inspect_question(labelled, states, side, relation, entity)
    assert detail is not None and f"<h1>{escape(detail.words)}</h1>" in html
    for position, places in detail.rows:
        cells = row_of(html, str(position))
        for cell, place in zip(cells, places, strict=True):
            candidate = place.candidate if place else None
            assert candidate is not None
            told = f"{escape(candidate.name)} {candidate.state.mark} {candidate.state.label}"
            assert cell == f"{told} {candidate.reason}".strip()
            h, r, t = candidate.triple
            assert f'href="/pools/p/evaluation/triples/{h}/{r}/{t}"' in html
    for i, one in enumerate(detail.lists):
        expected = " ".join(f"{n} {shown.mark} {shown.label}" for shown, n in one.shares())
        tail = html.split("<tfoot>")[1]
        cells = re.findall(r"<td.*?</td>", tail, re.DOTALL)
        assert " ".join(re.sub(r"<[^>]*>", " ", cells[i]).split()) == expected
    assert all(escape(shown.meaning) in html for shown in TripleState)


def test_gaps_are_named_where_no_list_was_kept(sign_in, labelled: Pool, busiest, monkeypatch):
    monkeypatch.setattr("evaluation.browse.question._stored", lambda *_: {})
    html = sign_in("researcher").get(address(labelled, busiest)).content.decode()
    assert has(html, "no-list")
    assert html.count('class="candidate gap"') > 0


def test_a_run_that_was_not_asked_is_said_so_and_one_that_was_has_its_list(sign_in, labelled: Pool, busiest, tmp_path):
    outside_run(labelled, tmp_path, busiest)
    client = sign_in("researcher")
    page = parse(client.get(address(labelled, busiest)))
    asked = inspect_question(labelled, pool_states(labelled), *of(labelled, busiest))
    assert asked is not None and [(one.system, one.asked) for one in asked.lists] == [
        ("transe", True), ("distmult", True), ("complex", True), ("theirs", False),
    ]  # fmt: skip
    assert not has(client.get(address(labelled, busiest)), "no-list")
    assert len(page.all("not-asked")) == len(page.all("first-not-asked")) == 1
    assert len(page.all("answer-not-asked")) == len(asked.answers) > 0
    other = (busiest + 1) % len(pool_states(labelled).contents.keys)
    for name in ("not-asked", "first-not-asked", "answer-not-asked"):
        assert not has(client.get(address(labelled, other)), name)
    head, relation, tail = asked.answers[0].candidate.triple
    triple = parse(client.get(f"/pools/p/evaluation/triples/{head}/{relation}/{tail}"))
    [row] = [row for table in triple.all(tag="table") for row in table.rows if row[0] == "theirs" and len(row) == 3]
    side = of(labelled, busiest)[0]
    assert len(triple.all("not-asked")) == 1
    assert row[1 + side] == triple.one("not-asked").text != row[2 - side]


def of(pool: Pool, question: int) -> tuple[int, int, int]:
    side, entity, relation = (int(column[question]) for column in pool_states(pool).contents.questions)
    return side, relation, entity


def outside_run(pool: Pool, folder: Path, without: int) -> None:
    """Import a run that answers every question of the pool but one, as transe does."""
    side, relation, entity = of(pool, without)
    graph = pool_states(pool).contents.graph
    gone = question_id(side, graph.entities[entity], graph.relations[relation])
    topics = {line.split("\t")[0] for line in pool_topics(pool)} - {gone}
    lines = b"".join(whole_run(get_run(pool.graph, "transe"))).decode().splitlines()
    (folder / "run").write_text("\n".join(line for line in lines if line.split()[0] in topics))
    import_run(pool.graph, folder / "run", name="theirs")


def test_labels_are_one_click_away_as_safe_links(sign_in, labelled: Pool, busiest):
    states = pool_states(labelled)
    place = next(p for p in states.contents.of_question(busiest) if states.state[p] == TripleState.NEW)
    triple = labelled.triples.get(pk=int(states.contents.triple_id[place]))
    for line, url in enumerate(("https://a.example/<b>", "javascript:alert(1)"), 1):
        triple.imported_labels.create(answer="Y", source_url=url, file_name="f.tsv", file_sha256="0" * 64, line=line)
    html = sign_in("researcher").get(address(labelled, busiest)).content.decode()
    entity = triple.head if states.contents.questions.side[busiest] else triple.tail
    assert f'popovertarget="evidence-{entity}"' in html and html.count(f'id="evidence-{entity}"') == 1
    shown = html.split(f'id="evidence-{entity}"')[1].split("</ul>")[0]
    [link] = element(html, f"evidence-{entity}").all(tag="a", href="https://a.example/<b>")
    assert link["target"] == "_blank"
    assert link["rel"] == "noopener noreferrer nofollow"
    assert 'href="javascript:' not in html and "javascript:alert(1)" in shown


@pytest.mark.parametrize(
    "path", ["tail/0/999999", "left/0/0", "tail/99/0", "head/0/99999999999999999999999", "tail/x/0"]
)
def test_no_such_question_is_404(sign_in, path):
    assert sign_in("manager").get(f"{LIST}/{path}").status_code == 404


def test_a_question_that_no_triple_lies_on_is_404(sign_in, labelled: Pool):
    graph = pool_states(labelled).contents.graph
    relation, entity = graph.relation_index["capital of"], graph.entity_index["p7"]
    assert pool_states(labelled).contents.question(0, relation, entity) < 0
    assert sign_in("manager").get(f"{LIST}/tail/{relation}/{entity}").status_code == 404


def test_pages_without_runs_say_why_and_show_the_rest(sign_in, labelled: Pool, busiest):
    client, url = sign_in("researcher"), address(labelled, busiest)
    Run.objects.all().delete()
    html, single = (client.get(one).content.decode() for one in (LIST, url))
    assert [element(page, "problem").text for page in (html, single)] == refusal(lambda: pool_table(labelled)) * 2
    assert len(listed(html)) > 3 and "new answer" in single and "The first 10" not in single


def test_names_of_a_graph_are_text(sign_in, labelled: Pool, tmp_path):
    """The last person of this town is called like a script: given in one question, an answer of another."""
    pool = make_pool(make_graph(tmp_path / "evil", "evil"), "evil")
    pool.seeds.create(head=0, relation=0, tail=5)
    pool.triples.filter(head=0, tail=5).delete()
    client = sign_in("researcher")
    for page in ("?which=all", "/head/0/5", "/tail/0/0"):
        html = client.get(f"/pools/evil/evaluation/questions{page}").content.decode()
        assert "<script>alert" not in html and escape(EVIL) in html


@pytest.mark.parametrize("count", [1, 3])
def test_queries_of_the_list_do_not_grow(sign_in, labelled: Pool, count, django_assert_num_queries, monkeypatch):
    monkeypatch.setattr("evaluation.views.browse.PAGE", count)
    client = sign_in("researcher")
    client.get(LIST)
    with django_assert_num_queries(11):
        assert len(listed(client.get(LIST).content.decode())) == count


def test_queries_of_one_question_do_not_grow(sign_in, labelled: Pool, busiest, django_assert_num_queries):
    client = sign_in("researcher")
    quietest = int(pool_states(labelled).counts.sum(axis=1).argmin())
    for question in (busiest, quietest):
        client.get(address(labelled, question))
        with django_assert_num_queries(16):
            client.get(address(labelled, question))
