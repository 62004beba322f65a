"""Search the site: pages, pools, graphs, systems, people, help, and the relations and entities of graphs."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse
from django.utils.http import urlencode

from config.pages import PAGES
from config.sidebar import pool_entries
from core.people.roles import Right, can_manage, has_right
from evaluation.browse.ranked import SHORT, Found, Hit, Typed, best_of, help_hits
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import OPEN_GRAPHS, open_graph
from pooling.graphs.source_data import GraphError
from pooling.models import Graph, Pool, System
from pooling.pools.filtering import has_campaign
from pooling.questions.relation_names import relation_words
from pooling.systems.shown_names import shown_name

MOST_POOLS = 200  # whose pages are found outside a pool, the newest first
MOST_ROWS = 50  # of a table, of which the best are shown
STATEMENT = 3  # words of a text that may be a statement
MOST_ENTITIES = 500_000  # read outside a pool; within one, those of its graph are read whatever their number
SITE_PAGES = (  # config/pages.py has their words
    ("pools", Right.EVALUATE),
    ("pool-new", Right.MANAGE),
    ("test-set-import", Right.MANAGE),
    ("graphs", Right.EVALUATE),
    ("graph-import", Right.MANAGE),
    ("systems-all", Right.EVALUATE),
    ("people", Right.MANAGE),
    ("audit", Right.MANAGE),
    ("jobs", Right.MANAGE),
    ("papers", Right.EVALUATE),
    ("open-world", Right.EVALUATE),
    ("open-world-studies", Right.EVALUATE),
    ("api-docs", Right.EVALUATE),
    ("account-tokens", Right.EVALUATE),
    ("account", Right.EVALUATE),
    ("account-password", Right.EVALUATE),
)


def search_site(text: str, person: User, pool: Pool | None) -> list[Found]:
    """Return what a person may open and that fits what is typed, by kind, the best first.

    Within a pool, these are its pages, those of another pool if its name is typed, and the relations and entities of
    its graph; outside, those of all pools. An empty text finds the pages of the pool and of the site.
    """
    found = _found(Typed(text), person, pool) or _near(Typed(text, near=True), person, pool)
    if pool and len(text.split()) >= STATEMENT and can_manage(person) and has_campaign(pool):
        found.append(_statement(text, pool))
    return found


def _statement(text: str, pool: Pool) -> Found:
    """Return the hit of a text that may be a statement: the items whose two entities it names."""
    address = f"{reverse('campaign-triples', args=[pool.name])}?{urlencode({'q': text})}"
    return Found("Statement", [Hit("Items that this statement names", f"items of {pool.name}", address, 3)])


def _near(typed: Typed, person: User, pool: Pool | None) -> list[Found]:
    """Return pages and help that hold some of the words."""
    pools = [pool] if pool else list(Pool.objects.select_related("graph").order_by("archived", "-pk")[:1])
    pages = (*_pool_pages(typed, person, pools), *_site_pages(typed, person))
    return best_of(
        [("Pages with some of these words", pages), ("Help with some of these words", help_hits(typed, evaluator=True))]
    )


def _found(typed: Typed, person: User, pool: Pool | None) -> list[Found]:
    pools = list(Pool.objects.select_related("graph").order_by("archived", "-pk")[:MOST_POOLS])
    graphs = _graphs_of([pool] if pool else pools) if typed.words else []
    named = list(_named_entities(typed, graphs))
    own = _pool_pages(typed, person, [pool]) if pool else iter(())
    others = [one for one in pools if one != pool and _is_named(typed, one)]
    return best_of(
        [
            ("Pages", (*own, *_site_pages(typed, person))),
            ("Pages of pools", _pool_pages(typed, person, pools) if typed.words and not pool else ()),
            ("Pages of other pools", _pool_pages(typed, person, others) if pool else ()),
            ("Pools", _pools(typed, pools)),
            ("Graphs", _graphs(typed)),
            ("Systems", _systems(typed)),
            ("People", _people(typed) if can_manage(person) else ()),
            ("Relations", _relations(typed, graphs)),
            ("Entities", _entities(named)),
            ("Items", _items(named) if named and pool and can_manage(person) and has_campaign(pool) else ()),
            ("Help", help_hits(typed, evaluator=True) if typed.words else ()),
        ]
    )


def _is_named(typed: Typed, pool: Pool) -> bool:
    """Say whether a word is the name of a pool, or how its name begins."""
    return any(len(word) >= SHORT and pool.name.casefold().startswith(word) for word in typed.words)


def _pool_pages(typed: Typed, person: User, pools: Iterable[Pool]) -> Iterator[Hit]:
    for entry in pool_entries():
        for group in entry.groups:
            for item in group.items:
                if has_right(person, item.right):
                    for pool in pools:
                        about = " · ".join(filter(None, (pool.name, item.title or entry.label, group.label)))
                        yield from typed.page(item.page, item.label, about, partial(item.url, pool, pool.graph))


def _site_pages(typed: Typed, person: User) -> Iterator[Hit]:
    for name, right in SITE_PAGES:
        if has_right(person, right):
            yield from typed.page(name, str(PAGES[name].title or PAGES[name].crumb), "", reverse(name))


def _named(typed: Typed, *fields: str) -> Q:
    """Return the condition that each word is in one of the fields."""
    every = Q()
    for word in typed.words:
        one = Q()
        for field in fields:
            one |= Q(**{f"{field}__icontains": word})
        every &= one
    return every


def _pools(typed: Typed, pools: Iterable[Pool]) -> Iterator[Hit]:
    for pool in pools:
        yield from typed.hits(pool.name, f"on {pool.graph.name}", reverse("pool", args=[pool.name]))


def _graphs(typed: Typed) -> Iterator[Hit]:
    for graph in Graph.objects.filter(_named(typed, "name")).order_by("archived", "name")[:MOST_ROWS]:
        yield from typed.hits(graph.name, f"{graph.num_train:,} train triples", reverse("graph", args=[graph.name]))


def _systems(typed: Typed) -> Iterator[Hit]:
    if typed.words:
        found = System.objects.select_related("graph").filter(_named(typed, "name")).order_by("graph__name", "name")
        for system in found[:MOST_ROWS]:
            url = reverse("system", args=[system.graph.name, system.name])
            shown, own = shown_name(system.name), system.name
            yield from typed.hits(shown, f"on {system.graph.name}", url, keywords=own if own != shown else "")


def _people(typed: Typed) -> Iterator[Hit]:
    if typed.words:
        for person in User.objects.filter(_named(typed, "username", "email")).order_by("username")[:MOST_ROWS]:
            yield from typed.hits(person.username, person.email, reverse("person", args=[person.pk]))


def _graphs_of(pools: list[Pool]) -> list[tuple[Pool, GraphArrays]]:
    """Return graphs, each with the newest of its pools; a graph whose files cannot be read is left out."""
    newest: dict[int, Pool] = {}
    for pool in pools:
        newest.setdefault(pool.graph_id, pool)
    opened: list[tuple[Pool, GraphArrays]] = []
    left = MOST_ENTITIES
    for pool in newest.values():
        if len(pools) > 1 and (pool.graph.num_entities > left or len(opened) == OPEN_GRAPHS):
            continue
        left -= pool.graph.num_entities
        try:
            opened.append((pool, open_graph(pool.graph)))
        except GraphError:
            continue  # its page says what is wrong
    return opened


def _triples(pool: Pool, **query: str | int) -> str:
    return f"{reverse('evaluation-triples', args=[pool.name])}?{urlencode(query)}"


def _relations(typed: Typed, graphs: Iterable[tuple[Pool, GraphArrays]]) -> Iterator[Hit]:
    for pool, graph in graphs:
        for index, key in enumerate(graph.relations):
            name = graph.relation_name(index)
            words = relation_words(name)
            if (rank := typed.rank(words, name, key)) is not None:
                about = f"triples of {pool.name}" if words == key else f"{key} · triples of {pool.name}"
                yield Hit(words, about, _triples(pool, relation=index), rank)


class Named(NamedTuple):
    """An entity that fits what is typed."""

    pool: Pool
    label: str
    key: str  # with a dot behind it; empty where it is the label
    rank: int


def _named_entities(typed: Typed, graphs: Iterable[tuple[Pool, GraphArrays]]) -> Iterator[Named]:
    for pool, graph in graphs:
        for index, key in enumerate(graph.entities):
            label = graph.label(index)
            if (rank := typed.rank(label, key)) is not None:
                yield Named(pool, label, "" if label == key else f"{key} · ", rank)


def _entities(named: Iterable[Named]) -> Iterator[Hit]:
    for pool, label, key, rank in named:
        yield Hit(label, f"{key}triples of {pool.name}", _triples(pool, q=label), rank)


def _items(named: Iterable[Named]) -> Iterator[Hit]:
    """Yield where the items are that name an entity."""
    for pool, label, key, rank in named:
        address = f"{reverse('campaign-triples', args=[pool.name])}?{urlencode({'q': label})}"
        yield Hit(label, f"{key}items of {pool.name}", address, rank)
