"""Entity cards: what people who label are told of an entity. Everything comes from the graph, nothing from runs."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pooling.graphs.entity_texts import EntityTexts
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.kernels.sample_facts import SampleFacts
from pooling.graphs.opening import OPEN_GRAPHS, entity_texts, open_graph, sample_facts
from pooling.models import Graph
from pooling.questions.relation_names import relation_words, spell

REMEMBERED = 2_000  # cards of a graph that stay in memory
MOST_DESCRIPTION, MOST_ALIASES, MOST_TYPES, FACTS = 300, 5, 4, 3  # characters, and numbers of the others


class Cards:
    """Make the cards of one graph's entities; each answer of a person brings again those of the questions in hand."""

    def __init__(self, graph: GraphArrays, texts: EntityTexts, facts: SampleFacts) -> None:
        self.graph, self.texts, self.facts = graph, texts, facts
        self._made = lru_cache(REMEMBERED)(self._make)

    def of(self, entity: int, triple: Any) -> Mapping[str, Any]:
        """Return the card of the head or tail of a triple that somebody is asked about; it is shared."""
        return self._made(entity, triple.relation, triple.tail if entity == triple.head else triple.head)

    def _make(self, entity: int, relation: int, other: int) -> dict[str, Any]:
        text = self.texts[entity]
        description = text.description
        if len(description) > MOST_DESCRIPTION:
            description = description[:MOST_DESCRIPTION].rsplit(" ", 1)[0] + " …"
        return {
            "key": self.graph.entities[entity],
            "label": self.graph.label(entity),
            "types": self._types(entity),
            "description": description,
            "aliases": list(text.aliases[:MOST_ALIASES]),
            "link": text.link,
            "facts": [self._fact(*fact) for fact in self.facts.of(entity, relation, other, FACTS)],
        }

    def _types(self, entity: int) -> list[str]:
        """Return the first types in words: the last part of a path, each once."""
        words = (spell(name) for name in self.graph.types[entity])
        return list(dict.fromkeys(word for word in words if word))[:MOST_TYPES]

    def _fact(self, head: int, relation: int, tail: int) -> dict[str, str]:
        words = relation_words(self.graph.relation_name(relation))
        return {"head": self.graph.label(head), "relation": words, "tail": self.graph.label(tail)}


def cards_of(graph: Graph) -> Cards:
    """Return the cards of a graph; what they need is read once per process."""
    return _cards(open_graph(graph), entity_texts(graph), sample_facts(graph))


_cards = lru_cache(OPEN_GRAPHS)(Cards)
