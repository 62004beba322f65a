"""Draw family trees: parents are drawn, all other relations follow by rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy import sparse

Parents = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Pairs = npt.NDArray[np.int32]

# The 23 relations: what the head is to the tail, and the gender of the head where the name says it.
# "motherOf": h is the mother of t.
RULES: dict[str, tuple[str, str]] = {
    "parentOf": ("parent", ""),
    "sisterOf": ("sibling", "female"),
    "brotherOf": ("sibling", "male"),
    "siblingOf": ("sibling", ""),
    "motherOf": ("parent", "female"),
    "fatherOf": ("parent", "male"),
    "wifeOf": ("spouse", "female"),
    "husbandOf": ("spouse", "male"),
    "grandmotherOf": ("grandparent", "female"),
    "grandfatherOf": ("grandparent", "male"),
    "auntOf": ("parent's sibling", "female"),
    "uncleOf": ("parent's sibling", "male"),
    "girlCousinOf": ("cousin", "female"),
    "boyCousinOf": ("cousin", "male"),
    "cousinOf": ("cousin", ""),
    "daughterOf": ("child", "female"),
    "sonOf": ("child", "male"),
    "childOf": ("child", ""),
    "granddaughterOf": ("grandchild", "female"),
    "grandsonOf": ("grandchild", "male"),
    "grandchildOf": ("grandchild", ""),
    "nieceOf": ("sibling's child", "female"),
    "nephewOf": ("sibling's child", "male"),
}


@dataclass(frozen=True, eq=False)
class Families:
    """Hold people 0..n-1 in order of birth or marriage, tree after tree: parents come before their children."""

    parents: Parents  # [n, 2]: mother, father; -1, -1 for founders and those who married in
    female: Flags  # [n]
    tree: npt.NDArray[np.int32]  # [n]: the number of the tree


@dataclass(frozen=True)
class Shape:
    """Say how trees grow from one couple, generation by generation."""

    people: int = 60  # most people of one tree
    generations: int = 4  # founders included
    children: tuple[int, int] = (2, 5)  # fewest and most children of a couple
    marriage: float = 0.9  # probability that a child who may have children marries somebody from outside


def draw_families(families: int, shape: Shape, rng: np.random.Generator) -> Families:
    """Draw `families` unrelated trees, each from one couple, generation by generation."""
    parents: list[tuple[int, int]] = []
    female: list[bool] = []
    tree: list[int] = []

    def add(number: int, mother: int, father: int, is_female: bool) -> int:
        parents.append((mother, father))
        female.append(is_female)
        tree.append(number)
        return len(tree) - 1

    for number in range(families):
        first = len(tree)
        couples = [(add(number, -1, -1, True), add(number, -1, -1, False))]
        for generation in range(1, shape.generations):
            born: list[int] = []
            for done, (mother, father) in enumerate(couples, 1):
                # Every couple to come keeps a place for a first child: without one it would be no couple.
                room = first + shape.people - len(tree) - (len(couples) - done)
                for _ in range(min(int(rng.integers(shape.children[0], shape.children[1] + 1)), room)):
                    born.append(add(number, mother, father, bool(rng.random() < 0.5)))
            couples = []
            for child in born if generation < shape.generations - 1 else []:
                if len(tree) + len(couples) + 2 <= first + shape.people and rng.random() < shape.marriage:
                    spouse = add(number, -1, -1, not female[child])
                    couples.append((child, spouse) if female[child] else (spouse, child))
    return Families(np.array(parents, np.int32).reshape(-1, 2), np.array(female, bool), np.array(tree, np.int32))


@dataclass(frozen=True)
class Growth:
    """Say how trees grow at anybody, upwards and downwards: the paper's family trees (open world, appendix A.3)."""

    people: int = 300  # most people of one tree
    depth: int = 3  # generations between the oldest and the youngest
    children: int = 20  # most children of a couple


def grow_families(families: int, growth: Growth, rng: np.random.Generator) -> Families:
    """Draw `families` unrelated trees; each starts from one person and grows at people drawn in turn.

    A drawn person gets parents or a child (and with it a spouse), if the tree has room. So most people have
    ancestors of their own, and few have many cousins. Source: the generator of Hohenecker and Lukasiewicz (2020),
    Ontology reasoning with deep neural networks, as the paper describes its use.
    """
    trees = [_Tree(growth, rng) for _ in range(families)]
    parents, female, offset = [], [], 0
    for tree in trees:
        own, is_female = tree.by_generation()
        parents.append(np.where(own < 0, -1, own + offset))
        female.append(is_female)
        offset += len(own)
    number = np.repeat(np.arange(families), [len(own) for own in female])
    return Families(np.concatenate(parents).astype(np.int32), np.concatenate(female), number.astype(np.int32))


