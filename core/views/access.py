"""Pages that only managers, or only managers and researchers, may open: anybody else gets a 403."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from core.people.permissions import Person, can_evaluate, can_manage

View = Callable[..., HttpResponseBase]


def _required(allowed: Callable[[Person], bool]) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not allowed(request.user):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return checked

    return decorate


manager_required = _required(can_manage)
evaluator_required = _required(can_evaluate)
