"""Condensed lists: unjudged candidates are removed before ranking, then everything is as in the full lists.

What is left of a list are the answers and the judged negatives (assumed negatives too, if they count as
judged); answers move up by what was removed above them. Source: Sakai 2007, Alternatives to Bpref, SIGIR.
bpref has no variant, as it ignores the unjudged already; infap none, as it estimates from the unjudged what
condensing removes; judged@k none, as it would always be 1.
"""

from __future__ import annotations

from dataclasses import replace

from evaluation.measures import ir, macro, micro
from evaluation.measures.measure import Family
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Floats

LEFT_OUT = {"bpref", "infap"}
CAUTION = (
    "It favours systems whose unjudged candidates stand high, since these vanish: read it with Judged@k. "
    "With no judged negative every answer stands as high as it can."
)


def _condense(family: Family) -> Family:
    def compute(answers: Labelled, k: int | None) -> Floats:
        return family.compute(answers.condensed, k)

    return replace(
        family,
        name=f"condensed_{family.name}",
        label=f"Condensed {family.label}",
        description=f"{family.label} when unjudged candidates are removed before ranking. "
        "It asks only what the labels can tell.",
        formula=f"{family.formula}, in lists of judged candidates",
        source=f"{family.source}; condensed lists: Sakai 2007, Alternatives to Bpref",
        compute=compute,
        answers_only=False,
        caution=CAUTION,
    )


FAMILIES = tuple(
    _condense(family) for family in (*micro.FAMILIES, *macro.FAMILIES, *ir.FAMILIES) if family.name not in LEFT_OUT
)
