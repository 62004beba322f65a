"""Badges of states: {% campaign_badge campaign %}, {% item_badge item %}, {% verdict_badge judgement %}.

And relations in words: {{ relation.name|relation_words }}.
"""

from django import template
from django.forms.utils import flatatt
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from annotation.enums import CampaignState, ItemState, Verdict
from annotation.models import Campaign, Item
from pooling.questions.relation_names import relation_words

register = template.Library()
register.filter("relation_words", relation_words)

CAMPAIGN = {CampaignState.OPEN: "running", CampaignState.PAUSED: "attention", CampaignState.CLOSED: "done"}
ITEM = {ItemState.SETTLED: "done", ItemState.DISPUTED: "attention", ItemState.UNDECIDED: "cancelled"}
VERDICT = {Verdict.POSITIVE: "positive", Verdict.NEGATIVE: "negative", Verdict.UNDECIDED: "cancelled"}


def badge(style: str, text: str) -> SafeString:
    values = {"element": "span", "state": style, "content": text, "attributes": flatatt({"data-test": "badge"})}
    return render_to_string("components/pill.html", values)


@register.simple_tag
def campaign_badge(campaign: Campaign) -> SafeString:
    return badge(CAMPAIGN[CampaignState(campaign.state)], campaign.state)


@register.simple_tag
def item_badge(item: Item) -> SafeString:
    return badge(ITEM.get(ItemState(item.state), ""), item.get_state_display())


@register.simple_tag
def verdict_badge(verdict: str) -> SafeString:
    return badge(VERDICT[Verdict(verdict)], verdict)
