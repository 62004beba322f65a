"""Keep the best of several seeds and archive the others, so that lists and new pools hold one of them."""

from collections.abc import Iterable

from django.db import transaction

from pooling.enums import SystemState
from pooling.models import System
from pooling.systems.spec import with_neutral


def keep_best(system: System) -> System | None:
    """Archive the seeds that `system` belongs to, except the best by validation MRR, which is returned.

    Its seeds are the systems of its graph, kind and settings that were made to choose from. Nothing happens until all
    are trained, except failed ones that a person archived. A tie goes to the lower seed.
    """
    if not system.best_of_seeds:
        return None
    with transaction.atomic():
        made = System.objects.filter(graph=system.graph_id, kind=system.kind, best_of_seeds=True)
        alike = [one for one in made.order_by("seed", "id") if without_device(one) == without_device(system)]
        seeds = [one for one in alike if one.state == SystemState.TRAINED or not one.archived]
        if any(one.state != SystemState.TRAINED for one in seeds):
            return None
        if sum(not one.archived for one in seeds) < 2:
            return None  # chosen already: what people archived or took back since then stays so
        best = best_of(seeds)
        System.objects.filter(pk__in=[one.pk for one in seeds]).update(archived=True)
        System.objects.filter(pk=best.pk).update(archived=False)
    return best


def best_of(seeds: Iterable[System]) -> System:
    """Return the best of one or more systems by validation MRR; a tie goes to the lower seed, then to the older."""
    ordered = sorted(seeds, key=lambda one: (one.seed, one.pk))
    return max(ordered, key=lambda one: -1.0 if one.validation_mrr is None else one.validation_mrr)


def without_device(system: System) -> dict[str, object]:
    """Return the settings that make a system what it is, without the device that computes it.

    A setting that is newer than the row has its neutral value.
    """
    return {key: value for key, value in with_neutral(system.settings).items() if key != "device"}
