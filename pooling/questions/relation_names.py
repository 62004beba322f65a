"""Read the name of a relation: which words it has, and whether people can understand them."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Words that may end a name and make it a phrase to put before the object: "mother of", "located in".
_PREPOSITION_LIST = "of in by at on to for with from as under over into near after before during about against"
PREPOSITIONS = frozenset(_PREPOSITION_LIST.split())
_ABBREVIATIONS = {"tv", "uk", "us", "gdp", "gni", "ppp", "snl", "hud", "nba", "nfl", "ncaa", "dna", "rna", "ngo"}
_RUN_TOGETHER = {"isa": "is a", "citytown": "city or town"}
# Words that tell nothing beside a number: rel_42, property 7.
_NUMBERED_LIST = "relation relationship rel predicate property prop edge link term type class attribute attr label"
_NUMBERED = frozenset(_NUMBERED_LIST.split())
_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HASH = re.compile(r"[a-f]{8,}")
_MAX_NAME = 100


def words_of(relation_key: str) -> tuple[str, list[str]]:
    """Split a key into its context ('' mostly) and its own words.

    /people/person/spouse_s./people/marriage/location_of_ceremony gives 'spouse', [location, of, ceremony].
    """
    parts = [part for part in relation_key.split("./") if part] or [relation_key]
    texts = [spell(part) for part in parts]
    context = texts[-2] if len(texts) > 1 and texts[-2] != texts[-1] else ""
    if context.endswith(f" {texts[-1]}") and texts[-1].split()[-1] in PREPOSITIONS:
        return "", context.split()  # places exported to./exported to
    return context, texts[-1].split()


@lru_cache(4096)  # each card asks for the same few
def spell(path: str) -> str:
    """Return the last segment of a path, URI or name as separate words; words of a language in lower case."""
    segment = re.split(r"[/#:]", path.rstrip("/#:. "))[-1]
    segment = re.sub(r"_s$", "", segment)  # Freebase: spouse_s, release_date_s
    if segment.isupper() and (len(segment) > 4 or "_" in segment):  # CAUSES, DRUG_TARGET
        segment = segment.lower()
    segment = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", segment)
    words = re.sub(r"[\s_.{}+]+", " ", segment).split()
    words = [word if word.isupper() else _RUN_TOGETHER.get(word.lower(), word.lower()) for word in words]
    return " ".join(word.upper() if word in _ABBREVIATIONS else word for word in words)


@lru_cache(4096)
def relation_words(relation_name: str) -> str:
    """Return a relation's label or key as words: /film/film/directed_by becomes "directed by"."""
    name = CONTROL.sub(" ", relation_name)
    return name if " " in name.strip() else " ".join(words_of(name)[1]) or relation_name  # a name with spaces has words


def choices_in_words(relations: Iterable[tuple[int, str, str]]) -> list[tuple[int, str]]:
    """Return (index, words) of (index, name, key), by words; the key follows words that several relations share."""
    named = [(index, relation_words(name), key) for index, name, key in relations]
    times = Counter(words for _, words, _ in named)
    told = ((index, words if times[words] == 1 else f"{words} ({key})") for index, words, key in named)
    return sorted(told, key=lambda pair: (pair[1], pair[0]))


def is_readable(relation_name: str) -> bool:
    """Return whether the name has words, so that people understand questions made from it."""
    return are_words(words_of(CONTROL.sub(" ", relation_name))[1])


def are_words(words: list[str]) -> bool:
    """Return whether one of them is a word of a language: not P131, 17, rel 42, cb G or a hash."""
    if words == ["is", "a"] or (len(words) == 1 and words[0] in PREPOSITIONS):
        return len(words) > 1
    numbered = any(map(str.isdecimal, words))
    return any(_is_word(word.strip(",;:.()“”\"'").casefold(), numbered) for word in words)


def _is_word(word: str, numbered: bool) -> bool:
    if not _LETTERS.fullmatch(word) or _HASH.fullmatch(word) or (numbered and word in _NUMBERED):
        return False
    if word in PREPOSITIONS or word in _ABBREVIATIONS or not word.isascii():
        return True
    return len(word) > 2 and not set("aeiouy").isdisjoint(word)


def shorten(text: str) -> str:
    return text if len(text) <= _MAX_NAME else text[: _MAX_NAME - 1] + "…"


def subject_type(relation_key: str, domain: str) -> str:
    """Return the declared type of the head, else the one that a Freebase path begins with."""
    path = relation_key.split("./")[0] if "./" in relation_key else ""
    return spell(domain or path.rpartition("/")[0])


def is_plural(words: list[str]) -> bool:
    """Return whether the noun that the name is about is plural: notable people with this condition."""
    before = next((at for at, word in enumerate(words) if at and word in PREPOSITIONS), len(words))
    noun = words[before - 1]
    return noun == "people" or (noun.endswith("s") and not noun.endswith(("ss", "us", "is", "series")))
