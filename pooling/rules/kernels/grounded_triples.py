"""Find every triple that rules derive, with the rules that derive it, and weigh the rules by pseudo-likelihood.

Source: Qu and Tang (2019), Probabilistic logic neural networks for reasoning, NeurIPS (pLogicNet).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit

from core.callbacks import UNWATCHED, TellStage, Watch
from pooling.rules.kernels.rule_table import Rules
from pooling.rules.kernels.signed_graph import SignedGraph, Walker


class TooManyGroundings(ValueError):  # noqa: N818 - the rules are what is too many
    """Rules derive more triples than a training may hold."""


@dataclass(frozen=True, eq=False)
class GroundedTriples:
    """Hold n triples, ascending by relation, head and tail, that at least one of m rules derives.

    triples int64[n, 3]; observed bool[n]: in the training triples; share float64 CSR [n, m]: of a triple derived by
    k rules, 1 / k for each of these, so that `share @ weight` is the mean weight of its rules.
    """

    triples: np.ndarray
    observed: np.ndarray
    share: sparse.csr_array

    def believed(self, weight: np.ndarray) -> np.ndarray:
        """Return how likely the rules make each triple: σ of the mean weight of its rules, float64[n]."""
        return expit(self.share @ weight)


def grounded_triples(graph: SignedGraph, rules: Rules, limit: int, tell: TellStage) -> GroundedTriples:
    """Return what the rules derive from the graph; TooManyGroundings if rules and triples make over `limit` pairs."""
    walker, size = Walker(graph), graph.num_entities
    keys, rule, total = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    order = sorted(range(len(rules)), key=rules.body_of)  # those that begin alike share their walks
    for done, i in enumerate(order):
        if done % 50 == 0:
            tell("deriving triples", done, len(order))
        ends = walker.along(rules.body_of(i))
        total += ends.nnz
        if total > limit:
            raise TooManyGroundings(
                f"the first {done + 1:,} of {len(rules):,} rules derive more than {limit:,} triples: raise "
                "rule_threshold, or max_groundings if there is memory"
            )
        found = graph.keys(np.repeat(np.arange(size), np.diff(ends.indptr)), ends.indices)
        keys.append(int(rules.relation[i]) * size**2 + found)
        rule.append(np.full(len(found), i))
    distinct, row = np.unique(np.concatenate(keys), return_inverse=True)
    shape = len(distinct), len(rules)
    derives = sparse.csr_array((np.ones(len(row)), (row, np.concatenate(rule))), shape=shape)
    relation, pair = np.divmod(distinct, size**2)
    triples = np.stack([pair // size, relation, pair % size], axis=1)
    forward = graph.relation % 2 == 0
    known = (graph.relation[forward] >> 1) * size**2 + graph.keys(graph.source[forward], graph.target[forward])
    share = sparse.csr_array(derives / np.maximum(derives.sum(axis=1), 1)[:, None])
    return GroundedTriples(triples, np.isin(distinct, known), share)


def fit_weights(
    grounded: GroundedTriples, target: np.ndarray, rate: float, sweeps: int, watch: Watch = UNWATCHED
) -> np.ndarray:
    """Return weights float64[m] that climb the pseudo-likelihood of `target` float64[n], from 0, in whole sweeps.

    A step is `rate` times the slope, or less where that would leap over the summit: the slope of n triples changes by
    n / 4 at most for each unit of a weight.
    """
    share = grounded.share
    steepest = share.sum(axis=0).max(initial=0) / 4
    step = min(rate, 1 / steepest) if steepest else rate
    back, weight = share.T.tocsr(), np.zeros(share.shape[1])
    for done in range(sweeps):
        if done % 50 == 0:
            watch.tell(done, sweeps)
        weight += step * (back @ (target - expit(share @ weight)))
    return weight