class _Tree:
    """Grow one tree; its lists are by person."""

    def __init__(self, growth: Growth, rng: np.random.Generator) -> None:
        self.growth, self.rng = growth, rng
        self.parents: list[tuple[int, int]] = []
        self.female: list[bool] = []
        self.level: list[int] = []
        self.spouse: list[int] = []
        self.children: list[int] = []
        self.low = self.high = 0
        self.add((-1, -1), self.toss(), 0)
        while (person := self.anybody()) is not None:
            self.grow(person)

    def toss(self) -> bool:
        return bool(self.rng.random() < 0.5)

    def add(self, parents: tuple[int, int], female: bool, level: int, spouse: int = -1) -> int:
        self.parents.append(parents)
        self.female.append(female)
        self.level.append(level)
        self.spouse.append(spouse)
        self.children.append(0)
        self.low, self.high = min(self.low, level), max(self.high, level)
        if spouse >= 0:
            self.spouse[spouse] = len(self.level) - 1
        return len(self.level) - 1

    def anybody(self) -> int | None:
        """Return a random person with room for parents or a child, all equally likely; None: the tree is full."""
        return next(
            (person for person in self.rng.permutation(len(self.level)).tolist() if any(self.room(person))), None
        )

    def room(self, person: int) -> tuple[bool, bool]:
        """Return whether there is room for parents of a person, and for a child."""
        free = self.growth.people - len(self.level)
        level = self.level[person]
        deeper = self.high - self.low < self.growth.depth
        parents = self.parents[person][0] < 0 and free >= 2 and (deeper or level > self.low)
        needed = 1 if self.spouse[person] >= 0 else 2
        few = self.children[person] < self.growth.children
        return parents, few and free >= needed and (deeper or level < self.high)

    def grow(self, person: int) -> None:
        parents, child = self.room(person)
        level = self.level[person]
        if parents and (not child or self.toss()):
            mother = self.add((-1, -1), True, level - 1)
            father = self.add((-1, -1), False, level - 1, spouse=mother)
            self.parents[person] = mother, father
            self.children[mother] = self.children[father] = 1
            return
        if self.spouse[person] < 0:
            self.add((-1, -1), not self.female[person], level, spouse=person)
        couple = person, self.spouse[person]
        mother, father = couple if self.female[person] else couple[::-1]
        self.add((mother, father), self.toss(), level + 1)
        self.children[mother] += 1
        self.children[father] += 1

    def by_generation(self) -> tuple[Parents, Flags]:
        """Return parents [n, 2] and who is female [n], the oldest generation first."""
        order = np.argsort(self.level, kind="stable")
        place = np.argsort(order)
        parents = np.array(self.parents)[order]
        return np.where(parents < 0, -1, place[parents]).astype(np.int32), np.array(self.female)[order]


def derive_relations(parents: Parents, female: Flags) -> dict[str, Pairs]:
    """Return all facts of each relation of RULES: int32[m, 2] of (head, tail), sorted.

    Siblings share both parents; couples are those who have a child together; aunts, uncles and cousins are by
    blood; nobody is anything to themselves.
    """
    kinship = _kinship(parents)
    result = {}
    for relation, (kin, gender) in RULES.items():
        pairs = kinship[kin]
        if gender:
            pairs = pairs[female[pairs[:, 0]] == (gender == "female")]
        result[relation] = pairs
    return result


def _kinship(parents: Parents) -> dict[str, Pairs]:
    """Return the pairs (a, b) of each kinship, where a is b's ..., whatever the gender."""
    from scipy import sparse  # here: few need it, and it takes 12 MiB

    n = len(parents)
    child_id = np.flatnonzero((parents >= 0).all(axis=1))
    mother, father = parents[child_id].T

    def matrix(rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], width: int) -> sparse.csr_array:
        # [n, width], 1 where the row has the relation to the column
        return sparse.csr_array((np.ones(len(rows), np.int32), (rows, columns)), shape=(n, width))

    parent = matrix(np.concatenate([mother, father]), np.tile(child_id, 2), n)
    spouse = matrix(mother, father, n)
    couples, couple = np.unique(mother.astype(np.int64) * n + father, return_inverse=True)
    of_couple = matrix(child_id, couple, len(couples))
    sibling = of_couple @ of_couple.T
    parents_sibling = _without_self(sibling) @ parent
    return {
        "parent": _pairs(parent),
        "child": _pairs(parent.T),
        "sibling": _pairs(sibling),
        "spouse": _pairs(spouse + spouse.T),
        "grandparent": _pairs(parent @ parent),
        "grandchild": _pairs((parent @ parent).T),
        "parent's sibling": _pairs(parents_sibling),
        "sibling's child": _pairs(parents_sibling.T),
        "cousin": _pairs(parent.T @ parents_sibling),
    }


def _without_self(kin: sparse.csr_array) -> sparse.csr_array:
    coo = kin.tocoo()
    other = coo.row != coo.col
    return type(kin)((coo.data[other], (coo.row[other], coo.col[other])), shape=kin.shape)


def _pairs(kin: sparse.csr_array | sparse.csc_array) -> Pairs:
    """Return (row, column) of all entries but zeros and the diagonal, sorted by row, then column."""
    coo = kin.tocoo()
    found = (coo.data != 0) & (coo.row != coo.col)
    pairs = np.stack([coo.row[found], coo.col[found]], axis=1).astype(np.int32)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


@dataclass(frozen=True, eq=False)
class Division:
    """Mark the split of each fact: exactly one of four is true."""

    train: Flags
    valid: Flags
    test: Flags
    missing: Flags


def divide_facts(num_facts: int, density: float, train_share: float, rng: np.random.Generator) -> Division:
    """Divide facts into missing, with probability 1 − d, test, with d(1 − η), and train; 5 % of that is valid.

    `density` is d and `train_share` η; valid takes at least one fact if train has two.
    """
    draw = rng.random(num_facts)
    missing = draw >= density
    test = ~missing & (draw >= density * train_share)
    train = ~missing & ~test
    candidates = np.flatnonzero(train)
    valid = np.zeros(num_facts, bool)
    size = max(round(0.05 * len(candidates)), min(len(candidates) - 1, 1), 0)
    valid[rng.choice(candidates, size=size, replace=False)] = True
    return Division(train & ~valid, valid, test, missing)
