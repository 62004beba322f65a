"""Import a graph: check its source, write its files, store its rows."""

import uuid
from typing import Any

import numpy as np
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import DatabaseError

from core.callbacks import TellStage
from core.files.artifacts import artifact_path
from core.files.storage import delete, publish
from core.jobs.fencing import fenced
from core.people.audit_log import record
from pooling.enums import PoolingAct
from pooling.graphs import files
from pooling.graphs.checks import MAX_RELATION_LENGTH, CheckedGraph, check_source
from pooling.graphs.kernels.graph_arrays import GraphArrays
from pooling.graphs.source_data import GraphError, GraphSourceData
from pooling.models import Graph, Relation

UNSEEN = ("keep", "drop")


def import_graph(
    name: str,
    source: GraphSourceData,
    *,
    unseen: str = "keep",
    options: dict[str, Any],
    created_by: AbstractBaseUser | None = None,
    progress: TellStage | None = None,
) -> Graph:
    """Check a source, write its files and add its rows; GraphError says what is wrong, and leaves nothing behind.

    `unseen`: 'keep' or 'drop' valid and test triples with entities that train does not have.
    `progress` is called with a stage, what is done of it, and its whole.
    """
    check_new_name(name)
    if unseen not in UNSEEN:
        raise GraphError(f"unseen must be keep or drop, not {unseen!r}.")
    tell = progress or (lambda stage, done, total: None)
    tell("check triples", 0, 1)
    graph = check_source(source, unseen)
    tell("check triples", 1, 1)
    row = _row(name, source, unseen, options, graph)
    row.created_by = created_by  # type: ignore[assignment]
    description = {
        "source": row.source,
        "options": row.options,
        "report": row.report,
        "counts": {
            field: getattr(row, f"num_{field}") for field in ("entities", "relations", "train", "valid", "test")
        },
    }
    try:
        with files.new_folder() as aside:
            row.sha256 = files.write_graph(aside, graph, description, tell)
            row.artifact = f"graphs/{uuid.uuid4().hex[:12]}"
            try:
                aside.rename(artifact_path(row.artifact))
                publish(row.artifact)
                _store(row, graph.arrays)
            except BaseException:
                delete(row.artifact)
                raise
    except OSError as error:
        raise GraphError(
            f"Graph {name} could not be written below {artifact_path('graphs')}: {error.strerror or error}. "
            "Nothing was changed; free some disk space and import it again."
        ) from error
    except DatabaseError as error:
        check_new_name(name)  # somebody else may have been faster
        raise GraphError(f"Graph {name} could not be stored in the database: {error}.") from error
    return row


def check_new_name(name: str) -> None:
    """Raise GraphError if a graph cannot have this name, before any work is done."""
    try:
        validate_slug(name)
    except ValidationError:
        raise GraphError(f"{name!r} cannot name a graph: use letters, digits, - and _ only.") from None
    if len(name) > 80:
        raise GraphError(f"{name!r} is too long for a graph's name: 80 characters at most.")
    if Graph.objects.filter(name=name).exists():
        raise GraphError(f"There is a graph {name} already: choose another name, or delete that one first.")


def _row(name: str, source: GraphSourceData, unseen: str, options: dict[str, Any], graph: CheckedGraph) -> Graph:
    """Return the unsaved row; artifact and checksum follow when the files exist."""
    arrays = graph.arrays
    return Graph(
        name=name,
        source=source.source.value,
        options={**options, "unseen": unseen},
        num_entities=arrays.num_entities,
        num_relations=arrays.num_relations,
        num_train=len(arrays.train),
        num_valid=len(arrays.valid),
        num_test=len(arrays.test),
        has_closed_world=graph.closed_world is not None,
        report=graph.report,
    )


@fenced()
def _store(row: Graph, arrays: GraphArrays) -> None:
    """Save the rows; short, so that SQLite's one writer is not blocked."""
    row.save()
    num_train = np.bincount(arrays.train[:, 1], minlength=arrays.num_relations)
    num_test = np.bincount(arrays.test[:, 1], minlength=arrays.num_relations)
    Relation.objects.bulk_create(
        (
            Relation(
                graph=row,
                index=index,
                key=key,
                label=arrays.relation_labels[index][:MAX_RELATION_LENGTH],
                category=arrays.categories[index],
                domain=arrays.domains[index],
                range=arrays.ranges[index],
                num_train=int(num_train[index]),
                num_test=int(num_test[index]),
            )
            for index, key in enumerate(arrays.relations)
        ),
        batch_size=1000,
    )
    record(row.created_by, PoolingAct.GRAPH_IMPORTED, about=row.name)
