"""Recompute the figures of this test set from its judgements and ranks: `python score.py [FOLDER]` needs numpy alone.

Prints each measure of each system, and ends with 1 where one differs from measures.tsv.
"""

import gzip
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np

if {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__)
    sys.exit()
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent


def rows(name: str) -> Iterator[list[str]]:
    """Yield the cells of each line of a table after its header."""
    with (gzip.open if name.endswith(".gz") else open)(FOLDER / name, "rt", encoding="utf-8", newline="\n") as file:
        yield from (line.rstrip("\n").split("\t") for line in list(file)[1:])


def questions_of(system: str) -> set[str]:
    """Return the questions that a system was asked: those of its ranks."""
    return {question for question, *_ in rows(f"ranks/{system}.tsv.gz")}


def measures(system: str, state: dict[tuple[str, str], str], asked: set[str]) -> dict[str, float]:
    """Return the means of a system over the questions that all systems were asked.

    `state` is that of each judged answer of a question.
    """
    lists: dict[str, list[tuple[str, list[int]]]] = defaultdict(list)
    found: dict[str, list[float]] = defaultdict(list)
    for question, answer, *numbers in rows(f"ranks/{system}.tsv.gz"):
        lists[question].append((state.get((question, answer), "known"), [int(number) for number in numbers]))
    for question, entries in lists.items():
        if question not in asked:
            continue
        label, rank_of = np.array([of for of, _ in entries]), np.array([numbers for _, numbers in entries], float)
        known, right = label == "known", label == "positive"
        if not right.any():
            continue  # a question counts once it has an answer
        ranks = np.where(rank_of[:, :3] == 0, np.inf, rank_of[:, :3]).T  # 0: not returned
        gone = ranks[:, known]  # test facts that were not sampled leave the list, and what is below them moves up
        strict = ranks[0] - (gone[0] < ranks[0][:, None]).sum(1)
        first, last = ranks[1] - (gone[1] < ranks[1][:, None]).sum(1), ranks[2] - (gone[2] <= ranks[2][:, None]).sum(1)
        # micro: of each answer, with the question's other answers out of the way; ties count half
        first, last = first[right], last[right]
        rank = (first - (first < first[:, None]).sum(1) + last - (last <= last[:, None]).sum(1) + 1) / 2
        # macro: of the question, in the order that breaks ties
        place, n = np.sort(strict[right]), right.sum()
        near, nth = place <= 20, np.arange(1, n + 1)
        ideal = (1 / np.log2(nth[:20] + 1)).sum()
        listed = rank_of[0, 4] - (gone[0] < np.inf).sum()  # what the system returned, without those facts
        judged = (strict[~known & (label != "unjudged")] <= 10).sum() / max(1, min(10, listed))
        for kind, of in (("micro", rank), ("macro", place[:1])):
            found[f"{kind}_mr"] += of.tolist()
            found[f"{kind}_mrr"] += (1 / of).tolist()
            for k in (1, 3, 10):
                found[f"{kind}_hits@{k}"] += (of <= k).tolist()
        found["map@20"].append((nth[near] / place[near]).sum() / n)
        found["ndcg@20"].append((1 / np.log2(place[near] + 1)).sum() / ideal)
        found["judged@10"].append(judged)
    return {name: float(np.mean(values)) for name, values in found.items()}


def main() -> int:
    """Print the table; return 0 if every figure is that of measures.tsv."""
    state = {}
    for head, relation, tail, label, *_ in rows("judgements.tsv"):
        h, r, t = (quote(key, safe="") for key in (head, relation, tail))
        state[f"tail:{h}:{r}", tail] = state[f"head:{t}:{r}", head] = label
    wrong = 0
    told: dict[str, dict[str, float]] = defaultdict(dict)
    for system, measure, value in rows("measures.tsv"):
        told[system][measure] = float(value or "nan")
    asked = set.intersection(*map(questions_of, told)) if told else set()
    for system, figures in told.items():
        values = measures(system, state, asked)
        for measure, figure in figures.items():
            mean = values[measure] if np.isfinite(values[measure]) else np.nan
            same = bool(np.isclose(mean, figure, rtol=1e-9, atol=1e-12, equal_nan=True))
            wrong += not same
            print(f"{system}\t{measure}\t{mean:.6f}" + ("" if same else f"\tmeasures.tsv has {figure:.6f}"))
    print("All figures are those of measures.tsv." if not wrong else f"{wrong} figures differ from measures.tsv.")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
