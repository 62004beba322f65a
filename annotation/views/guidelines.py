"""The guidelines of a campaign: for all who may see it, and the page on which a manager writes them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.errors import CampaignError
from annotation.forms.guidelines import GuidelinesForm
from annotation.messages.guidelines import (
    current_guidelines,
    diff_lines,
    labels_by_version,
    render_markdown,
    save_guidelines,
)
from annotation.models import Campaign, GuidelineVersion
from annotation.views.find_campaign import find_campaign
from core.views.access import manager_required
from core.views.pagination import page_of

SIZE = 20


def guidelines(request: HttpRequest, pool: str) -> HttpResponse:
    """The newest version or ?version=, and what changed in it ?since= another one."""
    campaign = find_campaign(request, pool)
    newest = current_guidelines(campaign)
    shown = _asked_version(request, campaign, "version") or newest
    since = _asked_version(request, campaign, "since")
    context = {
        "campaign": campaign,
        "pool": campaign.pool,
        "newest": newest,
        "shown": shown,
        "since": since,
        "previous": _before(campaign, shown),
        "html": render_markdown(shown.text) if shown and not since else "",
        "lines": diff_lines(since.text, shown.text) if shown and since else [],
    }
    return render(request, "annotation/messages/guidelines_page.html", context)


def _asked_version(request: HttpRequest, campaign: Campaign, parameter: str) -> GuidelineVersion | None:
    asked = request.GET.get(parameter, "")
    if not asked:
        return None
    if not asked.isdecimal() or len(asked) > 9:
        raise Http404
    return get_object_or_404(campaign.guideline_versions, version=int(asked))


def _before(campaign: Campaign, version: GuidelineVersion | None) -> GuidelineVersion | None:
    if version is None:
        return None
    return campaign.guideline_versions.filter(version__lt=version.version).order_by("-version").first()


@manager_required
def write(request: HttpRequest, name: str) -> HttpResponse:
    """Write a new version with a preview; below it all versions, and what changed between any two."""
    campaign = find_campaign(request, name)
    if request.method == "POST" and request.GET.get("part") == "preview":
        form = GuidelinesForm(request.POST)
        html = render_markdown(form.cleaned_data["text"]) if form.is_valid() else ""
        return render(request, "annotation/messages/guidelines_preview.html", {"html": html, "form": form})
    newest = current_guidelines(campaign)
    number = newest.version if newest else 0
    form = GuidelinesForm(
        request.POST if request.method == "POST" else None,
        initial={"text": newest.text if newest else "", "after": number},
    )
    if request.method == "POST" and form.is_valid() and (saved := _save(request, campaign, form)):
        if saved.version == number:
            messages.info(request, f"Nothing changed: version {number} stays.")
        else:
            messages.success(request, f"Version {saved.version} is saved; everybody sees it from now on.")
        return redirect("campaign-guidelines", name)
    versions = campaign.guideline_versions.select_related("created_by").order_by("-version")
    page = page_of(request, versions.defer("text"), SIZE)
    labels = labels_by_version(campaign, list(page))
    context = {
        "pool": campaign.pool,
        "campaign": campaign,
        "form": form,
        "after": number,
        "html": render_markdown(form["text"].value() or ""),
        "page": page,
        "rows": [{"version": one, "labels": labels[one.version]} for one in page],
        "numbers": list(versions.values_list("version", flat=True)),
    }
    return render(request, "annotation/messages/guidelines_write.html", context)


def _save(request: HttpRequest, campaign: Campaign, form: GuidelinesForm) -> GuidelineVersion | None:
    assert isinstance(request.user, User)  # manager_required
    asked = form.cleaned_data
    try:
        return save_guidelines(campaign, asked["text"], by=request.user, after=asked["after"])
    except CampaignError as error:
        form.add_error("text", str(error))
        return None
