"""Register the kinds of rows that `list` and `show` print: an entry each. Rows are those of the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import QuerySet
from rest_framework.serializers import BaseSerializer

from annotation.api.serializers import RulesData
from annotation.models import Campaign
from core.errors import UserError
from core.models import Job
from core.people.roles import site_roles
from evaluation.api.serializers import ExportData, QrelsData
from evaluation.labels.judgement_rows import judgement_rows
from evaluation.measures.registry import MEASURES, parse_measure
from evaluation.models import Export, Qrels
from evaluation.test_sets.export import zip_path
from pooling.api.serializers import GraphData, JobData, PoolData, RunData, SystemData
from pooling.models import Graph, Pool, Run, System
from pooling.pools.build import get_pool

Row = dict[str, Any]
CHUNK = 1000  # pooled triples at a time


class Kind(NamedTuple):
    """Register a kind: `rows(within)` yields its rows, `name` is the form of a name for `show`.

    `within` says what narrows a list (a graph, a pool); `columns` are those of the printed table.
    """

    rows: Callable[[str], Iterable[Row]]
    name: str
    within: str
    columns: tuple[str, ...]


def _model(queryset: QuerySet[Any], serializer: Callable[..., BaseSerializer[Any]], field: str) -> Any:
    """Return rows of a model, oldest first, of what `field` names if something is given."""

    def rows(within: str) -> Iterator[Row]:
        found = queryset.all().filter(**{field: within}) if within else queryset.all()
        yield from (dict(serializer(row).data) for row in found.order_by("pk"))

    return rows


def _campaigns(within: str) -> Iterator[Row]:
    found = Campaign.objects.select_related("pool__graph").order_by("pk")
    for campaign in found.filter(pool__graph__name=within) if within else found:
        yield {"pool": campaign.pool.name, "state": campaign.state, **RulesData(campaign).data}


def _people(within: str) -> Iterator[Row]:
    """Yield accounts with the roles of the site and of campaigns, or those in a campaign."""
    found = User.objects.filter(is_active=True).prefetch_related("memberships__campaign__pool").order_by("username")
    for person in found:
        member = [f"{one.role} of {one.campaign.pool.name}" for one in person.memberships.all()]
        if not within or any(role.endswith(f" of {within}") for role in member):
            yield {"name": person.username, "roles": [*sorted(site_roles(person)), *sorted(member)]}


def _labels(within: str) -> Iterator[Row]:
    if not within:
        raise UserError("Labels are of a pool: give its name, as in `triplepool label list POOL`.")
    pool = get_pool(within)
    triples = pool.triples.select_related("judgement").order_by("pk")
    ids = list(triples.values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        part = list(triples.filter(pk__in=ids[start : start + CHUNK]))
        yield from ({**row._asdict(), "pool": within} for row in judgement_rows(pool, part))


def _exports(within: str) -> Iterator[Row]:
    found = Export.objects.select_related("qrels__pool").order_by("pk")
    for export in found.filter(qrels__pool__name=within) if within else found:
        fields = [name for name in ExportData.Meta.fields if name not in ("pool", "qrels", "download", "is_written")]
        row = {name: getattr(export, name) for name in fields}
        file = str(zip_path(export)) if export.is_written else None
        yield {"pool": export.qrels.pool.name, "qrels": export.qrels.name, "file": file, **row}


KINDS: dict[str, Kind] = {
    "graph": Kind(
        _model(Graph.objects.all(), GraphData, "name"), "{name}", "name",
        ("name", "source", "num_entities", "num_relations", "num_train", "num_test", "archived"),
    ),
    "system": Kind(
        _model(System.objects.select_related("graph"), SystemData, "graph__name"), "{graph}/{name}", "graph",
        ("graph", "name", "kind", "seed", "state", "validation_mrr", "archived"),
    ),
    "run": Kind(
        _model(Run.objects.select_related("system__graph"), RunData, "system__graph__name"),
        "{graph}/{system}", "graph", ("graph", "system", "depth", "num_questions"),
    ),
    "pool": Kind(
        _model(Pool.objects.select_related("graph"), PoolData, "graph__name"), "{name}", "graph",
        ("graph", "name", "state", "depth", "rule", "archived"),
    ),
    "campaign": Kind(_campaigns, "{pool}", "graph", ("pool", "state", "order", "batch_size", "budget")),
    "person": Kind(_people, "{name}", "pool", ("name", "roles")),
    "label": Kind(_labels, "{pool}/{id}", "pool", ("id", "head", "relation", "tail", "state", "settled")),
    "qrels": Kind(
        _model(Qrels.objects.select_related("pool", "created_by"), QrelsData, "pool__name"), "{pool}/{name}", "pool",
        ("pool", "name", "origin", "num_positive", "num_negative", "created_at"),
    ),
    "measure": Kind(
        lambda within: (measure.facts() for measure in MEASURES), "{name}", "", ("name", "label", "description")
    ),
    "export": Kind(_exports, "{id}", "pool", ("id", "pool", "qrels", "file")),
    "job": Kind(
        _model(Job.objects.select_related("graph", "system", "pool"), JobData, "pool__name"), "{id}", "pool",
        ("id", "kind", "state", "graph", "system", "pool", "percent"),
    ),
}  # fmt: skip


def listed(kind: str, within: str = "") -> list[Row]:
    """Return the rows of a kind, of all or of one graph or pool."""
    if within and not KINDS[kind].within:
        raise UserError(f"A list of kind {kind} is whole: leave {within!r} out.")
    return list(KINDS[kind].rows(within))


def one(kind: str, name: str) -> Row:
    """Return the row of that name; UserError lists the names that there are."""
    if not name:
        raise UserError(_which(kind))
    if kind == "measure":
        try:
            return dict(parse_measure(name).facts())
        except ValueError as error:
            raise UserError(str(error)) from error
    form = KINDS[kind].name
    rows = listed(kind, name.partition("/")[0] if kind == "label" else "")
    found = next((row for row in rows if form.format(**row) == name), None)
    if found is None:
        raise UserError(f"There is no {kind} {name!r}. There are: {_names(kind, rows)}.")
    return found


def _names(kind: str, rows: list[Row]) -> str:
    known = ", ".join(KINDS[kind].name.format(**row) for row in rows[:20]) or "none yet"
    return f"{known} …" if len(rows) > 20 else known


def _which(kind: str) -> str:
    """Return the question for a name that was left out, with the names that there are."""
    form = KINDS[kind].name.replace("{", "").replace("}", "").upper()
    if kind == "label":
        return f"Which {kind}? Give it as {form}; the list of a pool has the ids."
    return f"Which {kind}? Give it as {form}. There are: {_names(kind, listed(kind))}."
