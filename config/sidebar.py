"""The sidebar of a pool and of a graph: seven entries, each with its pages, and which of them is open.

A page that is not listed belongs to the nearest page above it in config/pages.py that is.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from annotation.enums import ItemState
from config.pages import PAGES, way_up
from core.people.roles import Person, Right, has_right


class Item(NamedTuple):
    """A link of the sidebar. Its address gets the name of the pool, or of the pool's graph."""

    url_name: str
    right: Right = Right.EVALUATE
    of_graph: bool = False
    analysis: str = ""  # key of the analysis that the page shows
    query: str = ""
    counted: str = ""  # name of the count beside it: see evaluation/views/frame.py
    own_label: str = ""  # of an analysis, its title; of a page that is headed by a name, what it shows
    title: str = ""  # shown on hover, of an item that does more than its label says
    after_opening: bool = False  # before its campaign is open, it leads to where that is opened

    @property
    def label(self) -> str:
        """Return the words of the link: those of the page's heading, from config/pages.py."""
        return self.own_label or str(PAGES[self.url_name].crumb)

    @property
    def page(self) -> str:
        """Return its key in KEYWORDS of config/pages.py."""
        return self.url_name + (f"/{self.analysis}" if self.analysis else f"?{self.query}" if self.query else "")

    def url(self, pool: Any, graph: Any) -> str:
        """Return its address for a pool (pooling.models.Pool) and its graph; pool is None on pages of a graph."""
        if self.url_name == "papers":
            return f"{reverse('papers')}?{urlencode({'pool': pool.name})}"
        # a pool's links to its graph name the pool, so that its sidebar stays
        query = urlencode({"pool": pool.name}) if self.of_graph and pool is not None else self.query
        url = reverse(self.url_name, args=[graph.name if self.of_graph else pool.name, *filter(None, [self.analysis])])
        return f"{url}?{query}" if query else url


class Group(NamedTuple):
    """Items below a small heading, which may be empty."""

    label: str
    items: tuple[Item, ...]


class Entry(NamedTuple):
    """One of the seven entries: a link if it has one item, otherwise a list that opens."""

    key: str
    label: str
    groups: tuple[Group, ...]


def _entry(key: str, label: str, *items: Item) -> Entry:
    return Entry(key, label, (Group("", items),))


def _results() -> Iterator[Group]:
    """Yield the five groups of Results: the analyses of each in the order of the registry, then other pages."""
    from evaluation.pages.registry import by_group  # it takes long to import, and commands need no sidebar

    first = {"Ranking": [Item("evaluation")]}
    last = {
        "Ranking": [Item("evaluation-questions"), Item("evaluation-triples")],
        "Coverage": [Item("evaluation-labels")],
    }
    for group, analyses in by_group().items():
        members = [Item("analysis", analysis=one.key, own_label=one.title) for one in analyses]
        yield Group(group, (*first.get(group, ()), *members, *last.get(group, ())))
    yield Group("Papers", (Item("evaluation-report"), Item("papers")))


GRAPH_ITEMS = (
    Item("graph", of_graph=True, own_label="Graph"),
    Item("systems", of_graph=True),
    Item("systems-compare", of_graph=True),
    Item("runs", of_graph=True),
)
_BEFORE_RESULTS = (
    _entry("overview", "Overview", Item("pool", own_label="Overview")),
    _entry(
        "data",
        "Data",
        *GRAPH_ITEMS,
        Item("pool-triples"),
        Item("pool-seeds"),
        Item("pool-overlap"),
        Item("pool-growth"),
        Item("pool-filter"),
    ),
    _entry(
        "setup",
        "Setup",
        Item("pool-questions"),
        Item("campaign-sources", Right.MANAGE),
        Item("campaign-guidelines", Right.MANAGE),
        Item("campaign-people", Right.MANAGE),
        Item("campaign-rules", Right.MANAGE),
        Item("campaign-order", Right.MANAGE, after_opening=True),
    ),
    _entry(
        "work",
        "Work",
        Item("campaign"),
        Item("campaign-triples", Right.MANAGE, after_opening=True),
        Item("inbox", Right.MANAGE, counted="inbox", after_opening=True),
        Item(
            "campaign-triples",
            Right.MANAGE,
            query=f"state={ItemState.DISPUTED}",
            counted="disputes",
            own_label="Disputes",
            after_opening=True,
        ),
    ),
    _entry(
        "quality",
        "Quality",
        Item("quality", after_opening=True),
        Item("annotators", Right.MANAGE, after_opening=True),
        Item("checks", Right.MANAGE, after_opening=True),
    ),
)
_EXPORT = _entry("export", "Export", Item("export", title="Freeze qrels and export"))


@cache
def pool_entries() -> tuple[Entry, ...]:
    """Return the seven entries of a pool."""
    return (*_BEFORE_RESULTS, Entry("results", "Results", tuple(_results())), _EXPORT)


GRAPH: tuple[Entry, ...] = (_entry("data", "Data", *GRAPH_ITEMS),)


class Link(NamedTuple):
    label: str
    url: str
    current: bool
    counted: str
    title: str
    is_later: bool  # it is of no use before the campaign is open


class OpenGroup(NamedTuple):
    """A group as it is shown: it folds if it has a heading, and one of an entry is open."""

    label: str
    links: list[Link]
    is_open: bool


class OpenEntry(NamedTuple):
    """An entry as it is shown; `url` is that of its first page."""

    key: str
    label: str
    url: str
    current: bool
    is_link: bool
    groups: list[OpenGroup]

    @property
    def counted(self) -> list[Link]:
        """Return its pages with a count beside them."""
        return [link for group in self.groups for link in group.links if link.counted]


def entries_of(
    entries: Iterable[Entry],
    person: Person,
    page: str,
    kwargs: Mapping[str, Any],
    query: str,
    *,
    pool: Any,
    graph: Any,
    is_open: bool = True,
) -> list[OpenEntry]:
    """Return the entries that a person may open, with the one that `page` (a key of PAGES) belongs to open.

    `kwargs` are those of the page's address and `query` what follows "?". pool: pooling.models.Pool, or None if the
    pages are those of a graph. `is_open`: its campaign was opened.
    """

    def permitted(group: Group) -> list[Item]:
        return [item for item in group.items if has_right(person, item.right)]

    def link(item: Item) -> Link:
        is_later = item.after_opening and not is_open
        return Link(item.label, item.url(pool, graph), item is here, item.counted, item.title, is_later)

    allowed = [(entry, [(group.label, permitted(group)) for group in entry.groups]) for entry in entries]
    every = [item for _, groups in allowed for _, items in groups for item in items]
    here = _here(page, str(kwargs.get("key", "")), query, every)
    shown = []
    for entry, permitted_groups in allowed:
        links = [(label, [link(item) for item in items]) for label, items in permitted_groups if items]
        flat = [link for _, group in links for link in group]
        if flat:
            at = next((i for i, (_, group) in enumerate(links) if any(link.current for link in group)), None)
            groups = [OpenGroup(label, group, i == (at or 0)) for i, (label, group) in enumerate(links)]
            shown.append(OpenEntry(entry.key, entry.label, flat[0].url, at is not None, len(flat) == 1, groups))
    return shown


def _here(page: str, key: str, query: str, items: list[Item]) -> Item | None:
    """Return the item that a page belongs to: its own, or that of the nearest page above."""
    for above in way_up("papers" if key.startswith("paper-") else page):
        found = [item for item in items if item.url_name == above and item.analysis in ("", key)]
        exact = [item for item in found if item.query and item.query in query]
        if found:
            return (exact or [item for item in found if not item.query] or found)[0]
    return None
