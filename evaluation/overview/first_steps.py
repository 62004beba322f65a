"""The four first steps of a new site: what is done, what is under way, and the page that does the next one."""

from typing import NamedTuple

from django.db.models import Count, Q
from django.urls import reverse

from annotation.models import Invitation, Membership
from core import clock
from pooling.enums import PoolState, SystemState
from pooling.models import Graph, Pool, System


class FirstStep(NamedTuple):
    """A step: what there is of it, and the label and page of its button; without a page it must wait."""

    key: str
    title: str
    about: str
    is_done: bool
    found: str  # what there is, in words
    label: str
    url: str


def first_steps() -> list[FirstStep]:
    """Return the steps of this site, in order; [] once all four were done."""
    graph, pool = Graph.objects.order_by("archived", "-pk").first(), Pool.objects.order_by("archived", "-pk").first()
    states = System.objects.aggregate(
        trained=Count("pk", filter=Q(state=SystemState.TRAINED)),
        waiting=Count("pk", filter=Q(state__in=(SystemState.WAITING, SystemState.TRAINING))),
    )
    pools = Pool.objects.aggregate(
        ready=Count("pk", filter=Q(state=PoolState.READY)), building=Count("pk", filter=Q(state=PoolState.BUILDING))
    )
    people = Membership.objects.values("person").distinct().count()
    usable = Invitation.objects.filter(revoked_at=None, used_at=None, expires_at__gt=clock.now())
    invited = usable.filter(campaign__isnull=False).count()
    graphs = Graph.objects.count()
    asked = f"?graph={graph.name}" if graph else ""
    steps = [
        FirstStep(
            "graph",
            "Import a graph",
            "Your files, or a graph that comes with TriplePool.",
            graphs > 0,
            _words((graphs, "graph")),
            "Import a graph",
            reverse("graph-import"),
        ),
        FirstStep(
            "systems",
            "Train systems",
            "They rank the candidates of each question. The six that are chosen already suit most graphs.",
            states["trained"] > 0,
            _words((states["trained"], "system", "trained"), (states["waiting"], "system", "in training")),
            "Train systems",
            reverse("systems", args=[graph.name]) if graph else "",
        ),
        FirstStep(
            "pool",
            "Build a pool",
            "The first candidates of the systems become the triples that people judge.",
            pools["ready"] > 0,
            _words((pools["ready"], "pool", "built"), (pools["building"], "pool", "being built")),
            "Build a pool",
            reverse("pool-new") + asked if states["trained"] else "",
        ),
        FirstStep(
            "people",
            "Invite people",
            "Two people answer each question, and a third decides where they differ.",
            people + invited > 0,
            _words((people, "member"), (invited, "open invitation")),
            "Invite people",
            reverse("campaign-people", args=[pool.name]) if pool else "",
        ),
    ]
    return [] if all(step.is_done for step in steps) else steps


def _words(*counts: tuple[int, str] | tuple[int, str, str]) -> str:
    """Return counts in words, such as "2 systems trained, 1 system in training"; zeros are left out."""
    told = (" ".join([f"{n:,}", noun + ("" if n == 1 else "s"), *rest]) for n, noun, *rest in counts if n)
    return ", ".join(told)
