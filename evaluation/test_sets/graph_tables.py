"""Write what a graph knows beside its triples, in the files that import_graph reads (docs/formats.md)."""

from collections.abc import Iterable, Iterator

from annotation.questions.templates import templates_at
from evaluation.models import Qrels
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.opening import entity_texts


def type_lines(graph: GraphArrays) -> Iterator[str]:
    """Yield entity and type, a line for each type."""
    for key, types in zip(graph.entities, graph.types, strict=True):
        yield from (f"{key}\t{one}" for one in types)


def domain_range_lines(graph: GraphArrays) -> Iterator[str]:
    """Yield relation, domain and range of the relations that have one of these."""
    for key, domain, range_ in zip(graph.relations, graph.domains, graph.ranges, strict=True):
        if domain or range_:
            yield f"{key}\t{domain}\t{range_}"


def relation_label_lines(graph: GraphArrays) -> Iterator[str]:
    """Yield relation and label."""
    named = zip(graph.relations, graph.relation_labels, strict=True) if graph.relation_labels else ()
    return (f"{key}\t{label}" for key, label in named if label)


def template_lines(qrels: Qrels, graph: GraphArrays) -> Iterator[str]:
    """Yield relation, statement, tail and head question, as when the qrels were frozen; not what is made of a name."""
    for index, of in sorted(templates_at(qrels.pool.graph, qrels.created_at).items()):
        if not of.is_default:
            yield "\t".join([graph.relations[index], of.statement, of.tail_question, of.head_question])


def description_lines(qrels: Qrels, graph: GraphArrays) -> Iterator[str]:
    """Yield entity and description."""
    given = entity_texts(qrels.pool.graph).given()
    return (f"{graph.entities[entity]}\t{of.description}" for entity, of in given if of.description)


def alias_lines(qrels: Qrels, graph: GraphArrays) -> Iterator[str]:
    """Yield entity and alias, a line for each alias."""
    for entity, of in entity_texts(qrels.pool.graph).given():
        yield from (f"{graph.entities[entity]}\t{alias}" for alias in of.aliases)


def link_lines(qrels: Qrels, graph: GraphArrays) -> Iterator[str]:
    """Yield entity and link, also those that a pattern makes."""
    texts = entity_texts(qrels.pool.graph)
    ids: Iterable[int] = range(graph.num_entities) if texts.pattern else texts.ids.tolist()
    return (f"{graph.entities[entity]}\t{link}" for entity in ids if (link := texts[entity].link))
