"""Reports of annotators and their comments on labels, which a manager answers, and a member's own reports."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from annotation.campaigns.overview import open_reports
from annotation.enums import Answer, FlagKind
from annotation.forms.campaigns import ReplyForm
from annotation.messages.flags import NEW_FOR, ShownReport, answer_flag, comments, own_flags, reports, reports_as_shown
from annotation.models import Campaign, Label
from annotation.permissions import is_annotator
from annotation.questions.templates import question_text
from annotation.views.find_campaign import campaign_page, find_campaign
from core.views.access import SignedInRequest, manager_required
from core.views.acts import attempt
from core.views.pagination import page_of
from pooling.graphs.opening import open_graph

SIZE = 20
STATES = (("", "all, open first"), ("open", "open"), ("answered", "answered"))
ANSWERED_MEANWHILE = "{} has answered meanwhile: that answer stays, and yours was not sent."


class Entry(NamedTuple):
    report: ShownReport
    form: ReplyForm | None


class Comment(NamedTuple):
    label: Label
    question: str


@manager_required
def inbox(request: SignedInRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    refused: ReplyForm | None = None
    if request.method == "POST":
        refused = ReplyForm(request.POST)
        if _answer(request, campaign, refused):
            return redirect(request.get_full_path())
    context: dict[str, Any] = {"num_open": open_reports(campaign).count()}
    if request.GET.get("part") == "comments":
        answer = request.GET.get("answer", "")
        page = page_of(request, comments(campaign, answer=answer))
        graph = open_graph(campaign.pool.graph)
        rows = [Comment(label, question_text(label.item, label.template, graph).statement) for label in page]
        context |= {"frame": "inbox-comments", "page": page, "rows": rows, "answers": Answer.choices, "answer": answer}
        return campaign_page(request, campaign, "annotation/messages/inbox_comments.html", context)
    kind, state = request.GET.get("kind", ""), request.GET.get("state", "")
    kind = kind if kind in FlagKind.values else ""
    page = page_of(request, reports(campaign, state=state, kind=kind), SIZE)
    entries = [_entry(report, refused) for report in reports_as_shown(campaign, page)]
    context |= {"page": page, "entries": entries, "refused": refused}
    context |= {"kinds": FlagKind.choices, "kind": kind, "states": STATES, "state": state}
    return campaign_page(request, campaign, "annotation/messages/inbox_reports.html", context, 422 if refused else 200)


def _answer(request: SignedInRequest, campaign: Campaign, form: ReplyForm) -> bool:
    """Return whether the answer was sent; if not, the form says why and keeps what was typed."""
    pk = form.data.get("flag", "")
    if not pk.isdecimal() or len(pk) > 18:
        raise Http404
    flag = get_object_or_404(campaign.flags.select_related("campaign__pool", "person"), pk=int(pk))
    done = attempt(form, lambda asked: answer_flag(flag, asked["reply"], by=request.user), "reply")
    if done is None:
        return False
    if not done:
        flag.refresh_from_db()
        who = flag.replied_by.username if flag.replied_by else "Somebody"
        form.add_error("reply", ANSWERED_MEANWHILE.format(who))
        return False
    messages.success(request, f"{flag.person.username} can read your answer now.")
    return True


def _entry(report: ShownReport, refused: ReplyForm | None) -> Entry:
    flag, ids = report.flag, f"f{report.flag.pk}_%s"
    if refused is not None and refused.data.get("flag") == str(flag.pk):
        refused.auto_id = ids
        return Entry(report, refused)
    return Entry(report, ReplyForm(initial={"flag": flag.pk}, auto_id=ids) if flag.is_open else None)


def own_messages(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_annotator)
    page = page_of(request, own_flags(request.user, campaign), 20)
    context = {"campaign": campaign, "page": page, "rows": reports_as_shown(campaign, page)}
    context["new_since"] = timezone.now() - NEW_FOR
    return render(request, "annotation/messages/message_list.html", context)
