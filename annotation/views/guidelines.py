"""The guidelines of a campaign: a page to read them, and one on which a manager writes them."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.forms.questions import GuidelinesForm
from annotation.messages.guidelines import current_guidelines, diff_lines, labels_by_version, render_markdown
from annotation.messages.guidelines import save_guidelines as save
from annotation.models import Campaign, GuidelineVersion
from annotation.views import told
from annotation.views.find_campaign import campaign_page, find_campaign
from core.views.access import SignedInRequest, manager_required
from core.views.acts import attempt, posted
from core.views.pagination import page_of

SIZE = 20


def guidelines(request: SignedInRequest, pool: str) -> HttpResponse:
    """Show the newest version or ?version=, with what changed in it ?since= another one."""
    campaign = find_campaign(request, pool)
    newest = current_guidelines(campaign)
    shown = _asked_version(request, campaign, "version") or newest
    since = _asked_version(request, campaign, "since")
    context: dict[str, Any] = {"newest": newest, "shown": shown, "since": since}
    if shown:
        older = campaign.guideline_versions.filter(version__lt=shown.version)
        context["previous"] = older.order_by("-version").first()
        context |= {"lines": diff_lines(since.text, shown.text)} if since else {"html": render_markdown(shown.text)}
    return campaign_page(request, campaign, "annotation/messages/guidelines_page.html", context)


def _asked_version(request: SignedInRequest, campaign: Campaign, parameter: str) -> GuidelineVersion | None:
    asked = request.GET.get(parameter, "")
    if not asked:
        return None
    if not asked.isdecimal() or len(asked) > 9:
        raise Http404
    return get_object_or_404(campaign.guideline_versions, version=int(asked))


@manager_required
def write(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the newest version to change, with a preview, and all versions; save a new one."""
    campaign = find_campaign(request, name)
    if request.method == "POST" and request.GET.get("part") == "preview":
        form = GuidelinesForm(request.POST)
        html = render_markdown(form.cleaned_data["text"]) if form.is_valid() else ""
        return render(request, "annotation/messages/guidelines_preview.html", {"html": html, "form": form})
    newest = current_guidelines(campaign)
    number = newest.version if newest else 0
    form = GuidelinesForm(posted(request), initial={"text": newest.text if newest else "", "after": number})
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
