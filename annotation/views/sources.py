"""Verified sources of a campaign: where evidence may come from, and for which relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.campaigns.source_use import labels_by_source
from annotation.errors import CampaignError
from annotation.forms.sources import ChooseForm, NewSourceForm, RemoveForm, SourceForm
from annotation.models import Campaign, Source
from annotation.questions.review import num_triples_asked
from annotation.sources.verified import (
    VerifiedSources,
    add_source,
    change_source,
    choose_sources,
    only_source_of,
    remove_source,
    restore_sources,
    verified,
)
from annotation.views.find_campaign import find_campaign
from core.views.access import manager_required
from core.views.pagination import page_of
from pooling.models import Relation

SIZE = 20


@dataclass(frozen=True)
class RelationRow:
    relation: Relation
    triples: int
    own: tuple[Source, ...]  # empty: all sources
    ticked: bool


@manager_required
def sources(request: HttpRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    query = request.GET.get("q", "").strip()
    triples = num_triples_asked(campaign.pool)
    shown = _relations(campaign, triples, query)
    own = list(campaign.sources.annotate(num_relations=Count("relations")).order_by("pk"))
    act = request.POST.get("act", "") if request.method == "POST" else ""
    add_form = NewSourceForm(request.POST if act == "add" else None)
    choose_form = ChooseForm(request.POST if act == "choose" else None, shown=shown, sources=own)
    if request.method == "POST":
        done = _act(request, campaign, act, add_form, choose_form)
        if done:
            messages.success(request, done)
            return redirect(_address(campaign, query, "#relations" if act == "choose" else ""))
    labels = labels_by_source(campaign)
    page = page_of(request, shown, SIZE)
    ticked = set(choose_form["relations"].value() or [])
    context = {
        "pool": campaign.pool,
        "campaign": campaign,
        "sources": [{"source": source, "labels": labels.get(source.pk, 0)} for source in own],
        "page": page,
        "rows": _rows(page.object_list, triples, verified(campaign), ticked),
        "query": query,
        "add_form": add_form,
        "choose_form": choose_form,
    }
    return render(request, "annotation/sources/list.html", context)


def _act(request: HttpRequest, campaign: Campaign, act: str, add_form: NewSourceForm, choose_form: ChooseForm) -> str:
    """What was done, for the person; empty when a form says why nothing was."""
    by = _manager(request)
    if act == "restore":
        added = restore_sources(campaign, by=by)
        return f"{added} of the usual sources added." if added else "All of the usual sources are here."
    forms = {"add": add_form, "choose": choose_form}
    if act not in forms:
        raise Http404
    if not forms[act].is_valid():
        return ""
    try:
        if act == "add":
            return f"Links at {add_source(campaign, **add_form.cleaned_data, by=by).host} are accepted now."
        chosen = choose_form.chosen_sources()
        count = choose_sources(campaign, choose_form.chosen_relations(), chosen, by=by)
    except CampaignError as error:
        forms[act].add_error(None, str(error))
        return ""
    relations = "1 relation takes" if count == 1 else f"{count} relations take"
    which = "all sources" if chosen is None else "1 source" if len(chosen) == 1 else f"{len(chosen)} sources"
    return f"{relations} {which} from the next question on."


@manager_required
def source(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """One source: change it, or remove it knowing what follows."""
    campaign = find_campaign(request, name)
    found = get_object_or_404(campaign.sources, pk=pk)
    act = request.POST.get("act", "") if request.method == "POST" else ""
    initial = {"name": found.name, "search_url": found.search_url}
    change_form = SourceForm(request.POST if act == "change" else None, initial=initial)
    remove_form = RemoveForm(request.POST if act == "remove" else None)
    if request.method == "POST":
        done = _change_or_remove(request, campaign, found, act, change_form, remove_form)
        if done:
            messages.success(request, done)
            return redirect("campaign-sources", name)
    context = {
        "pool": campaign.pool,
        "campaign": campaign,
        "source": found,
        "labels": labels_by_source(campaign).get(pk, 0),
        "relations": list(found.relations.order_by("key").values_list("key", flat=True)),
        "alone": only_source_of(found),
        "change_form": change_form,
        "remove_form": remove_form,
    }
    return render(request, "annotation/sources/detail.html", context)


def _change_or_remove(
    request: HttpRequest, campaign: Campaign, found: Source, act: str, change_form: SourceForm, remove_form: RemoveForm
) -> str:
    forms = {"change": change_form, "remove": remove_form}
    if act not in forms:
        raise Http404
    if not forms[act].is_valid():
        return ""
    by = _manager(request)
    try:
        if act == "change":
            changed = change_source(campaign, found.pk, **change_form.cleaned_data, by=by)
            return f"{changed.name} is saved."
        host = remove_source(campaign, found.pk, opens=remove_form.cleaned_data["opens"], by=by)
    except CampaignError as error:
        forms[act].add_error(None, str(error))
        return ""
    return f"Links at {host} are no longer accepted; labels that have one keep it."


def _relations(campaign: Campaign, triples: dict[int, int], query: str) -> list[Relation]:
    """Those that people are asked about and whose name has the text, most triples first."""
    relations = campaign.pool.graph.relations.filter(index__in=triples)
    if query:
        relations = relations.filter(key__icontains=query)
    return sorted(relations, key=lambda relation: (-triples[relation.index], relation.index))


def _rows(relations: Any, triples: dict[int, int], known: VerifiedSources, ticked: set[str]) -> list[RelationRow]:
    return [
        RelationRow(
            relation, triples[relation.index], known.chosen.get(relation.index, ()), str(relation.index) in ticked
        )
        for relation in relations
    ]


def _address(campaign: Campaign, query: str, part: str) -> str:
    return reverse("campaign-sources", args=[campaign.pool.name], query={"q": query} if query else None) + part


def _manager(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # manager_required
    return request.user
