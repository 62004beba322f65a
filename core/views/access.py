"""Decorators of pages that need a right on the whole site."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from core.people.permissions import has_right
from core.people.roles import Right

View = Callable[..., HttpResponseBase]


def right_required(right: Right) -> Callable[[View], View]:
    """Return a decorator that answers 403 to people without the right."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not has_right(request.user, right):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return checked

    return decorate


manager_required = right_required(Right.MANAGE)
evaluator_required = right_required(Right.EVALUATE)
