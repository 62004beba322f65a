"""Search the site: pages, pools, graphs, systems, people, help, and the relations and entities of a pool's graph."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse

from config.pages import PAGES
from config.sidebar import pool_entries
from core.people.roles import Right, can_manage, has_right
from evaluation.sections.help_pages import listed_for
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool, System

MOST = 6  # of a group
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
)


class Hit(NamedTuple):
    label: str
    about: str
    url: str


class Found(NamedTuple):
    """Hits of one kind, at most MOST."""

    kind: str
    hits: list[Hit]


def search_site(text: str, person: User, pool: Pool | None) -> list[Found]:
    """Return what a person may open whose name holds all words of `text`, by kind; kinds without a hit are left out.

    An empty text finds the pages of the pool and of the site. Relations and entities are those of the pool's graph.
    """
    words = text.casefold().split()

    def fits(*names: str) -> bool:
        whole = " ".join(names).casefold()
        return all(word in whole for word in words)

    kinds: list[tuple[str, Iterable[Hit]]] = [
        ("Pages", _pages(person, pool, fits)),
        ("Pools", _pools(words)),
        ("Graphs", _graphs(words)),
        ("Systems", _systems(words)),
        ("People", _people(words) if can_manage(person) else ()),
        ("Relations", _relations(pool, fits) if words and pool else ()),
        ("Entities", _entities(pool, fits) if words and pool else ()),
        ("Help", _help(fits) if words else ()),
    ]
    found = [Found(kind, list(islice(hits, MOST))) for kind, hits in kinds]
    return [one for one in found if one.hits]


def _pages(person: User, pool: Pool | None, fits: Callable[..., bool]) -> Iterator[Hit]:
    if pool is not None:
        for entry in pool_entries():
            for group in entry.groups:
                for item in group.items:
                    about = " · ".join(filter(None, (pool.name, entry.label, group.label)))
                    if has_right(person, item.right) and fits(item.label, about):
                        yield Hit(item.label, about, item.url(pool, pool.graph))
    for name, right in SITE_PAGES:
        label = str(PAGES[name].title or PAGES[name].crumb)
        if has_right(person, right) and fits(label):
            yield Hit(label, "", reverse(name))


def _named(words: list[str], *fields: str) -> Q:
    """Return the condition that each word is in one of the fields."""
    every = Q()
    for word in words:
        one = Q()
        for field in fields:
            one |= Q(**{f"{field}__icontains": word})
        every &= one
    return every


def _pools(words: list[str]) -> Iterator[Hit]:
    for pool in Pool.objects.select_related("graph").filter(_named(words, "name")).order_by("archived", "-pk")[:MOST]:
        yield Hit(pool.name, f"on {pool.graph.name}", reverse("pool", args=[pool.name]))


def _graphs(words: list[str]) -> Iterator[Hit]:
    for graph in Graph.objects.filter(_named(words, "name")).order_by("archived", "name")[:MOST]:
        yield Hit(graph.name, f"{graph.num_train:,} train triples", reverse("graph", args=[graph.name]))


def _systems(words: list[str]) -> Iterator[Hit]:
    if not words:
        return
    found = System.objects.select_related("graph").filter(_named(words, "name")).order_by("graph__name", "name")
    for system in found[:MOST]:
        yield Hit(system.name, f"on {system.graph.name}", reverse("system", args=[system.graph.name, system.name]))


def _people(words: list[str]) -> Iterator[Hit]:
    if not words:
        return
    for person in User.objects.filter(_named(words, "username", "email")).order_by("username")[:MOST]:
        yield Hit(person.username, person.email, reverse("person", args=[person.pk]))


def _relations(pool: Pool, fits: Callable[..., bool]) -> Iterator[Hit]:
    graph, triples = open_graph(pool.graph), reverse("evaluation-triples", args=[pool.name])
    for index, key in enumerate(graph.relations):
        if fits(graph.relation_name(index), key):
            yield Hit(
                graph.relation_name(index), f"triples of {pool.name}", f"{triples}?{urlencode({'relation': index})}"
            )


def _entities(pool: Pool, fits: Callable[..., bool]) -> Iterator[Hit]:
    graph, triples = open_graph(pool.graph), reverse("evaluation-triples", args=[pool.name])
    for index, key in enumerate(graph.entities):
        if fits(graph.label(index), key):
            label = graph.label(index)
            yield Hit(label, "" if label == key else key, f"{triples}?{urlencode({'q': label})}")


def _help(fits: Callable[..., bool]) -> Iterator[Hit]:
    for pages in listed_for(evaluator=True).values():
        for page in pages:
            if fits(page.label, page.about):
                yield Hit(page.label, page.about, reverse("help-page", args=[page.name]))
