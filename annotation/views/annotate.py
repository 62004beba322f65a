"""The pages on which people label, decide (their questions come and go through API v1) and change their last labels."""

from math import ceil
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from annotation.enums import Cause, FlagKind
from annotation.forms.campaigns import LabelForm, ReportLabelForm
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.disputes import (
    Closed,
    blocked_disputes,
    closed_dispute,
    describe_disputes,
    disputes_in_hand,
    num_held_by_others,
    open_disputes,
)
from annotation.labelling.own_labels import CHANGEABLE, changeable_until, disputes_left, own_labels
from annotation.labelling.places import Place, place_of_label
from annotation.labelling.submit import SubmitResult, change
from annotation.labelling.training import check_trained
from annotation.messages.flags import report, reports_as_shown
from annotation.messages.guidelines import current_guidelines, render_markdown, version_read
from annotation.models import Campaign, Flag, Label
from annotation.models.slot import lease_of
from annotation.permissions import is_adjudicator
from annotation.questions.templates import question_text
from annotation.sources.verified import verified
from annotation.views.find_campaign import find_campaign
from core import clock
from core.people.roles import Right
from core.views.access import SignedInRequest
from core.views.acts import attempt
from core.views.pagination import page_of
from pooling.graphs.opening import open_graph

NO_CONTACT = _("a manager")  # who answers reports, where the campaign names nobody
LAST = 50  # own labels shown
KEY_OF = {Cause.ENTITY: "W", Cause.SOURCE: "D", Cause.DATED: "O", Cause.MISREAD: "M"}
_ANY_LABEL = "00000000-0000-0000-0000-000000000000"  # the page puts the id of a label in its place


def _context(request: SignedInRequest, campaign: Campaign, role: str, claim: str, submit: str) -> dict[str, Any]:
    """Return the context of the annotation or adjudication page; `config` is for its script."""
    pool = campaign.pool.name
    guidelines = current_guidelines(campaign)
    config = {
        "person": request.user.pk,
        "pool": pool,
        "role": role,
        "evidence_rule": campaign.evidence_rule,
        "undo_minutes": campaign.undo_minutes,
        "undo_answers": CHANGEABLE,
        "guidelines_version": guidelines.version if guidelines else None,
        "guidelines_read": version_read(request.user, campaign),
        "urls": {
            "claim": reverse(claim, args=[pool]),
            "submit": reverse(submit),
            "change": reverse("api-change", args=[_ANY_LABEL]).replace(_ANY_LABEL, "{label}"),
            "renew": reverse("api-renew"),
            "release": reverse("api-release"),
            "progress": reverse("api-progress", args=[pool]),
            "flag": reverse("api-flag"),
            "give_back": reverse("api-return"),
            "messages": reverse("messages", args=[pool]),
            "labels": reverse("my-labels", args=[pool]) if role == "annotator" else None,
            "guidelines": reverse("guidelines", args=[pool]),
            "login": f"{reverse('login')}?next={request.path}",
        },
    }
    return {
        "campaign": campaign,
        "config": config,
        "guidelines_html": render_markdown(guidelines.text if guidelines else ""),
        "flag_kinds": FlagKind.choices,
        "contact": campaign.contact.get_username() if campaign.contact else NO_CONTACT,
    }


def _with_side_window(response: HttpResponse) -> HttpResponse:
    """Let the page open sources again and again in the same window, which only a page that keeps its popups can."""
    response["Cross-Origin-Opener-Policy"] = "same-origin-allow-popups"
    return response


@ensure_csrf_cookie
def annotate(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, Right.ANNOTATE)
    check_trained(campaign, request.user)
    context = _context(request, campaign, "annotator", claim="api-claim", submit="api-submit")
    return _with_side_window(render(request, "annotation/labelling/annotate_page.html", context))


@ensure_csrf_cookie
def adjudicate(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, Right.ADJUDICATE)
    first = _dispute_of(request)
    if first is not None:
        closed = closed_dispute(campaign, request.user, first)
        if closed is not None:
            why = {"campaign": campaign, "closed": closed, "reasons": Closed}
            return render(request, "annotation/labelling/dispute_closed.html", why)
    context = _context(request, campaign, "adjudicator", claim="api-claim-disputed", submit="api-submit-decision")
    context["config"]["first"] = first
    context["causes"] = [(KEY_OF[Cause(value)], value, words) for value, words in Cause.choices]
    return _with_side_window(render(request, "annotation/labelling/adjudicate_page.html", context))


