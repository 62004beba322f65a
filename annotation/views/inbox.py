"""What managers and members tell each other: guidelines, reports with their replies, and comments on labels."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.campaigns.overview import open_reports
from annotation.enums import Answer, FlagKind
from annotation.forms.campaigns import ReplyForm
from annotation.forms.questions import GuidelinesForm
from annotation.messages.flags import (
    ShownReport,
    answer_flag,
    comments,
    own_flags,
    reports,
    reports_as_shown,
    see_replies,
)
from annotation.messages.guidelines import (
    current_guidelines,
    diff_lines,
    labels_by_version,
    mark_read,
    render_markdown,
    usual_guidelines,
)
from annotation.messages.guidelines import save_guidelines as save
from annotation.models import Campaign, GuidelineVersion, Label
from annotation.questions.templates import question_text
from annotation.views import told
from annotation.views.find_campaign import campaign_page, find_campaign
from core.forms import whole_number
from core.people.roles import Right
from core.views.access import SignedInRequest, manager_required
from core.views.acts import attempt, posted
from core.views.pagination import page_of
from pooling.graphs.opening import open_graph

SIZE = 20
STATES = (("", "all, open first"), ("open", "open"), ("answered", "replied"))
ANSWERED_MEANWHILE = "{} has replied meanwhile: that reply stays, and yours was not sent."


def guidelines(request: SignedInRequest, pool: str) -> HttpResponse:
    """Show the newest version or ?version=, with what changed in it ?since= another one; it counts as read."""
    campaign = find_campaign(request, pool)
    newest = current_guidelines(campaign)
    shown = _asked_version(request, campaign, "version") or newest
    since = _asked_version(request, campaign, "since")
    context: dict[str, Any] = {"newest": newest, "shown": shown, "since": since}
    if shown:
        mark_read(request.user, shown)
        older = campaign.guideline_versions.filter(version__lt=shown.version)
        context["previous"] = older.order_by("-version").first()
        context |= {"lines": diff_lines(since.text, shown.text)} if since else {"html": render_markdown(shown.text)}
    return campaign_page(request, campaign, "annotation/messages/guidelines_page.html", context)


def _asked_version(request: SignedInRequest, campaign: Campaign, parameter: str) -> GuidelineVersion | None:
    asked = request.GET.get(parameter, "")
    if not asked:
        return None
    return get_object_or_404(campaign.guideline_versions, version=whole_number(asked))


@manager_required
def write(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the newest version to change, with a preview, and all versions; save a new one."""
    campaign = find_campaign(request, name, before_opening=True)
    if request.method == "POST" and request.GET.get("part") == "preview":
        form = GuidelinesForm(request.POST)
        html = render_markdown(form.cleaned_data["text"]) if form.is_valid() else ""
        return render(request, "annotation/messages/guidelines_preview.html", {"html": html, "form": form})
    newest = current_guidelines(campaign)
    number, text = (newest.version, newest.text) if newest else (0, "") if campaign.pk else (1, usual_guidelines())
    form = GuidelinesForm(posted(request), initial={"text": text, "after": number})
    if saved := attempt(form, lambda asked: save(campaign, **asked, by=request.user), "text"):
        level = messages.INFO if saved.version == number else messages.SUCCESS
        messages.add_message(request, level, told.guidelines_saved(saved, number))
        return redirect("campaign-guidelines", name)
    versions = campaign.guideline_versions.select_related("created_by").order_by("-version")
    page = page_of(request, versions.defer("text"), SIZE)
    labels = labels_by_version(campaign, list(page))
    context = {"form": form, "after": number, "html": render_markdown(form["text"].value() or ""), "page": page}
    context["rows"] = [{"version": one, "labels": labels[one.version]} for one in page]
    context["numbers"] = list(versions.values_list("version", flat=True))
    return campaign_page(request, campaign, "annotation/messages/guidelines_write.html", context)


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
    pk = whole_number(form.data.get("flag", ""))
    flag = get_object_or_404(campaign.flags.select_related("campaign__pool", "person"), pk=pk)
    done = attempt(form, lambda asked: answer_flag(flag, asked["reply"], by=request.user), "reply")
    if done is None:
        return False
    if not done:
        flag.refresh_from_db()
        who = flag.replied_by.username if flag.replied_by else "Somebody"
        form.add_error("reply", ANSWERED_MEANWHILE.format(who))
        return False
    messages.success(request, f"{flag.person.username} can read your reply now.")
    return True


def _entry(report: ShownReport, refused: ReplyForm | None) -> Entry:
    flag, ids = report.flag, f"f{report.flag.pk}_%s"
    if refused is not None and refused.data.get("flag") == str(flag.pk):
        refused.auto_id = ids
        return Entry(report, refused)
    return Entry(report, ReplyForm(initial={"flag": flag.pk}, auto_id=ids) if flag.is_open else None)


def own_messages(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, Right.ANNOTATE)
    page = page_of(request, own_flags(request.user, campaign), 20)
    context = {"campaign": campaign, "page": page, "rows": reports_as_shown(campaign, page), "new": see_replies(page)}
    return render(request, "annotation/messages/message_list.html", context)
