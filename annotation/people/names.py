"""Compare names by their look, so that nobody passes for somebody else."""

import unicodedata
from collections.abc import Iterable
from functools import cache

_ACCENTS = dict.fromkeys(range(0x300, 0x370))
_DIGITS = str.maketrans("01", "ol")


_UNSEEN = frozenset("\u115f\u1160\u3164\uffa0")  # fillers of Hangul: letters to Unicode, blank to people


def looks_like_one_of(name: str, others: Iterable[str]) -> bool:
    """Return whether a name can be taken for another one, as in Unicode's report 39 on security mechanisms."""
    own = _looks(name)
    return any(own & _looks(other) for other in others)


def has_unseen(name: str) -> bool:
    """Return whether a name has a letter that nobody sees."""
    return not _UNSEEN.isdisjoint(name)


def _looks(name: str) -> set[str]:
    """Return the skeletons of a name: a capital I is an i in small letters, and looks like a small L."""
    return {skeleton(name), skeleton(name, i="l")}


def skeleton(name: str, *, i: str = "i") -> str:
    """Return a text that names have in common if they look alike: "anna" of "Аnna" (Cyrillic А), "ANNA" and "Änna".

    `i` is what a capital I is taken for.
    """
    plain, letters = unicodedata.normalize("NFKD", name).translate(_ACCENTS), _latin()
    # before and after: В looks like B, its small letter в like no Latin one; σ looks like o, and Σ like no Latin one
    small = plain.translate(letters).replace("I", i).casefold().translate(letters).casefold()
    return small.translate(_DIGITS).replace("rn", "m")


@cache
def _latin() -> dict[int, str]:
    """Return the letters of other scripts that look like a Latin letter or a digit, with that."""
    from confusable_homoglyphs.confusables import confusables_data  # a megabyte, which is read when it is first asked

    found: dict[int, str] = {}
    for letter, similar in confusables_data.items():
        latin = [one["c"] for one in similar if len(one["c"]) == 1 and one["c"].isascii() and one["c"].isalnum()]
        if len(letter) == 1 and not letter.isascii() and latin:
            found[ord(letter)] = latin[0]
    return found
