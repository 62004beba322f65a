"""Find a graph by its name; read its arrays, templates, entity texts, sample facts and closed world from its files."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from core.files.artifacts import ArtifactError, artifact_path
from core.files.storage import opened
from pooling.graphs import files
from pooling.graphs.entity_texts import EntityTexts
from pooling.graphs.kernels.graph_arrays import GraphArrays, Ids
from pooling.graphs.kernels.sample_facts import SampleFacts
from pooling.graphs.source_data import GraphError
from pooling.models import Graph
from pooling.questions.templates import TemplateText

OPEN_GRAPHS = 8  # kept in memory per process
_opened: OrderedDict[tuple[str, str], GraphArrays] = OrderedDict()
_texts: OrderedDict[tuple[str, str], EntityTexts] = OrderedDict()
_facts: OrderedDict[tuple[str, str], SampleFacts] = OrderedDict()
_opening = Lock()


def get_graph(name: str) -> Graph:
    """Return the graph of this name; GraphError names those that exist."""
    try:
        return Graph.objects.get(name=name)
    except Graph.DoesNotExist:
        names = ", ".join(Graph.objects.values_list("name", flat=True)) or "none yet; import one with import_graph"
        raise GraphError(f"There is no graph {name}. Graphs: {names}.") from None


def open_graph(graph: Graph) -> GraphArrays:
    """Return the graph's names and triples, read and checked (SHA-256) once per process, then shared."""
    folder = artifact_path(graph.artifact)
    key = (str(folder), graph.sha256)
    with _opening:
        if key not in _opened:
            with _refusal(f"Graph {graph.name}"):
                _opened[key] = opened(graph.artifact, lambda place: files.read_graph(place, graph.sha256))
        _opened.move_to_end(key)
        while len(_opened) > OPEN_GRAPHS:
            _opened.popitem(last=False)
        return _opened[key]


def entity_texts(graph: Graph) -> EntityTexts:
    """Return descriptions, aliases and links of the graph's entities by id, read once per process, then shared."""
    folder, arrays = artifact_path(graph.artifact), open_graph(graph)
    key = (str(folder), graph.sha256)
    with _opening:
        if key not in _texts:
            with _refusal(f"The texts of graph {graph.name}"):
                _texts[key] = opened(
                    graph.artifact, lambda place: files.read_entity_texts(place, graph.sha256, arrays.entities)
                )
        _texts.move_to_end(key)
        while len(_texts) > OPEN_GRAPHS:
            _texts.popitem(last=False)
        return _texts[key]


def sample_facts(graph: Graph) -> SampleFacts:
    """Return the sample facts of the graph's entities, arranged once per process, then shared."""
    arrays = open_graph(graph)
    key = (str(artifact_path(graph.artifact)), graph.sha256)
    with _opening:
        if key not in _facts:
            _facts[key] = SampleFacts(arrays.train, arrays.num_entities)
        _facts.move_to_end(key)
        while len(_facts) > OPEN_GRAPHS:
            _facts.popitem(last=False)
        return _facts[key]


def closed_world_triples(graph: Graph) -> Ids:
    """Return all true triples int32[n, 3] of a graph with a closed world; GraphError for any other."""
    if not graph.has_closed_world:
        raise GraphError(f"Graph {graph.name} has no closed world: only the family generator knows all true triples.")
    with _refusal(f"The closed world of graph {graph.name}"):
        return opened(graph.artifact, lambda place: files.read_closed_world(place, graph.sha256))


def given_templates(graph: Graph) -> dict[int, TemplateText]:
    """Map the id of each relation that came with templates to its statement, tail question and head question."""
    with _refusal(f"The templates of graph {graph.name}"):
        texts = opened(graph.artifact, lambda place: files.read_templates(place, graph.sha256))
    index = open_graph(graph).relation_index
    return {index[relation]: text for relation, text in texts.items()}


@contextmanager
def _refusal(what: str) -> Iterator[None]:
    """Raise GraphError where a file cannot be read."""
    try:
        yield
    except (ArtifactError, OSError) as error:
        raise GraphError(f"{what} cannot be opened: {error}") from error
