"""Who may open a page, how a refusal is told, and what only one person should see."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render

from core.errors import UserError
from core.people.roles import Right, has_right


class SignedInRequest(HttpRequest):
    """Type of the request of a view that only accounts reach, as LoginRequiredMiddleware or a decorator checked."""

    user: User


View = Callable[..., HttpResponseBase]


def right_required(right: Right, method: str | None = None) -> Callable[[View], View]:
    """Return a decorator that answers 403 to people without the right; with `method` only where they use that."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if method in (None, request.method) and not has_right(request.user, right):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return checked

    return decorate


manager_required = right_required(Right.MANAGE)
evaluator_required = right_required(Right.EVALUATE)
manager_posts = right_required(Right.MANAGE, "POST")  # of a page that others may read


def _refusal(answer: Callable[[HttpRequest, str], HttpResponse]) -> Callable[[View], View]:
    """Return a decorator: a UserError of the view is answered by `answer(request, message)`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def caught(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                return view(request, *args, **kwargs)
            except UserError as error:
                return answer(request, str(error))

        return caught

    return decorate


text_refusal = _refusal(lambda _, message: HttpResponse(message, status=400, content_type="text/plain; charset=utf-8"))
json_refusal = _refusal(lambda _, message: JsonResponse({"error": message}, status=400))
# 409: what is asked for is not there yet, or cannot be read
page_refusal = _refusal(lambda request, message: render(request, "problem.html", {"problem": message}, status=409))


def no_store(response: HttpResponse) -> HttpResponse:
    """Let no browser or proxy keep a copy of the response."""
    response["Cache-Control"] = "no-store"
    return response


def link_to(request: HttpRequest, path: str) -> str:
    """Return the full address of a page, to hand to somebody; https if the site has it."""
    if settings.PRODUCTION and settings.SITE_URL:  # not what the request says that the site is called
        return f"{settings.SITE_URL}{path}"
    url = request.build_absolute_uri(path)
    # behind a proxy that ends TLS, the request itself came by http
    return url.replace("http://", "https://", 1) if settings.SESSION_COOKIE_SECURE else url
