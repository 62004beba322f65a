"""Archive graphs and pools, which takes them out of the lists and offers, and take them back."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.enums import CampaignState
from annotation.models import Campaign
from core.errors import UserError
from core.people.audit_log import record
from pooling.enums import PoolingAct
from pooling.jobs import live_jobs
from pooling.models import Graph, Pool

_ACTS = {
    Graph: (PoolingAct.GRAPH_ARCHIVED, PoolingAct.GRAPH_RESTORED),
    Pool: (PoolingAct.POOL_ARCHIVED, PoolingAct.POOL_RESTORED),
}


class KeepingError(UserError):
    """Say why something cannot be archived or deleted."""


def archive(subject: Graph | Pool, user: User | None) -> None:
    """Take a graph or pool out of the lists; its pages and files stay. Raise KeepingError while it is in use."""
    with transaction.atomic():
        if (job := live_jobs(subject).first()) is not None:
            raise KeepingError(f"Job {job.pk} is at work on {subject.name}: cancel it first, or wait for its end.")
        if isinstance(subject, Pool) and Campaign.objects.filter(pool=subject, state=CampaignState.OPEN).exists():
            raise KeepingError(f"People are labelling {subject.name}: pause or close its campaign before archiving it.")
        _move(subject, True, user)


def take_back(subject: Graph | Pool, user: User | None) -> None:
    """Take a graph or pool back from the archive."""
    with transaction.atomic():
        _move(subject, False, user)


def _move(subject: Graph | Pool, archived: bool, user: User | None) -> None:
    kind = Graph if isinstance(subject, Graph) else Pool
    if kind._default_manager.filter(pk=subject.pk, archived=not archived).update(archived=archived):
        act = _ACTS[kind][0 if archived else 1]
        record(user, act, pool=subject if isinstance(subject, Pool) else None, about=subject.name)
    subject.archived = archived
