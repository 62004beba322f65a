"""The stages from graph to test set, in order: navigation, the status page and the docs read this list."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse


@dataclass(frozen=True)
class Stage:
    key: str
    label: str
    app: str
    url_name: str
    of_graph: bool  # its page belongs to the graph of the pool
    about: str  # one sentence

    def url(self, pool: Any) -> str:
        """Return the address of its page for a pool (pooling.models.Pool)."""
        return reverse(self.url_name, args=[pool.graph.name if self.of_graph else pool.name])


STAGES: tuple[Stage, ...] = (
    Stage("graph", "Graph", "pooling", "graph", True, "Triples split into train, valid and test."),
    Stage("systems", "Systems", "pooling", "systems", True, "Models trained to rank candidates for a question."),
    Stage("runs", "Runs", "pooling", "runs", True, "What each system returned for the questions."),
    Stage("pool", "Pool", "pooling", "pool-triples", False, "The first candidates of all runs, gathered."),
    Stage("filter", "Filter", "pooling", "pool-filter", False, "Trivial triples, assumed negative without a person."),
    Stage("questions", "Questions", "annotation", "pool-questions", False, "The words in which people are asked."),
    Stage("labels", "Labels", "annotation", "campaign", False, "Two blind labels for each triple, by two people."),
    Stage("adjudication", "Adjudication", "annotation", "campaign", False, "A third person, where two labels differ."),
    Stage("qrels", "Judgements", "evaluation", "export", False, "The labels frozen as qrels, in versions."),
    Stage("measures", "Results", "evaluation", "evaluation", False, "How systems compare, sparse and completed."),
    Stage("test-set", "Test set", "evaluation", "export", False, "The completed test set, ready to take away."),
)
STAGE = {stage.key: stage for stage in STAGES}
