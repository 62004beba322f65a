"""The page of a person's own API tokens: make one, which is shown once, and revoke one."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from core import clock
from core.enums import TokenScope
from core.forms import TokenForm
from core.models import ApiToken
from core.people.tokens import create_token, revoke_token, scopes_for, tokens_of
from core.views.access import SignedInRequest, no_store
from core.views.acts import attempt
from core.views.own_password import own_password


@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: SignedInRequest) -> HttpResponse:
    """List the tokens; POST makes one, which the answer shows this once, or revokes the named one."""
    user = request.user
    if request.method == "POST" and "revoke" in request.POST:
        revoke_token(user, request.POST["revoke"].replace("\0", ""))
        messages.success(request, "The token is revoked: nothing can use it any more.")
        return redirect("account-tokens")
    make_form = partial(TokenForm, scopes=scopes_for(user), **own_password(request))
    form = make_form(request.POST or None)
    made, secret = attempt(form, lambda asked: _create(user, asked)) or (None, "")
    if made:
        form = make_form()
    rows = [_row(token) for token in tokens_of(user)]
    context = {"form": form, "made": made, "secret": secret, "rows": rows}
    return no_store(render(request, "core/tokens/list.html", context, status=422 if form.errors else 200))


def _create(user: User, asked: dict[str, Any]) -> tuple[ApiToken, str]:
    return create_token(user, asked["name"], asked["scopes"], asked["days"])


def _row(token: ApiToken) -> dict[str, Any]:
    return {
        "token": token,
        "scopes": [scope.label for scope in TokenScope if scope in token.scopes],
        "is_over": token.expiry is not None and token.expiry < clock.now(),
    }
