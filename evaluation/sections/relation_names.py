"""Name relations in tables and charts: pages show the label where the graph has one, files keep the key."""

from collections.abc import Sequence
from dataclasses import replace

from evaluation.sections.section import Cell, Json, Table
from pooling.graphs.kernels.graph_arrays import GraphArrays


def named_relations(table: Table, graph: GraphArrays) -> Table:
    """Return the table with a label beside each key of a relation in its first column.

    Such a cell is a mapping with `value`, the key, and `label`. Other cells stay as they are.
    """

    def named(first: Cell) -> Cell:
        relation = graph.relation_index.get(first) if isinstance(first, str) else None
        if relation is None or graph.relation_name(relation) == first:
            return first
        return {"value": first, "label": graph.relation_name(relation)}

    return replace(table, rows=[[named(row[0]), *row[1:]] for row in table.rows])


def relation_axis(relations: Sequence[int], graph: GraphArrays) -> Json:
    """Return the vertical axis of a bar chart of relations: places are keys, since labels can be equal."""
    return {
        "tickvals": [graph.relations[r] for r in relations],
        "ticktext": [graph.relation_name(r) for r in relations],
    }
