"""Write docs/measures.md from the registry of measures: python docs/write_measures.py."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "docs"))  # conventions.py
PATH = ROOT / "docs" / "measures.md"
HEAD = """# Measures

Written by `docs/write_measures.py` from the registry (`evaluation/measures/registry.py`): change it there.

T are the positives of a label set, A_q the entities that answer question q by one of them. *Micro* measures are means over answers: each answer is ranked with the other answers of its question removed, ties by the mean of the best and the worst position. *Macro* measures are means over questions. Lists are in strict order: ties are broken by one seeded random order of the entities. Entities that answer a question in train, valid, or in the part of test that was not sampled are no candidates.

*Condensed* lists hold judged candidates only: what nobody judged is removed before ranking. Assumed negatives count as judged if that is asked for, which is the default. *Adjusted* ranks are compared with those of a random order of the N(q, a) candidates that answer a stands among: those of q without its other answers. n_q is the number of answers of q.

Shown unless others are asked for: {usual}. Any cut-off can be asked for by name: `micro_hits@5`, `ndcg@100`. A system that did not return an answer gets 0 for it, where a mean rank is undefined. What is undefined has no value but a reason: no question has an answer under the labels, the run did not return an answer that a mean rank needs, or every answer is the only candidate of its question.
"""  # noqa: E501


ESTIMATED = """## Estimated from a sample

`estimate` and the page *Estimates* give {measured} and what follows for a pool of which a random sample is judged, by a model with 95 % intervals; how is in [evaluation.md](evaluation.md#estimates). p_i is the probability that triple i is drawn, p_ij that both are.
"""  # noqa: E501


CONVENTIONS = """## Where other tools differ

Each line is one example that a test computes with both. Where a tool is not named, the values are the same; tests compare with trec_eval, ir_measures, PyKEEN, scikit-learn and scipy.

| subject | here | there | example | our value | their value |
|---|---|---|---|---|---|
"""  # noqa: E501
MISSING = """## Measures of other tools

| there | here |
|---|---|
"""


def conventions() -> list[str]:
    """Return the chapters on other tools."""
    from conventions import CONVENTIONS as LISTED
    from conventions import MISSING as WITHOUT
    from conventions import SAME

    def shown(value: float | None) -> str:
        return "undefined" if value is None else f"{value:.4f}"

    lines = [
        f"| {one.subject} | {one.ours} | {one.peer}: {one.theirs} | {one.example} | {shown(one.our_value)} | "
        f"{shown(one.their_value)} |\n"
        for one in LISTED
    ]
    ours: dict[str, list[str]] = {}
    for theirs, name in SAME.items():
        ours.setdefault(name, []).append(f"`{theirs}`")
    same = [f"| {', '.join(theirs)} | `{name}` |\n" for name, theirs in ours.items()]
    missing = [f"| {', '.join(f'`{name}`' for name in names)} | missing: {why} |\n" for why, names in WITHOUT.items()]
    return [CONVENTIONS + "".join(lines), MISSING + "".join(same + missing)]


def text() -> str:
    from evaluation.estimates.kernels.quantities import COUNTS, LISTS, MEASURED
    from evaluation.measures.registry import MEASURES, USUAL

    usual = ", ".join(f"`{measure.name}`" for measure in USUAL)
    parts = [HEAD.format(usual=usual)]
    for measure in MEASURES:
        low = "no lower bound" if measure.low is None else f"{measure.low:g}"
        high = "no upper bound" if measure.high is None else f"{measure.high:g}"
        better = "higher" if measure.higher_is_better else "lower"
        over = "answers" if measure.kind == "micro" else "questions"
        parts.append(
            f"## {measure.label}\n\n`{measure.name}` · mean over {over} · from {low} to {high} · "
            f"{better} is better\n\n{measure.description}\n\n    {measure.formula}\n\n"
            f"Parameters: {measure.parameters}.\n\n"
            + (f"Caution: {measure.caution}\n\n" if measure.caution else "")
            + f"Source: {measure.source}.\n"
        )
    parts.append(ESTIMATED.format(measured=", ".join(f"`{name}`" for name in MEASURED)))
    for one in (*COUNTS, *LISTS):
        parts.append(
            f"### {one.label}\n\n`{one.name}`\n\n{one.description}\n\n    {one.formula}\n\nSource: {one.source}.\n"
        )
    return "\n".join([*parts, *conventions()])


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PATH.write_text(text(), encoding="utf-8")
