"""What annotators wrote: reports, which a manager answers, and comments on labels."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.campaigns.overview import open_reports
from annotation.enums import Answer, FlagKind
from annotation.errors import AnswerRefused
from annotation.forms.campaigns import ReplyForm
from annotation.messages.flags import answer_flag
from annotation.messages.inbox import ShownReport, comments, reports, reports_as_shown
from annotation.models import Campaign, Label
from annotation.questions.templates import question_text
from annotation.views.find_campaign import find_campaign
from core.views.access import manager_required
from core.views.pagination import page_of
from pooling.graphs.imports import open_graph

SIZE = 20
STATES = (("", "all, open first"), ("open", "open"), ("answered", "answered"))


class Entry(NamedTuple):
    report: ShownReport
    form: ReplyForm | None


class Comment(NamedTuple):
    label: Label
    question: str


@manager_required
def inbox(request: HttpRequest, name: str) -> HttpResponse:
    campaign = find_campaign(request, name)
    refused: ReplyForm | None = None
    if request.method == "POST":
        refused = ReplyForm(request.POST)
        if _answer(request, campaign, refused):
            return redirect(request.get_full_path())
    context = {"pool": campaign.pool, "campaign": campaign, "num_open": open_reports(campaign).count()}
    if request.GET.get("part") == "comments":
        answer = request.GET.get("answer", "")
        page = page_of(request, comments(campaign, answer=answer))
        context |= {"page": page, "rows": _comments(campaign, page), "answers": Answer.choices, "answer": answer}
        return render(request, "annotation/messages/inbox_comments.html", context)
    kind = request.GET.get("kind", "")
    kind = kind if kind in FlagKind.values else ""
    state = request.GET.get("state", "")
    page = page_of(request, reports(campaign, state=state, kind=kind), SIZE)
    context |= {
        "page": page,
        "entries": [_entry(report, refused) for report in reports_as_shown(campaign, page)],
        "kinds": FlagKind.choices,
        "kind": kind,
        "states": STATES,
        "state": state,
        "refused": refused,
    }
    return render(request, "annotation/messages/inbox_reports.html", context, status=422 if refused else 200)


def _answer(request: HttpRequest, campaign: Campaign, form: ReplyForm) -> bool:
    """Whether the answer was sent; if not, the form says why, and keeps what was typed."""
    pk = form.data.get("flag", "")
    if not pk.isdecimal() or len(pk) > 18:
        raise Http404
    flag = get_object_or_404(campaign.flags.select_related("campaign__pool", "person"), pk=int(pk))
    if not form.is_valid():
        return False
    try:
        done = answer_flag(flag, form.cleaned_data["reply"], by=request.user)  # type: ignore[arg-type]  # a manager
    except AnswerRefused as error:
        form.add_error("reply", str(error))
        return False
    if not done:
        flag.refresh_from_db()
        who = flag.replied_by.username if flag.replied_by else "Somebody"
        form.add_error("reply", f"{who} has answered meanwhile: that answer stays, and yours was not sent.")
        return False
    messages.success(request, f"{flag.person.username} can read your answer now.")
    return True


def _entry(report: ShownReport, refused: ReplyForm | None) -> Entry:
    if refused is not None and refused.data.get("flag") == str(report.flag.pk):
        refused.auto_id = f"f{report.flag.pk}_%s"
        return Entry(report, refused)
    if not report.flag.is_open:
        return Entry(report, None)
    return Entry(report, ReplyForm(initial={"flag": report.flag.pk}, auto_id=f"f{report.flag.pk}_%s"))


def _comments(campaign: Campaign, page: object) -> list[Comment]:
    graph = open_graph(campaign.pool.graph)
    return [Comment(label, question_text(label.item, label.template, graph).statement) for label in page]  # type: ignore[attr-defined]
