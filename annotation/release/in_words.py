"""Say in words which triples people get next, with figures."""

from django.db.models import Count

from annotation.enums import TargetMeasure
from annotation.models import Campaign
from annotation.release.next_batch import unreleased
from pooling.enums import TO_PEOPLE
from pooling.orders import ORDERS


def what_happens(campaign: Campaign) -> list[str]:
    """Return sentences on what the current order, batches and limits do next; a reader needs to know no term."""
    left = unreleased(campaign.pool)
    by_depth = list(left.order_by("depth").values_list("depth").annotate(n=Count("pk")))
    count = sum(n for _, n in by_depth)
    of_people = campaign.pool.triples.filter(reason=TO_PEOPLE).count()
    if not count:
        given = f"All {of_people:,} triples for people are given out, in random order."
        return [f"{given} The settings below matter only if the pool grows."]
    if campaign.is_closed:
        return [f"The campaign is closed, so the last {count:,} of {of_people:,} triples are given to nobody."]
    if not campaign.batch_size:
        return [f"Annotators get all {count:,} triples at once, in random order. The order below has no effect."]
    return [_first(campaign, by_depth, count), _batches(campaign, count), *_limits(campaign)]


def _first(campaign: Campaign, by_depth: list[tuple[int, int]], count: int) -> str:
    depth, first = by_depth[0]
    if campaign.order != "depth":
        chosen = ORDERS[campaign.order]
        return f"Annotators get {count:,} more triples in the order “{chosen.label}”. {chosen.description}"
    of_system = "the first candidate" if depth == 1 else f"among the first {depth} candidates"
    at = f"the {first:,} triple{'' if first == 1 else 's'} at depth {depth} ({of_system} of some system)"
    rest = f", then the {count - first:,} that were found deeper, depth by depth" if count > first else ""
    return f"Annotators get {at}{' first' if rest else ''}{rest}."


def _batches(campaign: Campaign, count: int) -> str:
    size = min(campaign.batch_size, count)
    several = -(-count // campaign.batch_size)
    whole = ", or a few more so that questions stay whole" if campaign.whole_questions else ""
    if several == 1:
        return f"They come in one batch of {size:,}{whole}, when somebody has nothing left to label."
    most = f"{'at most ' if campaign.whole_questions else ''}{several:,} batches of {size:,}{whole}"
    return f"They come in {most}; the next one when somebody has nothing left to label."


def _limits(campaign: Campaign) -> list[str]:
    ends = []
    if campaign.budget is not None:
        ends.append(f"{campaign.budget:,} labels are given or on their way")
    if campaign.target_tau is not None:
        measure = TargetMeasure(campaign.target_measure).label
        ends.append(
            f"the ranking by {measure} is sure enough (tau, now against resampled, of at least {campaign.target_tau:g})"
        )
    return [f"No batch follows once {' or '.join(ends)}."] if ends else []
