"""Verified sources of a campaign: where evidence may come from, and for which relations."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from annotation.campaigns.overview import labels_by_source
from annotation.forms.questions import ChooseForm, NewSourceForm, RemoveForm, SourceForm
from annotation.models import Campaign
from annotation.questions.review import num_triples_asked
from annotation.sources import verified as domain
from annotation.views import told
from annotation.views.find_campaign import campaign_page, find_campaign
from core.views.access import SignedInRequest, manager_required
from core.views.acts import Handler, do_act, posted
from core.views.pagination import page_of
from pooling.models import Relation

SIZE = 20


@manager_required
def sources(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name, before_opening=True)
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
    labels, known = labels_by_source(campaign), domain.verified(campaign).chosen
    page = page_of(request, shown, SIZE)
    ticked = set(choose_form["relations"].value() or [])
    context = {"page": page, "query": query, "add_form": add_form, "choose_form": choose_form}
    listed = own if campaign.pk else domain.usual_sources(campaign)
    context["sources"] = [{"source": source, "labels": labels.get(source.pk, 0)} for source in listed]
    # `own`: empty for all sources
    context["rows"] = [
        {"relation": r, "triples": triples[r.index], "own": known.get(r.index, ()), "ticked": str(r.index) in ticked}
        for r in page.object_list
    ]
    return campaign_page(request, campaign, "annotation/sources/list.html", context)


def _choose(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    chosen: list[int] | None = asked["chosen_sources"]
    count = domain.choose_sources(campaign, asked["chosen_relations"], chosen, by=by)
    return told.sources_chosen(count, None if chosen is None else len(chosen))


_ACTS: dict[str, Handler[str]] = {
    "restore": lambda campaign, _, by: told.sources_restored(domain.restore_sources(campaign, by=by)),
    "add": lambda campaign, asked, by: told.source_added(domain.add_source(campaign, **asked, by=by)),
    "choose": _choose,
}


@manager_required
def source(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Show one source, to change or remove it knowing what follows."""
    campaign = find_campaign(request, name, before_opening=True)
    found = get_object_or_404(campaign.sources, pk=pk)
    found.campaign = campaign
    initial = {"name": found.name, "search_url": found.search_url}
    change_form = SourceForm(posted(request, "change"), initial=initial)
    remove_form = RemoveForm(posted(request, "remove"))
    forms = {"change": change_form, "remove": remove_form}
    if request.method == "POST" and (done := do_act(request, _ACTS_ON_ONE, forms, found)):
        messages.success(request, done)
        return redirect("campaign-sources", name)
    context = {"source": found, "change_form": change_form, "remove_form": remove_form}
    context |= {"alone": domain.only_source_of(found), "labels": labels_by_source(campaign).get(pk, 0)}
    context["relations"] = list(found.relations.order_by("key").values_list("key", flat=True))
    return campaign_page(request, campaign, "annotation/sources/detail.html", context)


_ACTS_ON_ONE: dict[str, Handler[str]] = {
    "change": lambda one, asked, by: f"{domain.change_source(one.campaign, one.pk, **asked, by=by).name} is saved.",
    "remove": lambda one, asked, by: told.source_removed(domain.remove_source(one.campaign, one.pk, **asked, by=by)),
}


def _relations(campaign: Campaign, triples: dict[int, int], query: str) -> list[Relation]:
    """Return the relations that people are asked about and whose name has the text, most triples first."""
    relations = campaign.pool.graph.relations.filter(index__in=triples)
    if query:
        relations = relations.filter(key__icontains=query)
    return sorted(relations, key=lambda relation: (-triples[relation.index], relation.index))
