"""Keep the registry of measures that pages, API, commands and documentation read, and parse the names of measures.

A new measure is a row of `ROWS` in one of the files below, or a new file with such rows and its line here.
"""

import re
from functools import lru_cache

from evaluation.measures import adjusted, condensed, ir, judged, macro, micro, sets, slow_decay
from evaluation.measures.measure import Measure

__all__ = ["MEASURES", "REGISTRY", "USUAL", "USUAL_NAMES", "Measure", "known_names", "parse_measure"]

FILES = (micro, macro, ir, judged, condensed, adjusted, slow_decay, sets)
REGISTRY: dict[str, Measure] = {measure.name: measure for file in FILES for measure in file.ROWS}
_NAME = re.compile(r"(?P<name>[a-z_]+)(?:@(?P<k>[1-9][0-9]{0,6}))?")


def known_names() -> list[str]:
    """Return every way to write a measure, with k where a cut-off goes.

    Returns
    -------
    list of str
        "micro_hits@k", "map", "map@k", …

    Examples
    --------
    >>> from triplepool import known_names
    >>> known_names()[:4]
    ['micro_mr', 'micro_mrr', 'micro_hits@k', 'macro_mr']
    """
    written = {"none": ("",), "optional": ("", "@k"), "required": ("@k",)}
    return [measure.name + end for measure in REGISTRY.values() for end in written[measure.cutoff]]


@lru_cache(maxsize=1024)
def parse_measure(name: str) -> Measure:
    """Return the measure that a name writes.

    Parameters
    ----------
    name : str
        A name with its cut-off, such as "micro_hits@10" or "map".

    Returns
    -------
    Measure
        The measure, its cut-off filled in.

    Raises
    ------
    ValueError
        For an unknown name, a missing cut-off, one where there is none, or one that is too large.

    Examples
    --------
    >>> from triplepool import parse_measure
    >>> measure = parse_measure("micro_hits@10")
    >>> measure.label, measure.formula, measure.higher_is_better
    ('Micro Hits@10', 'mean over (q, a) of [rank(q, a) <= 10]', True)
    """
    match = _NAME.fullmatch(name)
    measure = REGISTRY.get(match["name"]) if match else None
    if match is None or measure is None:
        raise ValueError(f"unknown measure {name!r}; known, with k from 1, are {', '.join(known_names())}")
    k = int(match["k"]) if match["k"] else None
    if k is None and measure.cutoff == "required":
        raise ValueError(f"the measure {name!r} needs a cut-off, for example {name}@10")
    if k is not None and measure.cutoff == "none":
        raise ValueError(f"the measure {measure.name!r} takes no cut-off; write {measure.name!r}, not {name!r}")
    if k is not None and measure.largest_k is not None and k > measure.largest_k:
        raise ValueError(f"the measure {name!r} has no meaning: its cut-off is from 1 to {measure.largest_k}")
    return measure.at(k)


# what `evaluate` prints and the overview shows by default
USUAL_NAMES = (
    *("micro_mr", "micro_mrr", "micro_hits@1", "micro_hits@3", "micro_hits@10", "macro_mr", "macro_mrr"),
    *("macro_hits@1", "macro_hits@3", "macro_hits@10", "map@20", "ndcg@20", "judged@10"),
)
USUAL = tuple(parse_measure(name) for name in USUAL_NAMES)
# what pages offer; any other cut-off can be asked for by name
MEASURES = tuple(parse_measure(m.at(k).name) for m in REGISTRY.values() for k in m.offered)
