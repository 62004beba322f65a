"""Stop the release of triples once the order of the systems is sure enough.

A release must not wait for a thousand resamples. The rule reads the figure that was kept, and a job renews it.
"""

from typing import Any

from annotation.models import Campaign
from evaluation.measures.registry import parse_measure
from evaluation.planning.sections import ANALYSIS
from evaluation.planning.work_left import is_reached, kept_order_figure
from evaluation.sections.figure_cache import figure_version, is_live, may_follow, part_job, start_part
from evaluation.sections.settings import Settings


def stop_at_target(sender: Any, campaign: Campaign, **kwargs: Any) -> str:
    """Return why no batch should be released: the target is reached; empty where it is not, or not known.

    Where the figure is missing or older than the labels, a job is started for it.
    """
    if campaign.target_tau is None:
        return ""
    pool = campaign.pool
    kept = kept_order_figure(pool, campaign.target_measure)
    is_fresh = kept is not None and kept.version == figure_version(pool)
    if not is_fresh:
        settings, part = Settings(), ANALYSIS.part("order")  # it keeps the figure of the target beside its own
        job = part_job(pool, ANALYSIS, part, settings)
        if not is_live(job) and may_follow(job):
            start_part(pool, ANALYSIS, part, settings)
    if kept is None or not is_reached(kept.content, campaign.target_tau):
        return ""
    content = kept.content
    age = "" if is_fresh else f" This is of the first {content['judged']:,} judgements; later ones wait for a job."
    return (
        f"The target is reached: by {parse_measure(campaign.target_measure).label} the 95 % interval of tau begins at"
        f" {content['low']:.2f}, and {campaign.target_tau:.2f} was asked for.{age}"
    )
