"""Name files that are sent."""

from itertools import pairwise


def file_stem(*parts: str) -> str:
    """Return the parts joined by "-", without one that the next begins with: demo and demo-v2 are demo-v2."""
    kept = [part for part, then in pairwise([*parts, ""]) if part and then != part and not then.startswith(f"{part}-")]
    return "-".join(kept)
