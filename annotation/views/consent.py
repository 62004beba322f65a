"""The text on personal data that a member agrees to before the first question."""

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.forms.people import AgreeForm
from annotation.messages.guidelines import render_markdown
from annotation.people.consent import consent as agree
from annotation.people.consent import consented_at, fingerprint
from annotation.permissions import has_consented, is_adjudicator, is_annotator
from annotation.views.find_campaign import find_campaign
from core.views.access import SignedInRequest

# pages that send people here and get them back; the first also gets those who came by themselves
NEXT = ("annotate", "adjudicate", "my-labels", "messages")


@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool)
    if not is_annotator(request.user, campaign):
        raise PermissionDenied
    user = request.user
    asked = not has_consented(user, campaign)
    form = AgreeForm(request.POST or None, fingerprint=fingerprint(campaign)) if asked else None
    if request.method == "POST" and (form is None or form.is_valid()):
        agree(user, campaign)
        to = request.GET.get("to")
        return redirect(to if to in NEXT else NEXT[0], pool)
    context = {
        "campaign": campaign,
        "form": form,
        "text": render_markdown(campaign.personal_data),
        "consented_at": consented_at(user, campaign),
        "adjudicates": is_adjudicator(user, campaign),
    }
    return render(request, "annotation/people/consent_page.html", context, status=422 if form and form.errors else 200)
