"""{% stage_rail pool "filter" %}: the stages of a pool in order, for the block `stages` of a page."""

from typing import Any

from django import template

from config.stages import STAGES
from pooling.models import Pool

register = template.Library()


@register.inclusion_tag("partials/stages.html")
def stage_rail(pool: Pool, current: str) -> dict[str, Any]:
    rail = [{"key": stage.key, "label": stage.label, "url": stage.url(pool)} for stage in STAGES]
    return {"rail": rail, "pool": pool, "current": current}
