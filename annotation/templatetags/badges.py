"""Badges of states: {% campaign_badge campaign %}, {% item_badge item %}, {% verdict_badge judgement %}."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.enums import CampaignState, ItemState, Verdict
from annotation.models import Campaign, Item

register = template.Library()

CAMPAIGN = {
    CampaignState.OPEN: "badge-running",
    CampaignState.PAUSED: "badge-attention",
    CampaignState.CLOSED: "badge-done",
}
ITEM = {ItemState.SETTLED: "badge-done", ItemState.DISPUTED: "badge-attention", ItemState.UNDECIDED: "badge-cancelled"}
VERDICT = {Verdict.POSITIVE: "badge-positive", Verdict.NEGATIVE: "badge-negative", Verdict.UNDECIDED: "badge-cancelled"}


def badge(style: str, text: str) -> SafeString:
    return format_html('<span class="{}" data-test="badge">{}</span>', f"badge {style}".strip(), text)


@register.simple_tag
def campaign_badge(campaign: Campaign) -> SafeString:
    return badge(CAMPAIGN[CampaignState(campaign.state)], campaign.state)


@register.simple_tag
def item_badge(item: Item) -> SafeString:
    return badge(ITEM.get(ItemState(item.state), ""), item.get_state_display())


@register.simple_tag
def verdict_badge(verdict: str) -> SafeString:
    return badge(VERDICT[Verdict(verdict)], verdict)
