"""The people side of a pool for its manager: state, next steps, rules, and items with their history."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Q
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import override
from django.views.decorators.http import require_POST, require_safe

from annotation.campaigns.bulk import BULK, act_on_items, acts_for, assign_items, effect, refusals, who_can_take
from annotation.campaigns.items import (
    DECIDED,
    SORTS,
    ItemFilter,
    assigned_people,
    find_items,
    history,
    item_rows,
    item_table,
)
from annotation.campaigns.lifecycle import open_or_start, set_rules, set_state
from annotation.campaigns.outlook import outlook
from annotation.campaigns.overview import FEW, Overview, overview, pace, timed_labels
from annotation.campaigns.trend import Trend, trend
from annotation.enums import AnnotationJob, CampaignState, ItemState
from annotation.forms.campaigns import AssignForm, ItemFilterForm, ReasonForm, ReopenForm, RulesForm, StateForm
from annotation.forms.release import OpenForm
from annotation.labelling.disputes import decisions, standing_disputes
from annotation.labelling.withdraw import reopen_judgement, return_item
from annotation.models import Campaign, Item
from annotation.models.slot import PLACES
from annotation.people.invitations import open_invitations
from annotation.quality.reports import AgreementReport, agreement_report, weakest
from annotation.questions.reading import named, unread_relations, without_words, write_address
from annotation.questions.templates import item_text
from annotation.release.settings import DEFAULT_ORDER
from annotation.views import told
from annotation.views.campaign_charts import agreement_chart, labels_chart
from annotation.views.find_campaign import campaign_page, find_campaign
from annotation.views.next_steps import next_steps
from core.forms import whole_number
from core.jobs.lifecycle import live_jobs
from core.models import Job
from core.people.roles import can_manage
from core.views.access import SignedInRequest, evaluator_required, manager_posts, manager_required, no_store
from core.views.acts import attempt, do_act, or_message, posted
from core.views.files import csv_response
from core.views.pagination import page_of
from pooling.enums import TO_PEOPLE
from pooling.graphs.opening import open_graph
from pooling.models import Pool
from pooling.orders import ORDERS
from pooling.views.find import find_pool

MOST_KEPT = 200  # items that stay chosen: they are in an address
MOST_LISTED = 10  # of the chosen items, before an act
MOST_STEPS = 3  # that are shown at once
AGREEMENT_SECONDS = 60
OPENED = "The campaign of {} is open."
_TOLD = {
    CampaignState.OPEN: "The campaign is open: items are given out.",
    CampaignState.PAUSED: "The campaign is paused: no new items are given out.",
    CampaignState.CLOSED: "The campaign is closed: its labels stay as they are.",
}


@evaluator_required
@manager_posts
def campaign(request: SignedInRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    found = Campaign.objects.filter(pool=pool).first()
    if found is None:
        return _open(request, pool)
    found.pool = pool
    form = StateForm(posted(request), expected=pool.name)
    if request.method == "POST" and (done := do_act(request, {"state": _set_state}, {"state": form}, found)):
        messages.success(request, done)
        return redirect("campaign", name)
    counts, people = overview(found), outlook(found)
    course, report = trend(found, counts), _agreement(found, counts)
    context: dict[str, Any] = {"overview": counts, "few": FEW, "outlook": people, "trend": course, "form": form}
    context |= {"labels_chart": labels_chart(course.days), "agreement_chart": agreement_chart(report.weeks)}
    context |= {"weeks": report.weeks, "cost": _cost(found, course) if can_manage(request.user) else None}
    if counts.left and counts.pace_ms is None:
        context["timed"] = timed_labels(found)
    steps = next_steps(found, counts, people, course, weakest(report))
    context |= {"steps": steps[:MOST_STEPS], "more_steps": steps[MOST_STEPS:]}
    return campaign_page(request, found, "annotation/campaigns/detail.html", context)


def _agreement(campaign: Campaign, counts: Overview) -> AgreementReport:
    """Return the agreement by week and relation, a minute old at most: it reads every label."""
    key = f"agreement:{campaign.pk}:{counts.labels}"
    found: Any = cache.get_or_set(key, lambda: agreement_report(campaign), AGREEMENT_SECONDS)
    report: AgreementReport = found
    return report


def _cost(campaign: Campaign, course: Trend) -> tuple[float, float | None] | None:
    """Return what the work has cost and what the rest will cost; None if the campaign names no rate."""
    if campaign.hourly_rate is None:
        return None
    to_come = course.hours_to_come
    return course.hours * campaign.hourly_rate, None if to_come is None else to_come * campaign.hourly_rate


def _set_state(campaign: Campaign, asked: dict[str, Any], by: User) -> str:
    state = CampaignState(asked["state"])
    set_state(campaign, state, by=by)
    return _TOLD[state]


def _open(request: SignedInRequest, pool: Pool) -> HttpResponse:
    """Show the page of a pool without a campaign, and open one."""
    form = OpenForm()
    if request.method == "POST":
        # a bare request opens it in the usual way, everything at once
        form = OpenForm({"order": DEFAULT_ORDER, "batch_size": 0, "audit_percent": 0} | request.POST.dict())
        opened = attempt(form, lambda asked: open_or_start(pool, form.options(), request.user))
        if isinstance(opened, Job):
            return redirect("job", opened.pk)
        if opened:
            has_people = opened.members.exists()
            messages.success(request, OPENED.format(pool.name) + ("" if has_people else " Add people to it."))
            return redirect("campaign" if has_people else "campaign-people", pool.name)
    num = pool.triples.filter(reason=TO_PEOPLE).count()
    unread = unread_relations(pool) if num else []
    odd = without_words(unread)
    context = {"pool": pool, "to_people": num, "form": form}
    if prepared := Campaign.every.filter(pool=pool).first():
        members = prepared.members.values("person").distinct().count()
        context |= {"people": members, "invited": open_invitations(prepared).count()}
    context["opening"] = live_jobs(Q(pool=pool, kind=AnnotationJob.OPEN_CAMPAIGN))
    context |= {"without_words": odd, "named": named(odd), "write": write_address(pool), "unread": len(unread)}
    return render(request, "annotation/campaigns/closed.html", context | {"orders": ORDERS.values()})


@manager_required
def rules(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name, before_opening=True)
    form = RulesForm.of(campaign, posted(request))
    changed = attempt(form, lambda asked: set_rules(campaign, **asked, by=request.user))
    if changed is not None:
        messages.success(request, told.saved([RulesForm.called(name) for name in changed]))
        return redirect(f"{reverse('campaign-rules', args=[name])}{'#' if form.part else ''}{form.part}")
    context = {"form": form, "parts": RulesForm.parts(campaign, form)}
    return campaign_page(request, campaign, "annotation/campaigns/rules.html", context)


@manager_required
def triples(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    query = request.GET.copy()
    chosen = _ids(query.pop("chosen", [""])[-1].split(","))
    why_not = refusals(campaign, query.pop("refused", [""])[-1], chosen)
    request.GET = query  # type: ignore[assignment]  # links of the page do not repeat what was chosen
    form = ItemFilterForm(campaign, query)
    wanted = form.wanted()
    page = page_of(request, find_items(campaign, wanted))
    found = item_rows(campaign, page)
    assigned = assigned_people(row.item.pk for row in found)
    with override("en"):  # managers' pages are English
        disputes = standing_disputes(row.item for row in found)
        decided = decisions(row.item for row in found if row.decisions)
    rows = []
    for row in found:
        pk = row.item.pk
        dispute = disputes.get(pk) or decided.get(pk)
        rows.append((row, acts_for(row.item), pk in chosen, why_not.get(pk), assigned.get(pk, []), dispute))
    context = {"form": form, "page": page, "rows": rows, "wanted": wanted, "sorts": _sorts(wanted)}
    context["listed"] = {ItemState.DISPUTED: "Disputes", DECIDED: "Settled disputes"}.get(wanted.state, "Items")
    context |= {"acts": told.BULK_ACTS, "impossible": set(BULK).difference(*(acts for _, acts, *_ in rows))}
    return campaign_page(request, campaign, "annotation/campaigns/triple_list.html", context)


def _ids(given: Sequence[str]) -> list[int]:
    return [pk for pk in map(whole_number, given) if pk is not None]


def _sorts(wanted: ItemFilter) -> dict[str, tuple[str, str]]:
    """Return for each column that sorts the value of ?sort= in its heading, and its aria-sort."""
    return {
        key: (f"-{key}", "ascending") if wanted.sort == key else (key, "descending" if wanted.sort == f"-{key}" else "")
        for key in SORTS
    }


@require_safe
@manager_required
def triples_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Send all items that match the filter of the list."""
    campaign = find_campaign(request, name)
    rows = item_table(campaign, ItemFilterForm(campaign, request.GET).wanted())
    return no_store(csv_response(rows, f"{campaign.pool.name}-items.csv"))


