"""Hold what is known of entities beside their labels: descriptions, aliases and links; check links as text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import numpy as np
import numpy.typing as npt
import pyarrow as pa

MAX_LINK = 2000  # characters
PLACE = "{id}"  # where a link pattern takes the id of an entity
_ODD = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


class EntityText(NamedTuple):
    """Hold what is known of one entity; empty where the source said nothing."""

    description: str = ""
    aliases: tuple[str, ...] = ()
    link: str = ""  # http or https, checked


@dataclass(frozen=True, eq=False)
class EntityTexts:
    """Hold the texts of a graph's entities; `ids` int32[n], ascending, are those that have a row in `rows`.

    `pattern` makes the link of an entity that has none of its own; "" makes none.
    """

    entities: Sequence[str]  # of all entities, by id
    ids: npt.NDArray[np.int32]
    rows: pa.Table  # n rows: description, aliases, link
    pattern: str = ""

    def __getitem__(self, entity: int) -> EntityText:
        """Return the texts of an entity id."""
        own = self._own(entity)
        return own if own.link or not self.pattern else own._replace(link=link_of(self.pattern, self.entities[entity]))

    def given(self) -> Iterator[tuple[int, EntityText]]:
        """Yield the id and texts of each entity that has some of its own, without links that the pattern makes."""
        return ((entity, self._own(entity)) for entity in self.ids.tolist())

    def _own(self, entity: int) -> EntityText:
        at = int(np.searchsorted(self.ids, entity))
        if at == len(self.ids) or self.ids[at] != entity:
            return EntityText()
        row: dict[str, Any] = self.rows.slice(at, 1).to_pylist()[0]
        return EntityText(row["description"], tuple(row["aliases"]), row["link"])


def texts_table(descriptions: Sequence[str], aliases: Sequence[tuple[str, ...]], links: Sequence[str]) -> pa.Table:
    """Return a row for each entity with a text: id, description, aliases, link. All lists go by entity id."""
    given = [i for i, texts in enumerate(zip(descriptions, aliases, links, strict=True)) if any(texts)]
    columns = {
        "id": pa.array(given, pa.int32()),
        "description": pa.array([descriptions[i] for i in given], pa.string()),
        "aliases": pa.array([list(aliases[i]) for i in given], pa.list_(pa.string())),
        "link": pa.array([links[i] for i in given], pa.string()),
    }
    return pa.table(columns)


def link_of(pattern: str, key: str) -> str:
    """Return the link that a pattern makes of an entity's id; "" where it makes no address."""
    link = key if pattern == PLACE else pattern.replace(PLACE, quote(key, safe="/"))
    return "" if link_problem(link) else link


def link_problem(link: str) -> str:
    """Return why a link cannot be shown to people, as the rest of a sentence; "" if it can. It is never opened."""
    if len(link) > MAX_LINK:
        return f"has {len(link):,} characters, more than {MAX_LINK:,}"
    if _ODD.search(link):
        return "has a space, a backslash or a control character"
    try:
        parts = urlsplit(link)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not a web address"
    if parts.scheme not in ("http", "https"):
        return "does not begin with https:// or http://"
    if "@" in parts.netloc:
        return "has a user name in its host"
    return "" if host else "has no host name"


def pattern_problem(pattern: str) -> str:
    """Return why a link pattern cannot be taken, as the rest of a sentence; "" if it can."""
    if pattern.count(PLACE) != 1:
        return f"needs {PLACE} once, where the id of the entity goes"
    if pattern == PLACE:  # the ids are addresses themselves
        return ""
    if problem := link_problem(pattern.replace(PLACE, "x")):
        return problem
    beside = urlsplit(pattern.replace(PLACE, "x")).netloc == urlsplit(pattern.replace(PLACE, "y")).netloc
    return "" if beside else f"has {PLACE} in its host: put it after the host"
