"""The search over triples, and the page of one: who sees which names."""

from __future__ import annotations

import re

import pytest
from django.utils.html import escape

from annotation.labelling.queue import claim_disputed
from evaluation.browse.pool_states import TripleState, pool_states
from evaluation.browse.search import TripleFilter, find_triples
from evaluation.browse.triple import BY_ADJUDICATOR
from evaluation.labels.pool_table import pool_table
from pooling.models import Pool
from pooling.pools.kernels.filters import reason_label
from pooling.systems.shown_names import shown_name
from tests.annotation.factories import LINK, World, answer, label_item, make_world, windows_closed
from tests.page import element, refusal
from tests.pages.world import EVIL, make_graph, make_pool

LIST = "/pools/p/evaluation/triples"


@pytest.fixture
def world(db, tmp_path) -> World:
    return make_world(tmp_path / "tsv")


@pytest.fixture
def disputed(world: World) -> str:
    """Address of a triple that ann and ben answered differently, and ada decided."""
    item = world.campaign.items.order_by("order").first()
    label_item(world, item, ann="Y", ben="N")
    windows_closed(item)
    answer(world.ada, claim_disputed(world.campaign, world.ada)[0], "N", comment="seen <b>twice</b>")
    triple = item.triple
    return f"/pools/p1/evaluation/triples/{triple.head}/{triple.relation}/{triple.tail}"


def page_for(client, person, url: str) -> str:
    client.force_login(person, backend="config.sign_in.Accounts")
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def listed(html: str) -> list[tuple[int, ...]]:
    found = re.findall(r'<td><a href="/pools/p/evaluation/triples/(\d+)/(\d+)/(\d+)"', html)
    return [tuple(map(int, one)) for one in found]


