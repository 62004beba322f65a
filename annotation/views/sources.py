"""Verified sources of a campaign: where evidence may come from, and for which relations."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from annotation.campaigns.source_use import labels_by_source
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
from annotation.views import told
from annotation.views.find_campaign import campaign_page, find_campaign
from core.views.access import SignedInRequest, manager_required
from core.views.acts import do_act, posted
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
def sources(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    query = request.GET.get("q", "").strip()
    triples = num_triples_asked(campaign.pool)
    shown = _relations(campaign, triples, query)
    own = list(campaign.sources.annotate(num_relations=Count("relations")).order_by("pk"))
    add_form = NewSourceForm(posted(request, "add"))
    choose_form = ChooseForm(posted(request, "choose"), shown=shown, sources=own)
    forms = {"add": add_form, "choose": choose_form}
    if request.method == "POST" and (done := do_act(request, _ACTS, forms, campaign)):
        messages.success(request, done)
        address = reverse("campaign-sources", args=[name], query={"q": query} if query else None)
        return redirect(address + ("#relations" if choose_form.is_bound else ""))
    labels = labels_by_source(campaign)
    page = page_of(request, shown, SIZE)
    ticked = set(choose_form["relations"].value() or [])
    return campaign_page(
        request,
        campaign,
        "annotation/sources/list.html",
        sources=[{"source": source, "labels": labels.get(source.pk, 0)} for source in own],
        page=page,
        rows=_rows(page.object_list, triples, verified(campaign), ticked),
        query=query,
        add_form=add_form,
        choose_form=choose_form,
    )


def _restore(campaign: Campaign, _: dict[str, Any], by: User) -> str:
    return told.sources_restored(restore_sources(campaign, by=by))


def _add(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    return told.source_added(add_source(campaign, **asked, by=by))


def _choose(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    chosen: list[int] | None = asked["chosen_sources"]
    count = choose_sources(campaign, asked["chosen_relations"], chosen, by=by)
    return told.sources_chosen(count, None if chosen is None else len(chosen))


_ACTS = {"restore": _restore, "add": _add, "choose": _choose}


@manager_required
def source(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Show one source, to change or remove it knowing what follows."""
    campaign = find_campaign(request, name)
    found = get_object_or_404(campaign.sources, pk=pk)
    found.campaign = campaign
    initial = {"name": found.name, "search_url": found.search_url}
    change_form = SourceForm(posted(request, "change"), initial=initial)
    remove_form = RemoveForm(posted(request, "remove"))
    forms = {"change": change_form, "remove": remove_form}
    if request.method == "POST" and (done := do_act(request, _ACTS_ON_ONE, forms, found)):
        messages.success(request, done)
        return redirect("campaign-sources", name)
    return campaign_page(
        request,
        campaign,
        "annotation/sources/detail.html",
        source=found,
        labels=labels_by_source(campaign).get(pk, 0),
        relations=list(found.relations.order_by("key").values_list("key", flat=True)),
        alone=only_source_of(found),
        change_form=change_form,
        remove_form=remove_form,
    )


def _change(source: Source, asked: dict[str, Any], by: User) -> str:
    return f"{change_source(source.campaign, source.pk, **asked, by=by).name} is saved."


def _remove(source: Source, asked: dict[str, Any], by: User) -> str:
    return told.source_removed(remove_source(source.campaign, source.pk, opens=asked["opens"], by=by))


_ACTS_ON_ONE = {"change": _change, "remove": _remove}


def _relations(campaign: Campaign, triples: dict[int, int], query: str) -> list[Relation]:
    """Return the relations that people are asked about and whose name has the text, most triples first."""
    relations = campaign.pool.graph.relations.filter(index__in=triples)
    if query:
        relations = relations.filter(key__icontains=query)
    return sorted(relations, key=lambda relation: (-triples[relation.index], relation.index))


def _rows(relations: Any, triples: dict[int, int], known: VerifiedSources, ticked: set[str]) -> list[RelationRow]:
    return [RelationRow(r, triples[r.index], known.chosen.get(r.index, ()), str(r.index) in ticked) for r in relations]
