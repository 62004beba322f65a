"""Score answers by vectors of the rules that lead to them, in the place of one weight a rule.

A rule's vector is read from its body by an LSTM; those of an answer's groundings are added up, and a small network
turns the sum into a score. One network serves all relations.
Source: Qu et al. (2021), RNNLogic: learning logic rules for reasoning on knowledge graphs, ICLR (RNNLogic+).
"""

from collections.abc import Sequence

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from core.callbacks import UNWATCHED, Watch
from pooling.rules.kernels.rule_predictor import Grounded
from pooling.rules.kernels.rule_table import MAX_LENGTH
from pooling.rules.kernels.signed_graph import Body

LAST = 0.05  # share of the first rate that the last epoch has
LEAST = 1e-30  # of a sum of exponentials: what rounding may take below 0


class RuleEmbedding(nn.Module):
    """Give every pair of a question and an entity that rules reach a score; tokens are inverse-aware relation ids."""

    def __init__(self, num_relations: int, dim: int, seed: int) -> None:
        super().__init__()
        self.none = 2 * num_relations
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.token = nn.Embedding(2 * num_relations + 1, dim, padding_idx=self.none)
            self.network = nn.LSTM(dim, dim, batch_first=True)
            self.mixed = nn.Linear(dim, dim)
            self.norm = nn.LayerNorm(dim)
            self.score = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))
            self.rates = nn.Parameter(torch.ones(2 * num_relations))  # of popularity

    def vectors(self, signed: int, bodies: Sequence[Body]) -> Tensor:
        """Return the vector of each rule, [n, dim]: what the LSTM holds that reads `signed`, then the body."""
        rows = [(signed, *body, *[self.none] * (MAX_LENGTH - len(body))) for body in bodies]
        tokens = torch.tensor(rows, dtype=torch.int64).reshape(-1, MAX_LENGTH + 1)
        read, _ = self.network(self.token(tokens))
        last = torch.tensor([len(body) for body in bodies], dtype=torch.int64)
        return read[torch.arange(len(bodies)), last]

    def scores(self, counts: sparse.csr_array, vectors: Tensor) -> Tensor:
        """Return the scores of pairs [n]; counts [n, rules], vectors [rules, dim]."""
        total: Tensor = _Product.apply(counts, vectors)
        return self.score(torch.relu(self.norm(self.mixed(total))))[:, 0]

    def loss(self, signed: int, bodies: Sequence[Body], grounded: Grounded) -> Tensor:
        """Return the mean cross-entropy of the questions, as in `rule_predictor.fit`, without smoothing."""
        of_entity = self.rates[signed] * torch.from_numpy(grounded.popularity).float()
        pairs = grounded.question, grounded.candidate, grounded.answer, grounded.reached
        question, candidate, answer, reached = map(torch.from_numpy, pairs)
        of_rules = self.scores(grounded.counts, self.vectors(signed, bodies)) * reached
        score = of_rules + self.rates[signed] * torch.from_numpy(grounded.own).float()
        base, size = torch.logsumexp(of_entity, 0), len(grounded.entity)
        top = torch.full((size,), float(base.detach())).scatter_reduce(0, question, score.detach(), "amax")
        more = torch.exp(score - top[question]) - torch.exp(of_entity[candidate] - top[question])
        total = torch.exp(base - top).index_add(0, question, more)
        each = torch.from_numpy(1 / grounded.answers).float()
        right = (score[answer] * each[question[answer]]).sum()
        return ((torch.log(total.clamp_min(LEAST)) + top).sum() - right) / size


def fit_vectors(
    model: RuleEmbedding,
    parts: Sequence[tuple[int, Sequence[Body], Grounded]],
    epochs: int,
    rate: float,
    rng: np.random.Generator,
    watch: Watch = UNWATCHED,
) -> None:
    """Train on inverse-aware relations with their bodies and questions, one of them a step, in a drawn order.

    The rate falls to a twentieth.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, LAST, epochs)
    for epoch in range(epochs):
        for done, i in enumerate(rng.permutation(len(parts)).tolist()):
            watch.tell(epoch * len(parts) + done, epochs * len(parts))
            optimizer.zero_grad(set_to_none=True)
            model.loss(*parts[i]).backward()
            optimizer.step()
        schedule.step()


class _Product(torch.autograd.Function):
    """Multiply a sparse matrix of scipy with vectors: torch's own sparse products are not finished on the CPU."""

    @staticmethod
    def forward(ctx, counts, vectors):
        ctx.counts = counts
        return torch.from_numpy(np.asarray(counts @ vectors.numpy(), np.float32))

    @staticmethod
    def backward(ctx, slope):
        return None, torch.from_numpy(np.asarray(ctx.counts.T @ slope.numpy(), np.float32))
