"""Own labels: what a person answered last, to be changed while that is possible."""

from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.errors import NotYours
from annotation.forms.labels import LabelForm
from annotation.labelling.own_labels import changeable_tickets, own_labels
from annotation.labelling.submit import change
from annotation.models import Campaign
from annotation.permissions import is_annotator
from annotation.questions.templates import question_text
from annotation.views.find_campaign import find_campaign
from core.errors import UserError
from pooling.graphs.imports import open_graph

LAST = 50


@require_http_methods(["GET", "HEAD", "POST"])
def my_labels(request: HttpRequest, pool: str) -> HttpResponse:
    campaign = find_campaign(request, pool, is_annotator)
    user: User = request.user  # type: ignore[assignment]
    refused = None
    if request.method == "POST":
        refused = LabelForm(request.POST)
        if refused.is_valid() and _change(request, user, refused):
            return redirect("my-labels", pool)
    return render(
        request,
        "annotation/labelling/label_list.html",
        {"campaign": campaign, "rows": _rows(user, campaign, refused), "last": LAST},
        status=422 if refused else 200,
    )


def _change(request: HttpRequest, user: User, form: LabelForm) -> bool:
    asked = form.cleaned_data
    try:
        change(user, asked["label"], asked["client_id"], asked["answer"], asked["source_url"], asked["comment"])
    except NotYours as error:
        raise Http404 from error
    except UserError as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, "The label is changed.")
    return True


def _rows(user: User, campaign: Campaign, refused: LabelForm | None) -> list[dict[str, object]]:
    graph = open_graph(campaign.pool.graph)
    changeable = changeable_tickets(user, campaign)
    rows: list[dict[str, object]] = []
    for label, asked, ticket in own_labels(user, campaign)[:LAST]:
        form = None
        if ticket in changeable:
            form = LabelForm(
                initial={
                    "label": label.client_id,
                    "client_id": uuid4(),
                    "answer": label.answer,
                    "source_url": label.source_url,
                    "comment": label.comment,
                },
                auto_id=f"l{label.client_id}_%s",
            )
            if refused is not None and refused.data.get("label") == str(label.client_id):
                refused.auto_id = form.auto_id
                form = refused
        rows.append({"label": label, "question": question_text(asked, label.template, graph).statement, "form": form})
    return rows
