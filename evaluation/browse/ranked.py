"""Rank what a search finds: how well a name fits what is typed, and the best hits of each kind."""

from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest
from typing import NamedTuple

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import slugify

from config.pages import KEYWORDS
from evaluation.measures.registry import MEASURES
from evaluation.sections.help_pages import glossary_terms, listed_for

MOST = 8  # hits of a kind
SHORT = 3  # letters of a word that says little: who, how, the


class Hit(NamedTuple):
    label: str
    about: str
    url: str
    rank: int  # 0: the best


class Found(NamedTuple):
    """Hits of one kind, the best first, at most MOST."""

    kind: str | Promise
    hits: list[Hit]


class Typed:
    """Hold what is typed. `near`: names fit that hold some of its words, the more the better."""

    def __init__(self, text: str, near: bool = False) -> None:
        self.words = text.casefold().split()
        self.text = " ".join(self.words)
        self.near = near
        if near:
            self.words = [word for word in (word.strip("?!.,") for word in self.words) if len(word) > SHORT]

    def rank(self, *names: str, about: str = "") -> int | None:
        """Return how well names fit, 0 to 3, or None if a word is neither in the names nor in `about`.

        0: a name is what is typed; 1: it begins so; 2: it holds all words; 3: only names and about together do.
        """
        whole = " ".join((*names, about)).casefold()
        if self.near:
            missing = sum(not _holds(whole, word) for word in self.words)
            unnamed = not any(_holds(name.casefold(), word) for name in names for word in self.words)
            return 2 * missing + unnamed if missing < len(self.words) else None
        for word in self.words:  # most names of a graph fail here, so a search in a large one stays quick
            if word not in whole:
                return None
        folded = [name.casefold() for name in names]
        if not self.words or self.text in folded:
            return 0
        if any(name.startswith(self.text) for name in folded):
            return 1
        return 2 if any(all(word in name for word in self.words) for name in folded) else 3

    def hits(self, label: str, about: str, url: str | Callable[[], str], keywords: str = "") -> Iterator[Hit]:
        """Yield the hit of a page or thing that fits; a keyword that fits better than its label is told beside it."""
        ranked = [(self.rank(label, about=about), about), (self.rank(label, about=f"{about} {keywords}"), about)]
        for word in filter(None, keywords.split(", ")):
            ranked.append((self.rank(word, about=about), f"{about} · {word}".lstrip(" ·")))
        fits = [(rank, told) for rank, told in ranked if rank is not None]
        if fits:
            rank, told = min(fits, key=lambda one: one[0])
            yield Hit(label, told, url if isinstance(url, str) else url(), rank)

    def page(self, key: str, label: str, about: str, url: str | Callable[[], str]) -> Iterator[Hit]:
        """Yield the hit of a page if it fits; `key` is that of KEYWORDS."""
        return self.hits(label, about, url, str(KEYWORDS.get(key, "")))


def _holds(whole: str, word: str) -> bool:
    """Say whether a text holds a word, or its singular."""
    return word in whole or (word.endswith("s") and word[:-1] in whole)


def help_hits(typed: Typed, evaluator: bool) -> Iterator[Hit]:
    """Yield what fits of the help: for an evaluator all its pages, terms and measures, else the pages for everybody."""
    for pages in listed_for(evaluator=evaluator).values():
        for page in pages:
            yield from typed.hits(str(page.label), str(page.about), reverse("help-page", args=[page.name]))
    if evaluator:
        yield from _terms(typed)
        yield from _measures(typed)


def _terms(typed: Typed) -> Iterator[Hit]:
    """Yield the words of the glossary that fit, each one behind a page that fits as well."""
    for term in glossary_terms():
        if (rank := typed.rank(*term.names)) is not None:
            address = f"{reverse('help-page', args=['glossary'])}#{term.slug}"
            yield Hit(", ".join(term.names), f"Glossary · {term.about}", address, rank + 1)


def _measures(typed: Typed) -> Iterator[Hit]:
    for measure in MEASURES:
        if (rank := typed.rank(measure.label, measure.name)) is not None:
            address = f"{reverse('help-page', args=['measures'])}#{slugify(measure.label)}"
            yield Hit(measure.label, f"Measure · {measure.formula}", address, rank + 1)


def best_of(kinds: Iterable[tuple[str | Promise, Iterable[Hit]]]) -> list[Found]:
    """Return the best hits of each kind, the kind with the best hit first; kinds without a hit are left out."""
    found = [Found(kind, nsmallest(MOST, hits, key=lambda hit: hit.rank)) for kind, hits in kinds]
    return sorted((one for one in found if one.hits), key=lambda one: one.hits[0].rank)
