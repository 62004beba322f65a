"""One's own API tokens: each is shown once, listed by its beginning, and revoked at once."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from core.enums import TokenScope
from core.errors import UserError
from core.forms.tokens import TokenForm
from core.models import ApiToken
from core.people.tokens import create_token, revoke_token, scopes_for, tokens_of


@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """POST makes a token, and its page shows it this once; or revokes the one that is named."""
    user: User = request.user  # type: ignore[assignment]  # signed in
    if request.method == "POST" and "revoke" in request.POST:
        revoke_token(user, request.POST["revoke"])
        messages.success(request, "The token is revoked: nothing can use it any more.")
        return redirect("account-tokens")
    form = TokenForm(request.POST or None, scopes=scopes_for(user))
    made, secret = None, ""
    if form.is_valid():
        try:
            made, secret = create_token(user, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            form = TokenForm(scopes=scopes_for(user))
    context: dict[str, Any] = {
        "form": form,
        "made": made,
        "secret": secret,
        "rows": [_row(token) for token in tokens_of(user)],
    }
    response = render(request, "core/tokens/list.html", context, status=422 if form.errors else 200)
    response["Cache-Control"] = "no-store"
    return response


def _row(token: ApiToken) -> dict[str, Any]:
    return {
        "token": token,
        "scopes": [scope.label for scope in TokenScope if scope in token.scopes],
        "is_over": token.expiry is not None and token.expiry < timezone.now(),
    }
