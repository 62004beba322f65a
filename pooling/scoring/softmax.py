"""Compute the softmax of scores over all entities at eight scales α at once: normalisers, distance, draws.

Every sum is over one tile of TILE entities, relative to the best score of the tile, and the tiles are added in their
order, all in float64: the bits depend on nothing else that is asked, and no α can overflow.
"""

import numpy as np
import torch
from torch import Tensor

from pooling.scoring.distributions import ALPHAS
from pooling.scoring.scorer import TILE
from pooling.scoring.streaming import on_device

GROUP = 32  # entities of a tile that are looked at together when a draw is found


def powers_of(scores: Tensor, best: Tensor, out: Tensor) -> Tensor:
    """Return exp(α·(score − best)) for every α of ALPHAS: float64 [A, …] of scores float32 […] and best float64.

    One exponential, and then products: each α is twice the one before, or that and the one before it. `out` float64
    [A + 1, …] is written; the last of it is free to be overwritten.
    """
    p02, p05, p1, p2, p5, p10, p20, p50, tenth = out
    tenth.copy_(scores).sub_(best).mul_(0.1).exp_()
    torch.mul(tenth, tenth, out=p02)
    torch.mul(p02, p02, out=p05).mul_(tenth)
    torch.mul(p05, p05, out=p1)
    torch.mul(p1, p1, out=p2)
    torch.mul(p2, p2, out=p5).mul_(p1)
    torch.mul(p5, p5, out=p10)
    torch.mul(p10, p10, out=p20)
    torch.mul(p20, p20, out=p50).mul_(p10)
    return out[:-1]


class Masses:
    """Sum up B questions over T tiles at A α: `add` every tile, `close`, then `exceed` every tile."""

    def __init__(self, rows: int, num_entities: int, device: torch.device) -> None:
        self.num_entities = num_entities
        self.alphas = torch.tensor(ALPHAS, dtype=torch.float64, device=device)[:, None, None]
        empty = torch.empty((len(ALPHAS), rows, -(-num_entities // TILE)), dtype=torch.float64, device=device)
        self.best = empty[0].clone()  # [B, T]: best score of each tile
        self.mass = empty  # [A, B, T]: Σ exp(α·(score − best)) of each tile
        self.excess = empty.clone()  # [A, B, T]: of that, what exceeds 1/|E| of all
        self.log_normaliser = empty[..., 0].clone()  # [A, B]

    def add(self, rows: slice, tiles: slice, scores: Tensor, out: Tensor) -> Tensor:
        """Take in scores float32 [R, T, TILE] (−inf behind the last entity); return their powers, held in `out`."""
        self.best[rows, tiles] = scores.amax(2)
        powers = self.powers(rows, tiles, scores, out)
        self.mass[:, rows, tiles] = powers.sum(3)
        return powers

    def powers(self, rows: slice, tiles: slice, scores: Tensor, out: Tensor) -> Tensor:
        """Return the powers [A, R, T, TILE] of tiles that have been added."""
        return powers_of(scores, self.best[rows, tiles, None], out)

    def close(self, rows: slice) -> None:
        """Compute the normalisers of these rows; every tile of them has been added."""
        best = self.best[rows].amax(1, keepdim=True)
        weight = self.mass[:, rows] * torch.exp(self.alphas * (self.best[rows] - best))
        self.log_normaliser[:, rows] = (self.alphas * best)[..., 0] + weight.cumsum(2)[..., -1].log()

    def exceed(self, rows: slice, tiles: slice, powers: Tensor, spare: Tensor) -> None:
        """Add up what exceeds 1/|E| in tiles of closed rows; `spare` float64 [R, T, TILE] is overwritten."""
        log_even = self.log_normaliser[:, rows, None] - self.alphas * self.best[rows, tiles]
        even = (log_even - np.log(self.num_entities)).exp().clamp_max(1)  # powers are at most 1
        for i, power in enumerate(powers):
            torch.maximum(power, even[i, ..., None], out=spare)
            self.excess[i, rows, tiles] = spare.sum(2)
        self.excess[:, rows, tiles] -= TILE * even

    def tvd(self) -> Tensor:
        """Return ½ Σ|p − 1/|E||, which is Σ max(p − 1/|E|, 0); float64 [A, B]."""
        scale = torch.exp(self.alphas * self.best - self.log_normaliser[..., None])
        return (self.excess * scale).cumsum(2)[..., -1].clamp(0, 1)

    def weight(self, alpha: int) -> Tensor:
        """Return the mass [B, T] of each tile at one α, in the scale of the best of all."""
        best = self.best.amax(1, keepdim=True)
        return self.mass[alpha] * torch.exp(ALPHAS[alpha] * (self.best - best))


class Draws:
    """Draw D entities for each of B questions at ALPHAS[alpha]: a tile by its mass, then a group, then an entity."""

    def __init__(self, uniform: np.ndarray, masses: Masses, alpha: int) -> None:
        """Take `uniform` float64 [B, D] in [0, 1), and closed masses."""
        self.alpha, self.best = alpha, masses.best
        numbers = on_device(uniform, self.best.device)
        self.tile, self.rest = _split(masses.weight(alpha), numbers)
        self.entity = torch.empty_like(self.tile)

    def find(self, scores: Tensor, groups: Tensor, first: int) -> None:
        """Find the draws that fall into tiles first … first + T, of scores [B, T, TILE].

        `groups` [B, T, TILE / GROUP] are sums of their powers over GROUP entities each.
        """
        inside = (self.tile >= first) & (self.tile < first + scores.shape[1])
        row, draw = torch.nonzero(inside, as_tuple=True)
        tile = self.tile[row, draw]
        group, rest = _split(groups[row, tile - first], self.rest[row, draw][:, None])
        of_group = scores.unflatten(2, (-1, GROUP))[row, tile - first, group[:, 0]]  # [m, GROUP]
        below = of_group.double() - self.best[row, tile, None]
        place, _ = _split(below.mul_(ALPHAS[self.alpha]).exp_(), rest)
        self.entity[row, draw] = tile * TILE + group[:, 0] * GROUP + place[:, 0]


def sums_of_groups(power: Tensor) -> Tensor:
    """Return the sums [R, T, TILE / GROUP] over GROUP entities each, of [R, T, TILE]."""
    return power.unflatten(2, (-1, GROUP)).sum(3)


def _split(mass: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """Find where uniform numbers [m, d] in [0, 1] fall among masses [m, w], and where within that one, in [0, 1].

    A mass of 0 is never hit, not even by a number that rounding has made 1.
    """
    until = mass.cumsum(1)
    whole = until[:, -1:]
    at = torch.minimum(uniform * whole, torch.nextafter(whole, torch.zeros_like(whole)))
    place = torch.searchsorted(until, at, right=True)
    before = torch.where(place > 0, until.gather(1, (place - 1).clamp_min(0)), 0.0)
    return place, (at - before) / (until.gather(1, place) - before)
