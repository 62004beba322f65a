"""Name files that are sent, and show names."""

from itertools import pairwise


def file_stem(*parts: str) -> str:
    """Return the parts joined by "-", without one that the next begins with: demo and demo-v2 are demo-v2."""
    kept = [part for part, then in pairwise([*parts, ""]) if part and then != part and not then.startswith(f"{part}-")]
    return "-".join(kept)


def in_utf8(name: str) -> str:
    """Return a name with the bytes that are not UTF-8, of which Python makes surrogates, as \\xe9."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
