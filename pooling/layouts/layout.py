"""Define what a layout finds in a source: triples by split, what is known of entities, and what it did not read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pooling.enums import Split
from pooling.graphs.source_data import SideTable


@dataclass(frozen=True)
class LayoutOptions:
    """Set what cannot be told from the files; everything has a usual value."""

    folder: str = ""  # of the splits, where a source has several
    separator: str = ""  # by name, as in tables.SEPARATORS
    columns: str = ""  # order of head, relation, tail, as "hrt" or "htr"
    header: str = ""  # of tables of triples: "yes", "no", or "" to find out
    ignore_time: bool = False  # leave out the time of quadruples
    drop_qualifiers: bool = False  # leave out what stands after the triple of a statement
    shares: tuple[float, float] = (0.05, 0.05)  # of valid and test, where there are no splits
    seed: int = 0  # of the splits
    link_pattern: str = ""  # makes links of entities that have none; {id} is where the id goes


ADVISED = ("ignore_time", "drop_qualifiers", "columns", "folder", "separator", "header")  # options in messages


def with_names(message: str, names: Mapping[str, str]) -> str:
    """Return a message with the names that a page or the API has for the command's options; `names` by option."""
    for option, name in names.items():
        message = message.replace(f"--{option.replace('_', '-')}", name)
    return message


@dataclass(frozen=True)
class Triples:
    """Hold the triples of one file as names, [h, r, t] each, with the line of each in the file (none where drawn)."""

    file: str
    rows: list[tuple[str, str, str]]
    lines: Sequence[int] = ()
    form: str = ""  # how the file was read, for people


@dataclass
class Found:
    """Hold what a layout found. `used`: the files that were read; warnings are sentences."""

    layout: str
    splits: Mapping[Split, Triples]  # TRAIN alone where there are no splits
    labels: SideTable | None = None
    types: SideTable | None = None
    domain_range: SideTable | None = None
    templates: SideTable | None = None
    relation_labels: SideTable | None = None
    descriptions: SideTable | None = None
    aliases: SideTable | None = None
    links: SideTable | None = None
    used: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
