"""Compute measures on condensed lists: unjudged candidates are removed before ranking.

What is left of a list are the answers and the judged negatives (assumed negatives too, if they count as
judged); answers move up by what was removed above them. Source: Sakai 2007, Alternatives to Bpref, SIGIR.
bpref has no variant, as it ignores the unjudged already; infap none, as it estimates from the unjudged what
condensing removes; judged@k none, as it would always be 1.
"""

from dataclasses import replace

from evaluation.measures import ir, macro, micro, slow_decay
from evaluation.measures.measure import Measure
from evaluation.measures.prepared import Labelled
from evaluation.measures.rank_table import Floats

LEFT_OUT = {"bpref", "infap"}
CAUTION = (
    "It favours systems with many unjudged candidates at the top, because these are removed. Read it with Judged@k. "
    "Without a judged negative, every answer gets its best possible rank."
)


def _condense(measure: Measure) -> Measure:
    def kernel(answers: Labelled, k: int | None) -> Floats:
        return measure.kernel(answers.condensed, k)

    return replace(
        measure,
        name=f"condensed_{measure.name}",
        label=f"Condensed {measure.label}",
        description=f"{measure.label} when unjudged candidates are removed before ranking. "
        "It uses only what the labels tell.",
        formula=f"{measure.formula}, in lists of judged candidates",
        source=f"{measure.source}; condensed lists: Sakai 2007, Alternatives to Bpref",
        kernel=kernel,
        answers_only=False,
        caution=CAUTION,
    )


WHOLE = (*micro.ROWS, *macro.ROWS, *ir.ROWS)
ROWS = (
    *(_condense(measure) for measure in WHOLE if measure.name not in LEFT_OUT),
    *(replace(_condense(measure), offered=()) for measure in slow_decay.ROWS),
)