@require_POST
@manager_required
def triples_bulk(request: SignedInRequest, name: str) -> HttpResponse:
    """Say what an act on the chosen items would do, and do it once a reason is given."""
    campaign = find_campaign(request, name)
    act, ids = request.POST.get("act", ""), _ids(request.POST.getlist("items"))
    if act not in BULK:
        raise Http404

    def back(chosen: Sequence[int] = (), refused: str = "") -> str:
        """Return the address of the list as it was, with these items still chosen."""
        query = QueryDict(request.POST.get("back", ""), mutable=True)
        if chosen:
            query["chosen"] = ",".join(map(str, chosen[:MOST_KEPT]))
        if refused:
            query["refused"] = refused
        address = reverse("campaign-triples", args=[name])
        return f"{address}?{query.urlencode(safe=',')}" if query else address

    found = or_message(request, lambda: effect(campaign, act, ids)) if ids else None
    if found is None or not found.items:
        if found is not None or not ids:
            messages.error(request, told.NOTHING_ALLOWS if ids else told.NOTHING_CHOSEN)
        return redirect(back(ids, act if ids else ""))
    form: Form
    if act == "assign":
        form = AssignForm(who_can_take(campaign, ids), request.POST if "person" in request.POST else None)
        given = attempt(form, lambda asked: assign_items(campaign, ids, asked["person"], by=request.user))
        done = None if given is None else len(given)
        left = [pk for pk in ids if pk not in (given or ()) and pk not in found.refused]
    else:
        form, left = _FORMS.get(act, ReasonForm)(request.POST if "reason" in request.POST else None), []
        done = attempt(form, lambda asked: act_on_items(campaign, act, ids, by=request.user, reason=asked["reason"]))
    if done is not None:
        person = form.cleaned_data.get("person")
        messages.success(request, told.items_done(act, done, person) + told.had_before(len(left)))
        return redirect(back(left))
    seconds = each / 1000 * len(PLACES) * found.items if (each := pace(campaign)) else None
    context: dict[str, Any] = {
        "act": act,
        "ids": ids,
        "effect": found,
        "form": form,
        "seconds": seconds,
        "back": back(ids),
    }
    able = campaign.items.filter(pk__in=set(ids).difference(found.refused)).order_by("order")
    listed = item_rows(campaign, able.values_list("pk", flat=True)[:MOST_LISTED])
    context |= {"items": listed, "more": max(0, found.items - MOST_LISTED)}
    context |= {"query": request.POST.get("back", "")}
    context |= {"refused": [(row, found.refused[row.item.pk]) for row in item_rows(campaign, found.refused)]}
    return campaign_page(request, campaign, "annotation/campaigns/triple_bulk.html", context)


