"""Propose rule bodies for a relation with a recurrent network, and teach it from rules that have proved good.

Source: Qu et al. (2021), RNNLogic: learning logic rules for reasoning on knowledge graphs, ICLR (the generator).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from core.callbacks import UNWATCHED, Watch
from pooling.rules.kernels.rule_table import MAX_LENGTH
from pooling.rules.kernels.signed_graph import Body

BATCH = 512
DRAWN = 4  # times as many bodies as wanted: some are drawn twice


class RuleGenerator(nn.Module):
    """Give the probability of a body b1, b2, … of relation r: an LSTM reads r and the body so far.

    Tokens are inverse-aware relation ids (2R), then the end of a body; the relation asked for is read first.
    """

    def __init__(self, num_relations: int, embedding_dim: int, hidden_dim: int, seed: int) -> None:
        super().__init__()
        self.end = 2 * num_relations
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.token = nn.Embedding(2 * num_relations + 1, embedding_dim)
            self.network = nn.LSTM(embedding_dim, hidden_dim, batch_first=True)
            self.next = nn.Linear(hidden_dim, 2 * num_relations + 1)

    def log_probability(self, tokens: Tensor) -> Tensor:
        """Return log p of bodies [B]; tokens int64[B, 1 + MAX_LENGTH + 1]: the relation as 2r, the body, ends."""
        read, _ = self.network(self.token(tokens[:, :-1]))
        said = torch.log_softmax(self.next(read), 2).gather(2, tokens[:, 1:, None])[:, :, 0]  # [B, MAX_LENGTH + 1]
        over = torch.cumsum(tokens[:, 1:] == self.end, 1) > 1  # behind the first end nothing is said
        return said.masked_fill(over, 0).sum(1)

    def tokens_of(self, relation: Sequence[int], bodies: Sequence[Body]) -> Tensor:
        """Return tokens int64[B, 1 + MAX_LENGTH + 1] of rules."""
        rows = [
            (2 * r, *body, *[self.end] * (MAX_LENGTH + 1 - len(body))) for r, body in zip(relation, bodies, strict=True)
        ]
        return torch.tensor(rows, dtype=torch.int64).reshape(-1, MAX_LENGTH + 2)

    def learn(
        self, tokens: Tensor, epochs: int, rate: float, rng: np.random.Generator, watch: Watch = UNWATCHED
    ) -> float:
        """Raise the mean log probability of bodies [n] (`tokens_of`); return that of the last epoch."""
        optimizer = torch.optim.Adam(self.parameters(), lr=rate)
        total = 0.0
        for epoch in range(epochs):
            total = 0.0
            for done, part in enumerate(torch.from_numpy(rng.permutation(len(tokens))).split(BATCH)):
                watch.tell(epoch * len(tokens) + done * BATCH, epochs * len(tokens))
                optimizer.zero_grad(set_to_none=True)
                loss = -self.log_probability(tokens[part]).mean()
                loss.backward()
                optimizer.step()
                total -= float(loss.detach()) * len(part)
        return total / len(tokens)

    @torch.no_grad()
    def propose(self, relations: Sequence[int], number: int, max_length: int, seed: int) -> list[list[Body]]:
        """Draw at most `number` distinct bodies for each relation, the most probable first."""
        generator = torch.Generator().manual_seed(seed)
        return [self._of_relation(relation, number, max_length, generator) for relation in relations]

    def _of_relation(self, relation: int, number: int, max_length: int, generator: torch.Generator) -> list[Body]:
        drawn = DRAWN * number
        last, state = torch.full((drawn, 1), 2 * relation), None
        said, ended = torch.zeros(drawn), torch.zeros(drawn, dtype=torch.bool)
        places = []
        for length in range(max_length + 1):
            read, state = self.network(self.token(last), state)
            logits = self.next(read[:, 0])
            if length == 0:
                logits[:, self.end] = -torch.inf  # a body has an atom
            if length == max_length:
                logits[:, : self.end] = -torch.inf
            log_p = torch.log_softmax(logits, 1)
            taken = torch.multinomial(log_p.exp(), 1, generator=generator)
            taken[ended] = self.end
            said += torch.where(ended, 0.0, log_p.gather(1, taken)[:, 0])
            ended |= taken[:, 0] == self.end
            places.append(taken)
            last = taken
        found: dict[Body, float] = {}
        for row, log_p in zip(torch.cat(places, 1).tolist(), said.tolist(), strict=True):
            body = tuple(token for token in row if token != self.end)
            if body != (2 * relation,):  # r(X, Y) ← r(X, Y) says nothing
                found[body] = log_p
        return sorted(found, key=lambda body: (-found[body], body))[:number]
