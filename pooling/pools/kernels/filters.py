"""The registry of filters: rules on arrays that turn trivial pooled triples into assumed negatives.

To add one, append a row to FILTERS; its rule may be in a file of its own. After Zhou et al. (2022), section 3.1: a
triple is trivial when any question that found it is. Known and repeated triples have no rule: see ALWAYS.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pooling.pools.kernels.filter_base import Filter, FilterInput, Flags, Typed


def one_answer(found: FilterInput, by: Flags, categories: Sequence[str]) -> Flags:
    """Take what `by`, questions of one side, found of relations where such a question has one, known answer."""
    return by & np.isin(np.asarray(found.category), categories)[found.triples[:, 1]]


def inconsistent(found: FilterInput, typed: Typed) -> Flags:
    """Take triples whose head has types without the relation's domain, or whose tail has some without its range.

    An entity without types, or a relation without a declared domain or range, is never filtered.
    """
    domain, range_, number = found.wanted
    bad = np.zeros(len(found.triples), dtype=bool)
    for column, wanted in ((0, domain), (2, range_)):
        entity, type_ = found.triples[:, column], wanted[found.triples[:, 1]]
        lacks = ~np.isin(entity.astype(np.int64) * len(number) + type_, typed.keys)
        bad |= lacks & typed.has[entity] & (type_ >= 0)
    return bad


def self_answer(found: FilterInput) -> Flags:
    """Take triples that relate an entity to itself, where no training triple of the relation does."""
    loops = found.train[found.train[:, 0] == found.train[:, 2], 1]
    same = found.triples[:, 0] == found.triples[:, 2]
    return same & ~np.isin(found.triples[:, 1], loops)


TYPES = "types"
FILTERS: dict[str, Filter] = {
    f.name: f
    for f in (
        Filter(
            "category-head",
            "head question of a 1-1 or 1-N relation",
            "A head question of such a relation has one answer, and the seed triple already contains it.",
            lambda found: one_answer(found, found.by_head, ["1-1", "1-N"]),
        ),
        Filter(
            "category-tail",
            "tail question of a 1-1 or N-1 relation",
            "A tail question of such a relation has one answer, and the seed triple already contains it.",
            lambda found: one_answer(found, found.by_tail, ["1-1", "N-1"]),
        ),
        Filter(
            TYPES,
            "entity type not consistent with the relation",
            "The head's declared types lack the relation's domain, or the tail's declared types lack its range.",
            lambda found: inconsistent(found, found.declared),
        ),
        Filter(
            "types-entailed",
            "type entailed from train not consistent with the relation",
            "Train entails types for an entity: the domain of each relation with this entity as head, and the range "
            "of each relation with it as tail. The filter removes a triple if the head's entailed types lack the "
            "relation's domain, or the tail's lack its range. It also removes new kinds of facts about an entity: on "
            "the published pool of FB15k-237, 168 of the 1,844 judged triples that it would remove are positive.",
            lambda found: inconsistent(found, found.entailed),
        ),
        Filter(
            "types-both",
            "neither declared nor entailed type consistent with the relation",
            "The filter removes a triple if neither the declared nor the entailed types of the head contain the "
            "relation's domain, or if neither of the tail contain its range.",
            lambda found: inconsistent(found, found.either),
        ),
        Filter(
            "self-answer",
            "head and tail are the same entity",
            "The triple relates an entity to itself, and no training triple of its relation does. If one does, the "
            "filter leaves the relation alone. On the published pool of FB15k-237, 5 of the 303 judged triples that "
            "this filter would remove are positive.",
            self_answer,
        ),
    )
}


FILTER_CHOICES = [(rule.name, rule.label) for rule in FILTERS.values()]
REASONS = ("", *FILTERS)  # of pooled triples; a triple without a reason is for people


def reason_label(reason: str) -> str:
    """Return the words for the reason of a pooled triple."""
    return FILTERS[reason].label if reason else "to people"


class Always(NamedTuple):
    """What no pool holds, and why that cannot be switched off."""

    name: str
    label: str
    description: str


# They leave a candidate out, or merge two findings: neither makes an assumed negative, so neither is a reason.
ALWAYS = {
    rule.name: rule
    for rule in (
        Always(
            "known",
            "known triples",
            "A fact of train, valid or an unsampled test triple is true. It is not a candidate, so the next candidate "
            "takes its place. You cannot switch this off. As an assumed negative, a fact would count as wrong. Given "
            "to people, it would cost labels that no measure can use, because a fact has no rank among the candidates.",
        ),
        Always(
            "duplicates",
            "duplicates",
            "A triple that several systems found, or that both of its questions found, is one pooled triple with "
            "several findings. You cannot switch this off, because people would judge the same triple twice.",
        ),
    )
}
# The filters of a pool unless others are chosen; those left out take many facts too, see their descriptions.
DEFAULT_FILTERS = ("category-head", "category-tail", "types", "self-answer")
# names that stand for several filters
GROUPS = {"category": ("category-head", "category-tail"), "none": ()}
DEFAULT_TEXT = "category,types,self-answer"  # DEFAULT_FILTERS as a command takes them
FILTERS_HELP = f"filters, comma-separated: {', '.join(FILTERS)}; category (both category filters); or none"


def parse_filters(text: str) -> list[str]:
    """Read names of filters such as `category,types`; ValueError names those that exist, or says what has no switch."""
    names: list[str] = []
    for word in (w.strip() for w in text.split(",") if w.strip()):
        if word in ALWAYS:
            raise ValueError(
                f"{word!r} has no switch, since {ALWAYS[word].label} are always left out: leave the word out"
            )
        if word not in FILTERS and word not in GROUPS:
            known = ", ".join([*FILTERS, *GROUPS])
            raise ValueError(f"unknown filter {word!r}: the known filters are {known}")
        names += GROUPS.get(word, (word,))
    return list(dict.fromkeys(names))


def apply_filters(found: FilterInput, names: Sequence[str]) -> np.ndarray:
    """Return the name of the first filter that takes each triple, '' where none does; str[n]."""
    reason = np.full(len(found.triples), "", dtype=object)
    for name in names:
        reason[(reason == "") & FILTERS[name].rule(found)] = name
    return reason
