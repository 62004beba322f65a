"""The people side of a pool for its manager: who labels, under which rules, and how far they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Avg, Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.domain.campaign import open_campaign
from annotation.domain.person import add_person
from annotation.domain.rules import add_source, remove_source, set_rules
from annotation.enums import CampaignRole, ItemState, SlotState
from annotation.forms import PersonForm, RulesForm, SourceForm
from annotation.models import Campaign, Item, Label, Membership, Slot
from annotation.models.slot import ADJUDICATION
from pooling.enums import FilterReason
from pooling.errors import UserError
from pooling.models import Pool
from pooling.permissions import can_manage, evaluator_required, manager_required
from pooling.views.page import page_of

# above this many triples a campaign takes longer to open than a page may take to answer
OPEN_IN_BROWSER = 50_000


@manager_required
def people(request: HttpRequest) -> HttpResponse:
    """Everybody with an account, their roles and campaigns."""
    rows = User.objects.prefetch_related("groups", "memberships__campaign__pool").order_by("username")
    return render(request, "annotation/campaign_people.html", {"page": page_of(request, rows)})


@evaluator_required
def campaign(request: HttpRequest, name: str) -> HttpResponse:
    pool = get_object_or_404(Pool.objects.select_related("graph"), name=name)
    found = Campaign.objects.filter(pool=pool).first()
    form: forms.Form | None = None
    context: dict[str, Any] = {"pool": pool, "campaign": found}
    if request.method == "POST":
        if not can_manage(request.user):
            raise PermissionDenied
        act = request.POST.get("act", "")
        if found is None:
            return _open(request, pool)
        if act not in _ACTS:
            raise Http404
        make_form, do = _ACTS[act]
        form = make_form(request.POST)
        if form.is_valid():
            try:
                told = do(found, form.cleaned_data)
            except UserError as error:
                form.add_error(None, str(error))
            else:
                if isinstance(told, dict):  # a new account: its password is shown once, and kept nowhere
                    context |= told
                    form = None
                else:
                    messages.success(request, told)
                    return redirect("campaign", name)
        if form is not None:
            context[f"{act}_form"] = form
    if found is None:
        context["to_people"] = pool.triples.filter(reason=FilterReason.NONE).count()
        context["in_browser"] = context["to_people"] <= OPEN_IN_BROWSER
        return render(request, "annotation/campaign_closed.html", context)
    context = {**_standing(found), **_forms(found), **context}
    response = render(request, "annotation/campaign_detail.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _open(request: HttpRequest, pool: Pool) -> HttpResponse:
    try:
        open_campaign(pool, created_by=request.user)  # type: ignore[arg-type]  # signed in
        messages.success(request, f"The campaign of {pool.name} is open. Add people to it.")
    except UserError as error:
        messages.error(request, str(error))
    return redirect("campaign", pool.name)


def _add_person(campaign: Campaign, asked: dict[str, Any]) -> dict[str, str] | str:
    person, password = add_person(asked["username"], asked["role"], campaign)
    if password is not None:
        return {"new_name": person.username, "new_password": password}
    return f"{person.username} is {asked['role']} now."


def _set_rules(campaign: Campaign, asked: dict[str, Any]) -> str:
    set_rules(campaign, **asked)
    return "The rules are saved; they hold from the next answer on."


def _add_source(campaign: Campaign, asked: dict[str, Any]) -> str:
    return f"Links at {add_source(campaign, **asked).host} are accepted now."


def _remove_source(campaign: Campaign, asked: dict[str, Any]) -> str:
    host = remove_source(campaign, asked["source"])
    return (
        f"Links at {host} are no longer accepted; labels that have one keep it."
        if host
        else "It was gone already."
    )


class RemoveForm(forms.Form):
    source = forms.IntegerField()


_Act = Callable[[Campaign, dict[str, Any]], dict[str, str] | str]
_ACTS: dict[str, tuple[type[forms.Form], _Act]] = {
    "person": (PersonForm, _add_person),
    "rules": (RulesForm, _set_rules),
    "source": (SourceForm, _add_source),
    "remove": (RemoveForm, _remove_source),
}


def _forms(campaign: Campaign) -> dict[str, forms.Form]:
    fields = ("evidence_rule", "lease_minutes", "state")
    return {
        "person_form": PersonForm(),
        "rules_form": RulesForm(initial={field: getattr(campaign, field) for field in fields}),
        "source_form": SourceForm(),
    }


def _standing(campaign: Campaign) -> dict[str, Any]:
    """How far the labels are, in all and by person; queries do not grow with people."""
    items = dict(
        Item.objects.filter(campaign=campaign).order_by().values_list("state").annotate(n=Count("id"))
    )
    slots = Slot.objects.filter(item__campaign=campaign).aggregate(
        places=Count("id", filter=~Q(number=ADJUDICATION)),
        labels=Count("id", filter=~Q(number=ADJUDICATION) & Q(state=SlotState.ANSWERED)),
        held=Count("id", filter=Q(state=SlotState.LEASED)),
    )
    first = Label.objects.filter(item__campaign=campaign, supersedes=None)
    pace = first.filter(active_ms__gt=0).aggregate(mean=Avg("active_ms"))["mean"]
    given = dict(first.order_by().values_list("annotator_id").annotate(n=Count("id")))
    members = (
        Membership.objects.filter(campaign=campaign)
        .select_related("person")
        .order_by("person__username", "role")
    )
    by_person: dict[int, dict[str, Any]] = {}
    for member in members:
        entry = by_person.setdefault(
            member.person_id, {"person": member.person, "roles": [], "labels": given.get(member.person_id, 0)}
        )
        entry["roles"].append(CampaignRole(member.role).label)
    left = slots["places"] - slots["labels"]
    return {
        **slots,
        "left": left,
        "num_items": sum(items.values()),
        "settled": items.get(ItemState.SETTLED, 0),
        "disputed": items.get(ItemState.DISPUTED, 0),
        "undecided": items.get(ItemState.UNDECIDED, 0),
        "percent": 100 * slots["labels"] // slots["places"] if slots["places"] else 0,
        "seconds_left": left * pace / 1000 if pace and left else None,
        "people": list(by_person.values()),
        "sources": list(campaign.sources.all()),
    }