def _dispute_of(request: HttpRequest) -> UUID | None:
    """Return the ticket in the address; no dispute has one that is not valid."""
    asked = request.GET.get("dispute")
    try:
        return UUID(asked) if asked else None
    except ValueError:
        return UUID(int=0)


def disputes(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, Right.ADJUDICATE)
    held = list(disputes_in_hand(campaign, request.user))
    page = page_of(request, open_disputes(campaign, request.user))
    rows = describe_disputes(campaign, [*held, *page])
    later = blocked_disputes(campaign, request.user)
    context = {"campaign": campaign, "page": page, "held": rows[: len(held)], "rows": rows[len(held) :], "later": later}
    context["parked"] = reports_as_shown(campaign, later.parked)
    context["others"] = num_held_by_others(campaign, request.user)
    return render(request, "annotation/labelling/dispute_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def my_labels(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, Right.ANNOTATE)
    refused: LabelForm | ReportLabelForm | None = None
    if request.method == "POST" and request.POST.get("act") == "report":
        refused = ReportLabelForm(request.POST)
        if attempt(refused, lambda asked: _report(request.user, campaign, **asked)):
            messages.success(request, gettext("Reported. The reply will be under Reported statements."))
            return redirect("my-labels", pool)
    elif request.method == "POST":
        refused = LabelForm(request.POST)
        if attempt(refused, lambda asked: _change(request.user, campaign, **asked)):
            messages.success(request, gettext("The label is changed."))
            return redirect("my-labels", pool)
    rows = _rows(request.user, campaign, refused)
    context: dict[str, Any] = {"campaign": campaign, "rows": rows, "last": LAST}
    if refused and not any(refused in (row["form"], row["report"]) for row in rows):
        context["elsewhere"] = refused  # it was about a label that is not listed as it was any more
    context["disputes"] = disputes_left(request.user, campaign) if is_adjudicator(request.user, campaign) else 0
    return render(request, "annotation/labelling/label_list.html", context, status=422 if refused else 200)


def _change(user: User, campaign: Campaign, *, label: UUID, **given: Any) -> SubmitResult:
    return change(user, label, GivenAnswer(**given), found=_own_place(user, campaign, label))


def _report(user: User, campaign: Campaign, *, label: UUID, client_id: UUID, text: str) -> Flag:
    """Report an own label: a manager can open the statement again."""
    ticket = _own_place(user, campaign, label).ticket
    return report(user, ticket, lease_of(ticket, user.pk), client_id, FlagKind.OTHER, text)


def _own_place(user: User, campaign: Campaign, label: UUID) -> Place:
    """Return the place of an own label of this campaign: of another one the person may be no member any more."""
    place = place_of_label(user, label)
    if place is None or place.campaign_id != campaign.pk or (place.needs_reason and not is_adjudicator(user, campaign)):
        raise Http404
    return place


def _rows(user: User, campaign: Campaign, refused: LabelForm | ReportLabelForm | None) -> list[dict[str, object]]:
    graph = open_graph(campaign.pool.graph)
    until = changeable_until(user, campaign)
    now = clock.now()
    rows: list[dict[str, object]] = []
    for label, asked, ticket in own_labels(user, campaign)[:LAST]:
        form = reported = minutes = None
        hosts: list[str] = []
        is_refused = refused is not None and refused.data.get("label") == str(label.client_id)
        if ticket in until:
            minutes = max(1, ceil((until[ticket] - now).total_seconds() / 60))
        if isinstance(refused, ReportLabelForm) and is_refused:
            reported = refused
        elif not minutes:
            reported = ReportLabelForm(initial={"label": label.client_id, "client_id": uuid4()})
        if reported is not None:
            reported.auto_id = f"r{label.client_id}_%s"
        if minutes or (is_refused and isinstance(refused, LabelForm)):
            initial = {"label": label.client_id, "client_id": uuid4(), "answer": label.answer}
            initial |= {"source_url": label.source_url, "passage": label.passage, "comment": label.comment}
            initial["cause"] = label.cause
            form = LabelForm(initial=initial, auto_id=f"l{label.client_id}_%s")
            if isinstance(refused, LabelForm) and is_refused:
                refused.auto_id = form.auto_id
                form = refused
                if minutes and form.non_field_errors():
                    hosts = verified(campaign).hosts(asked.triple.relation)
            if not (isinstance(label, Label) and label.slot.is_adjudication):
                del form.fields["cause"]
        question = question_text(asked, label.template, graph).statement
        row: dict[str, object] = {"label": label, "question": question, "place": f"label-{label.client_id}"}
        row |= {"form": form, "hosts": hosts, "report": reported, "minutes": minutes, "until": until.get(ticket)}
        rows.append(row)
    return rows
