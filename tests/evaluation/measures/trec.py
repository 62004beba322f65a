"""Runs and qrels as trec_eval reads them, and the same as a rank table: what pytrec_eval is compared on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytrec_eval

from evaluation.measures.label_state import LabelState, States
from evaluation.measures.rank_table import RankTable

GRADE = {1: LabelState.POSITIVE, 0: LabelState.NEGATIVE, -1: LabelState.UNJUDGED}
CUTS = (1, 5, 60)  # 60 is more than any list of these tests holds
CUT = {"map": "map_cut", "ndcg": "ndcg_cut", "p": "P", "recall": "recall", "success": "success"}
TREC = {
    **{f"{ours}@{k}": f"{theirs}_{k}" for ours, theirs in CUT.items() for k in CUTS},
    "map": "map",
    "ndcg": "ndcg",
    "rprec": "Rprec",
    "macro_mrr": "recip_rank",
    "bpref": "bpref",
    "infap": "infAP",
    "set_p": "set_P",
    "set_r": "set_recall",
    "set_f": "set_F",
    "set_ap": "set_map",
    "num_ret": "num_ret",
    "num_rel_ret": "num_rel_ret",
    **{f"iprec@{k}": f"iprec_at_recall_{k / 100:.2f}" for k in (10, 30, 50, 100)},
}  # fmt: skip
WHOLE = ("set_", "num_", "iprec", "bpref", "infap")
OF_THE_WHOLE_RUN = {name for name in TREC if name.startswith(WHOLE)}  # not condensed
ASKED = {f"{theirs}.{','.join(map(str, CUTS))}" for theirs in CUT.values()} | {
    "map",
    "ndcg",
    "Rprec",
    "recip_rank",
    "bpref",
    "infAP",
    "set_P",
    "set_recall",
    "set_F",
    "set_map",
    "num_ret",
    "num_rel_ret",
    "iprec_at_recall",
}

Qrels = dict[str, dict[str, int]]  # question -> document -> 1, 0 or -1 (pooled, not judged)
Run = dict[str, list[str]]  # question -> documents, best first


@dataclass
class Lists:
    """Several runs and the qrels of one set of questions; documents outside the qrels are not pooled."""

    runs: list[Run]
    qrels: Qrels
    candidates: int = 60

    @property
    def questions(self) -> list[str]:
        return sorted(self.qrels)

    def table(self) -> RankTable:
        """A row for each document of the qrels, each a triple of its own."""
        rows = [(i, q, doc) for i, q in enumerate(self.questions) for doc in sorted(self.qrels[q])]
        ranks = np.zeros((len(self.runs), len(rows)), dtype=np.int32)
        for s, run in enumerate(self.runs):
            for j, (_, q, doc) in enumerate(rows):
                if doc in run.get(q, []):
                    ranks[s, j] = run[q].index(doc) + 1
        question = np.array([i for i, _, _ in rows], dtype=np.int32)
        one_each = np.arange(len(rows), dtype=np.int32)
        nothing = np.zeros(len(self.qrels), dtype=np.int32)
        return RankTable(
            question,
            one_each,
            one_each,
            ranks,
            ranks,
            ranks,
            side=nothing.astype(np.int8),
            relation=nothing,
            candidates=nothing + self.candidates,
            returned=np.array([[len(run.get(q, [])) for q in self.questions] for run in self.runs], dtype=np.int32),
        )

    def state(self) -> States:
        found = [GRADE[self.qrels[q][doc]] for q in self.questions for doc in sorted(self.qrels[q])]
        return np.array(found, dtype=np.int8)

    def evaluated(self) -> list[str]:
        """The questions with an answer, in the order of their indices."""
        return [q for q in self.questions if 1 in self.qrels[q].values()]

    def condensed(self) -> Lists:
        """The same without the documents that nobody judged."""
        judged = {q: {doc for doc, grade in grades.items() if grade >= 0} for q, grades in self.qrels.items()}
        runs = [{q: [doc for doc in docs if doc in judged[q]] for q, docs in run.items()} for run in self.runs]
        qrels = {q: {doc: g for doc, g in grades.items() if g >= 0} for q, grades in self.qrels.items()}
        return Lists(runs, qrels, self.candidates)


def trec_eval(lists: Lists, system: int) -> dict[str, dict[str, float]]:
    """trec_eval's values by question and measure; a question that the run misses gets 0, as `trec_eval -c` does."""
    run = {q: {doc: -float(i + 1) for i, doc in enumerate(docs)} for q, docs in lists.runs[system].items() if docs}
    asked = lists.evaluated()  # pytrec_eval never returns from a question whose grades are all -1
    found = pytrec_eval.RelevanceEvaluator({q: lists.qrels[q] for q in asked}, ASKED).evaluate(run) if asked else {}
    return {q: found.get(q, dict.fromkeys(TREC.values(), 0.0)) for q in asked}


def random_lists(seed: int) -> Lists:
    """One to three runs of up to 40 documents on up to six questions: short, empty and missing lists, few labels.

    Scores are few, so that many documents tie; a random order of the documents breaks the ties, as runs do it.
    """
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(40)]
    questions = [f"q{i}" for i in range(rng.integers(1, 7))]
    qrels: Qrels = {}
    for q in questions:
        pooled = rng.choice(docs, size=rng.integers(1, 25), replace=False)
        grades = rng.choice([1, 0, -1], p=rng.dirichlet([1, 1, 0.5]), size=len(pooled))
        kept = {0: (0, -1), 1: (1, -1)}.get(int(rng.integers(6)), (1, 0, -1))  # some have no answer, some no negative
        qrels[q] = {str(doc): int(grade) for doc, grade in zip(pooled, grades, strict=True) if grade in kept}
    runs: list[Run] = []
    for _ in range(rng.integers(1, 4)):
        run: Run = {}
        for q in questions:
            if rng.random() < 0.15:
                continue
            score, tie_break = rng.integers(rng.integers(1, 30), size=len(docs)), rng.permutation(len(docs))
            order = np.lexsort((tie_break, -score))[: rng.integers(0, len(docs) + 1)]
            run[q] = [docs[i] for i in order]
        runs.append(run)
    return Lists(runs, qrels)


def read_lists(folder: Path) -> Lists:
    """qrels.txt ("question 0 document grade") and run_*.txt ("question Q0 document rank score tag")."""
    qrels: Qrels = {}
    for line in (folder / "qrels.txt").read_text(encoding="utf-8").splitlines():
        q, _, doc, grade = line.split()
        qrels.setdefault(q, {})[doc] = int(grade)
    runs = []
    for path in sorted(folder.glob("run_*.txt")):
        scored: dict[str, list[tuple[float, str]]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            q, _, doc, _, score, _ = line.split()
            scored.setdefault(q, []).append((-float(score), doc))
        runs.append({q: [doc for _, doc in sorted(pairs)] for q, pairs in scored.items()})
    return Lists(runs, qrels)
