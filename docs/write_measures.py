"""Write docs/measures.md from the registry of measures: python docs/write_measures.py."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "docs"))  # conventions.py
PATH = ROOT / "docs" / "measures.md"
HEAD = """# Measures

<!-- docs/write_measures.py writes this page from the registry (evaluation/measures/registry.py). Make changes there. -->

- The **answers** of a question q are the entities that complete it to a positive triple of the label set. n_q is their number.
- The **candidates** of a question are all entities, except those that answer it in train, in valid, or in the unsampled part of test.
- **Micro** measures are means over answers. Each answer is ranked with the other answers of its question removed. Its rank is the mean of its best and worst position among equal scores.
- **Macro** measures are means over questions. Their lists are in strict order: one seeded random order of the entities breaks ties.
- **Condensed** lists hold judged candidates only. Unjudged candidates are removed before ranking. By default, assumed negatives count as judged.
- **Adjusted** ranks are compared with a random order. N(q, a) is the number of candidates in this order: the candidates of q without its answers other than a.

By default you see {usual}. You can choose any cut-off by name: `micro_hits@5`, `ndcg@100`.

If a system did not return an answer, it gets 0 for that answer. A mean rank is then undefined. An undefined measure has a reason instead of a value: no question has an answer under the labels, the run did not return an answer that a mean rank needs, or every answer is the only candidate of its question. A question that a system was not asked is left out for all systems that are compared with it.
"""  # noqa: E501


ESTIMATED = """## Estimated from a sample

If a random sample of a pool is judged, `estimate` and the page *Estimates* give {measured} and the estimates below. A model gives 95 % intervals; [Evaluation](evaluation.md#estimates) explains it. p_i is the probability that triple i is drawn, and p_ij is the probability that both i and j are drawn.
"""  # noqa: E501


CONVENTIONS = """## Where other tools differ

Each line is one example, and a test computes it with both tools. Tools that are not named give the same values: tests compare ours with trec_eval, ir_measures, PyKEEN, scikit-learn, scipy, and with ircor for tau_AP with ties (.7321, .297 and −.7047 for its examples).

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