@manager_required
def triple(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    campaign = find_campaign(request, name)
    item = get_object_or_404(campaign.items.select_related("triple"), pk=pk)
    item.campaign = campaign
    forms = {act: form(posted(request, act), auto_id=f"{act}_%s") for act, form in _FORMS.items()}
    if request.method == "POST" and (done := do_act(request, _ACTS, forms, item)):
        messages.success(request, done)
        return redirect("campaign-triple", name, pk)
    context = {"item": item, "asked": item_text(item), "history": history(item), "forms": forms}
    context["relation"] = open_graph(campaign.pool.graph).relations[item.triple.relation]
    context["assigned"] = assigned_people([item.pk]).get(item.pk, [])
    context["can_reopen"] = item.state in (ItemState.SETTLED, ItemState.UNDECIDED)
    context["can_return"] = item.state != ItemState.OPEN
    return campaign_page(request, campaign, "annotation/campaigns/triple_detail.html", context)


def _reopen(item: Item, asked: dict[str, Any], by: User) -> str:
    reopen_judgement(item, **asked, by=by)
    return "The judgement is open again: an adjudicator is asked."


def _return(item: Item, asked: dict[str, Any], by: User) -> str:
    return_item(item, **asked, by=by)
    return "Two other people are asked about this item."


_ACTS = {"reopen": _reopen, "return": _return}
_FORMS = {"reopen": ReopenForm, "return": ReasonForm}
