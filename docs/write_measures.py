"""Write docs/measures.md from the registry of measures: python docs/write_measures.py."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "measures.md"
HEAD = """# Measures

Written by `docs/write_measures.py` from the registry (`evaluation/measures.py`): change it there.

T are the positives of a label set, A_q the entities that answer question q by one of them. *Micro* measures are means over answers: each answer is ranked with the other answers of its question removed, ties by the mean of the best and the worst position. *Macro* measures are means over questions. Lists are in strict order: ties are broken by one seeded random order of the entities. Entities that answer a question in train, valid, or in the part of test that was not sampled are no candidates.

Any cut-off can be asked for by name: `micro_hits@5`, `ndcg@100`. A system that did not return an answer gets 0 for it, where a mean rank is undefined.
"""  # noqa: E501


def text() -> str:
    from evaluation.measures import MEASURES

    parts = [HEAD]
    for measure in MEASURES:
        low, high = f"{measure.low:g}", "no upper bound" if measure.high is None else f"{measure.high:g}"
        better = "higher" if measure.higher_is_better else "lower"
        over = "answers" if measure.kind == "micro" else "questions"
        parts.append(
            f"## {measure.label}\n\n`{measure.name}` · mean over {over} · from {low} to {high} · "
            f"{better} is better\n\n{measure.description}\n\n    {measure.formula}\n\nSource: {measure.source}.\n"
        )
    return "\n".join(parts)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PATH.write_text(text(), encoding="utf-8")
