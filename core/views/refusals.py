"""Decorators of views whose answer is no page with a form: how a UserError is told there."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render

from core.errors import UserError
from core.views.access import View


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
