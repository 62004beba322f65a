"""The training page: questions of known answer, one at a time, each with feedback; it works without JavaScript."""

from typing import Any
from urllib.parse import quote

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.api.cards import cards_of
from annotation.enums import GoldOrigin
from annotation.forms.campaigns import TrainingForm
from annotation.labelling.training import (
    Round,
    answer_training,
    can_start,
    last_round,
    needed,
    needs_training,
    start_round,
)
from annotation.models import Campaign, Check, Gold, TrainingQuestion
from annotation.questions.templates import newest_templates, question_text
from annotation.sources.topics import searched
from annotation.sources.verified import verified
from annotation.views.annotate import NO_CONTACT
from annotation.views.find_campaign import find_campaign
from core.people.roles import Right
from core.views.access import SignedInRequest
from core.views.acts import or_message


@require_http_methods(["GET", "HEAD", "POST"])
def training(request: SignedInRequest, pool: str) -> HttpResponse:
    """Show the next question, with ?told=N the feedback to question N, and between rounds what comes next."""
    campaign = find_campaign(request, pool, Right.ANNOTATE)
    if request.method == "POST":
        return _act(request, campaign)
    own, needs = last_round(campaign, request.user), needs_training(campaign, request.user)
    told = _told(own, request.GET.get("told", ""))
    shown = told or (own.next if own and needs else None)
    context: dict[str, Any] = {"campaign": campaign, "round": own, "needs": needs, "told": told, "question": shown}
    if shown:
        context |= _question(campaign, shown)
        context["why"] = _why(shown.gold) if told else ""
    elif needs:
        size = campaign.training_items
        context |= {"size": size, "needed": needed(size, campaign.training_percent)}
        context["can_start"] = can_start(campaign, request.user)
        context["contact"] = campaign.contact.get_username() if campaign.contact else NO_CONTACT
    return render(request, "annotation/labelling/training.html", context)


def _act(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    page, form = reverse("campaign-training", args=[campaign.pool.name]), TrainingForm(request.POST)
    if not form.is_valid():
        or_message(request, lambda: start_round(campaign, request.user))
        return redirect(page)
    asked = form.cleaned_data
    kept = or_message(request, lambda: answer_training(campaign, request.user, asked["question"], asked["answer"]))
    return redirect(f"{page}?told={kept.place}" if kept else page)


def _told(own: Round | None, place: str) -> TrainingQuestion | None:
    """Return the answered question of this round that the address names."""
    answered = [one for one in own.questions if one.answer] if own else []
    return next((one for one in answered if str(one.place) == place), None)


def _question(campaign: Campaign, asked: TrainingQuestion) -> dict[str, Any]:
    gold, cards = asked.gold, cards_of(campaign.pool.graph)
    template = newest_templates(campaign, [gold.relation])[gold.relation]
    subject, other = (cards.of(entity, gold) for entity in (gold.head, gold.tail))
    query = quote(f"{subject['label']} {other['label']}", safe="")
    sources = [
        (source.name, source.search_url.replace("{query}", query))
        for source in searched(verified(campaign), cards.graph, gold.relation)
        if source.search_url.startswith("https://")
    ]
    words = question_text(Check(gold=gold), template, cards.graph)
    return {"words": words, "cards": (subject, other), "searches": sources}


def _why(gold: Gold) -> str:
    if gold.origin == GoldOrigin.SEED:
        return _("It is a known fact of the knowledge graph.")
    if gold.origin == GoldOrigin.FILTER:
        return _("One of the two is of another kind than the relation asks for.")
    return _("The people who run this campaign have checked it.")