def rows(html: str, heading: str) -> list[list[str]]:
    part = html.split(f">{heading}</h2>")[1].split("</section>")[0].split("<tbody>")[1]
    return [
        [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr.*?</tr>", part, re.DOTALL)
    ]


@pytest.mark.parametrize(
    ("role", "status"),
    [
        ("manager", 200), ("researcher", 200), ("annotator", 403), ("adjudicator", 403), ("guest", 403),
        ("stranger", 302),
    ],
)  # fmt: skip
def test_who_may_see_triples(sign_in, labelled: Pool, role, status):
    client, triple = sign_in(role), labelled.triples.first()
    for url in (LIST, f"{LIST}/{triple.head}/{triple.relation}/{triple.tail}"):
        response = client.get(url)
        assert response.status_code == status
        if status == 403:
            assert "transe" not in response.content.decode()


def test_the_search_finds_what_was_asked_for(sign_in, labelled: Pool):
    client, states = sign_in("researcher"), pool_states(labelled)
    for query, wanted in (
        ({"page": "2"}, TripleFilter()),
        ({"state": "negative", "by": "people"}, TripleFilter(state="negative", judged_by="people")),
        ({"q": "seventh", "system": "transe"}, TripleFilter(text="seventh", system="transe")),
        ({"reason": "types", "relation": "0"}, TripleFilter(reason="types", relation=0)),
        ({"state": "x", "system": "y", "by": "z"}, TripleFilter()),
    ):
        places = find_triples(labelled, states, wanted)
        page = slice(50, 100) if "page" in query else slice(0, 50)
        html = client.get(LIST, query).content.decode()
        assert listed(html) == [tuple(states.contents.triples[p].tolist()) for p in places[page]] != []
        assert f"{len(places)} triple" in html
    assert "No triple matches." in client.get(LIST, {"q": "nobody at all"}).content.decode()


def test_managers_see_names_and_comments_and_the_item(world: World, client, disputed):
    html = page_for(client, world.manager, disputed)
    assert [row[:5] for row in rows(html, "Labels")] == [
        ["ann", "annotator", "yes", "yes", f"{LINK} because"],
        ["ben", "annotator", "no", "yes", f"{LINK} because"],
        ["ada", "adjudicator", "no", "yes", f"{LINK} seen &lt;b&gt;twice&lt;/b&gt;"],
    ]
    item = world.campaign.items.order_by("order").first()
    assert f'href="/pools/p1/campaign/triples/{item.pk}"' in html
    assert element(html, "settled").text == BY_ADJUDICATOR
    assert [element(html, "problem").text] == refusal(lambda: pool_table(world.pool))


def test_researchers_see_numbers_and_no_comment(world: World, client, disputed):
    html = page_for(client, world.researcher, disputed)
    assert [row[:5] for row in rows(html, "Labels")] == [
        ["annotator 1", "annotator", "yes", "yes", LINK],
        ["annotator 2", "annotator", "no", "yes", LINK],
        ["annotator 3", "adjudicator", "no", "yes", LINK],
    ]
    main = html.split('<main id="main"')[1]
    for hidden in (">ann<", ">ben<", ">ada<", "because", "twice", "/campaign/triples/"):
        assert hidden not in main
    assert 'rel="noopener noreferrer nofollow"' in main
    assert not re.search(r"\d\d:\d\d", main)  # the hour at which somebody worked


def test_imported_names_are_for_managers_only(world: World, client):
    triple = world.pool.triples.get(reason="types")
    triple.imported_labels.create(
        answer="N", annotator="zoe <i>", source_url=LINK, file_name="f.tsv", file_sha256="0" * 64, line=7
    )
    url = f"/pools/p1/evaluation/triples/{triple.head}/{triple.relation}/{triple.tail}"
    assert rows(page_for(client, world.manager, url), "Labels made elsewhere") == [
        ["zoe &lt;i&gt;", "no", LINK, "f.tsv, line 7"]
    ]
    html = page_for(client, world.researcher, url)
    assert rows(html, "Labels made elsewhere") == [["no", LINK, "f.tsv, line 7"]] and "zoe &lt;" not in html


def test_the_page_tells_finders_filter_and_positions(sign_in, labelled: Pool):
    triple = labelled.triples.filter(reason="types").order_by("-id")[0]
    url = f"{LIST}/{triple.head}/{triple.relation}/{triple.tail}"
    html = sign_in("researcher").get(url).content.decode()
    assert element(html, "filter").text.startswith(reason_label("types").capitalize())
    found = rows(html, "Found by")
    assert found and all(row[0] in map(shown_name, labelled.contributors) for row in found)
    assert min(int(row[2]) for row in found) == triple.depth
    positions = rows(html, "Positions now")
    assert [row[0] for row in positions] == ["TransE", "DistMult", "ComplEx"]
    assert all(re.fullmatch(r"\d+( \[\d+–\d+\])?", cell) for row in positions for cell in row[1:])
    for side, entity in (("tail", triple.head), ("head", triple.tail)):
        assert f'href="/pools/p/evaluation/questions/{side}/{triple.relation}/{entity}"' in html


def test_a_known_fact_is_no_candidate(sign_in, labelled: Pool):
    h, r, t = pool_states(labelled).contents.graph.train[0].tolist()
    html = sign_in("researcher").get(f"{LIST}/{h}/{r}/{t}").content.decode()
    assert "train" in element(html, "known").text and TripleState.NOT_POOLED.label in html


@pytest.mark.parametrize("path", ["0/0/99999", "99999/0/0", "0/99/0", "0/0/9999999999999999999999"])
def test_a_triple_of_no_entity_is_404(sign_in, path):
    assert sign_in("manager").get(f"{LIST}/{path}").status_code == 404


def test_names_of_a_graph_are_text(sign_in, labelled: Pool, tmp_path):
    make_pool(make_graph(tmp_path / "evil", "evil"), "evil")
    client = sign_in("researcher")
    for page in ("", "/0/0/5", "/5/1/1"):
        html = client.get(f"/pools/evil/evaluation/triples{page}").content.decode()
        assert "<script>alert" not in html and escape(EVIL) in html


def test_queries_of_the_search_do_not_grow(sign_in, labelled: Pool, django_assert_num_queries):
    client, query = sign_in("researcher"), {"q": "seventh"}
    few, many = (len(listed(client.get(LIST, query).content.decode())), len(listed(client.get(LIST).content.decode())))
    assert 3 < few < many == 50
    for asked in (query, {}):
        with django_assert_num_queries(7):
            client.get(LIST, asked)


def test_queries_of_one_triple_are_few(world: World, client, disputed, django_assert_num_queries):
    page_for(client, world.manager, disputed)
    other = world.campaign.items.order_by("order").last().triple
    for url in (disputed, f"/pools/p1/evaluation/triples/{other.head}/{other.relation}/{other.tail}"):
        client.get(url)
        with django_assert_num_queries(26):
            client.get(url)
