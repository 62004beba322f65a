"""The manager's inbox: reports of annotators, which a manager answers, and their comments on labels."""

from typing import NamedTuple

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.campaigns.overview import open_reports
from annotation.enums import Answer, FlagKind
from annotation.forms.campaigns import ReplyForm
from annotation.messages.flags import answer_flag
from annotation.messages.inbox import ShownReport, comments, reports, reports_as_shown
from annotation.models import Campaign, Label
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
    num_open = open_reports(campaign).count()
    if request.GET.get("part") == "comments":
        answer = request.GET.get("answer", "")
        page = page_of(request, comments(campaign, answer=answer))
        return campaign_page(
            request,
            campaign,
            "annotation/messages/inbox_comments.html",
            frame="inbox-comments",
            num_open=num_open,
            page=page,
            rows=_comments(campaign, page),
            answers=Answer.choices,
            answer=answer,
        )
    kind = request.GET.get("kind", "")
    kind = kind if kind in FlagKind.values else ""
    state = request.GET.get("state", "")
    page = page_of(request, reports(campaign, state=state, kind=kind), SIZE)
    return campaign_page(
        request,
        campaign,
        "annotation/messages/inbox_reports.html",
        status=422 if refused else 200,
        num_open=num_open,
        page=page,
        entries=[_entry(report, refused) for report in reports_as_shown(campaign, page)],
        kinds=FlagKind.choices,
        kind=kind,
        states=STATES,
        state=state,
        refused=refused,
    )


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
    if refused is not None and refused.data.get("flag") == str(report.flag.pk):
        refused.auto_id = f"f{report.flag.pk}_%s"
        return Entry(report, refused)
    if not report.flag.is_open:
        return Entry(report, None)
    return Entry(report, ReplyForm(initial={"flag": report.flag.pk}, auto_id=f"f{report.flag.pk}_%s"))


def _comments(campaign: Campaign, page: object) -> list[Comment]:
    graph = open_graph(campaign.pool.graph)
    return [Comment(label, question_text(label.item, label.template, graph).statement) for label in page]  # type: ignore[attr-defined]
