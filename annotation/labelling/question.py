"""What the items and gold items of one question have in common."""

from typing import NamedTuple

from annotation.models import Check, Gold, Item
from pooling.enums import Side


class Question(NamedTuple):
    """A tail or head question: which side is masked, the relation, and the entity that is not masked."""

    side: str
    relation: int
    entity: int

    def lookups(self, triple: str = "") -> dict[str, str | int]:
        """Return what to filter by; `triple`: the path to the triple, with its underscores."""
        given = "head" if self.side == Side.TAIL else "tail"
        return {"side": self.side, f"{triple}relation": self.relation, f"{triple}{given}": self.entity}


def question_of(asked: Item | Check | Gold) -> Question:
    triple = asked if isinstance(asked, Gold) else asked.triple
    return Question(asked.side, triple.relation, triple.head if asked.side == Side.TAIL else triple.tail)
