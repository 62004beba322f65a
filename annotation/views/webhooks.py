"""Pages of webhooks: the list with a form to add one, and one with what was sent."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.forms.webhooks import WebhookForm
from annotation.models import Webhook
from annotation.webhooks import upkeep as domain
from annotation.webhooks.addresses import are_allowed
from core.views.access import SignedInRequest, manager_required, no_store
from core.views.acts import Handler, attempt, do_act, posted

SHOWN = 20
SAVED, REMOVED = "The webhook is saved.", "The webhook is removed."
SWITCHED_ON, SWITCHED_OFF = "The webhook is on.", "The webhook is off. What waited is not sent."
TEST_WAITS = "A test waits for a worker. Load this page again to see whether it arrived."


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: SignedInRequest) -> HttpResponse:
    """List the webhooks; POST adds one, and the answer shows its secret this once."""
    form = WebhookForm(posted(request))
    made, secret = attempt(form, lambda asked: domain.add_webhook(**asked, by=request.user)) or (None, "")
    if made:
        form = WebhookForm()
    hooks = Webhook.objects.select_related("pool")
    context = {"form": form, "made": made, "secret": secret, "hooks": hooks, "allowed": are_allowed()}
    return no_store(render(request, "annotation/webhooks/list.html", context, status=422 if form.errors else 200))


@manager_required
@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show a webhook and its last messages; POST changes, tests, switches or removes it."""
    found = get_object_or_404(Webhook.objects.select_related("pool"), pk=pk)
    initial = {"url": found.url, "events": found.events, "pool": found.pool and found.pool.name}
    form, secret = WebhookForm(posted(request, "change"), initial=initial), ""
    if request.method == "POST" and (done := do_act(request, _ACTS, {"change": form}, found)):
        if request.POST["act"] != "secret":
            messages.success(request, done)
            return redirect("webhooks") if request.POST["act"] == "remove" else redirect("webhook", pk)
        secret = done
    context = {"webhook": found, "form": form, "secret": secret, "deliveries": found.deliveries.all()[:SHOWN]}
    answer = render(request, "annotation/webhooks/detail.html", context, status=422 if form.errors else 200)
    return no_store(answer)


def _change(hook: Webhook, asked: dict[str, Any], by: Any) -> str:
    domain.change_webhook(hook, **asked, by=by)
    return SAVED


def _test(hook: Webhook, *_: Any) -> str:
    domain.send_test(hook)
    return TEST_WAITS


def _switch(hook: Webhook, on: bool, by: Any) -> str:
    domain.switch_webhook(hook, on, by=by)
    return SWITCHED_ON if on else SWITCHED_OFF


def _remove(hook: Webhook, by: Any) -> str:
    domain.remove_webhook(hook, by=by)
    return REMOVED


_ACTS: dict[str, Handler[str]] = {
    "change": _change,
    "test": _test,
    "secret": lambda hook, _, by: domain.new_secret(hook, by=by),
    "on": lambda hook, _, by: _switch(hook, True, by),
    "off": lambda hook, _, by: _switch(hook, False, by),
    "remove": lambda hook, _, by: _remove(hook, by),
}
