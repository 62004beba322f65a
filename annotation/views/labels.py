"""A person's own last labels, which they may change for a while."""

from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.errors import NotYours
from annotation.forms.campaigns import LabelForm
from annotation.labelling.own_labels import changeable_tickets, own_labels
from annotation.labelling.submit import SubmitResult, change
from annotation.models import Campaign
from annotation.permissions import is_annotator
from annotation.questions.templates import question_text
from annotation.views.find_campaign import find_campaign
from core.views.access import SignedInRequest
from core.views.acts import attempt
from pooling.graphs.opening import open_graph

LAST = 50


@require_http_methods(["GET", "HEAD", "POST"])
def my_labels(request: SignedInRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_annotator)
    refused = None
    if request.method == "POST":
        refused = LabelForm(request.POST)
        if attempt(refused, lambda asked: _change(request.user, **asked)):
            messages.success(request, "The label is changed.")
            return redirect("my-labels", pool)
    context = {"campaign": campaign, "rows": _rows(request.user, campaign, refused), "last": LAST}
    return render(request, "annotation/labelling/label_list.html", context, status=422 if refused else 200)


def _change(user: User, *, label: UUID, **given: Any) -> SubmitResult:
    try:
        return change(user, label, **given)
    except NotYours as error:
        raise Http404 from error


def _rows(user: User, campaign: Campaign, refused: LabelForm | None) -> list[dict[str, object]]:
    graph = open_graph(campaign.pool.graph)
    changeable = changeable_tickets(user, campaign)
    rows: list[dict[str, object]] = []
    for label, asked, ticket in own_labels(user, campaign)[:LAST]:
        form = None
        if ticket in changeable:
            initial = {"label": label.client_id, "client_id": uuid4(), "answer": label.answer}
            initial |= {"source_url": label.source_url, "comment": label.comment}
            form = LabelForm(initial=initial, auto_id=f"l{label.client_id}_%s")
            if refused is not None and refused.data.get("label") == str(label.client_id):
                refused.auto_id = form.auto_id
                form = refused
        rows.append({"label": label, "question": question_text(asked, label.template, graph).statement, "form": form})
    return rows
