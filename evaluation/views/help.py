"""The help pages: the documentation of the project on the site."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from core.people.permissions import can_evaluate
from evaluation.sections.help_pages import FOR_EVERYBODY
from evaluation.sections.help_pages import help_page as read_help


def help_page(request: HttpRequest, page: str) -> HttpResponse:
    if page not in FOR_EVERYBODY and not can_evaluate(request.user):
        raise PermissionDenied
    found = read_help(page)
    if found is None:
        raise Http404(f"There is no help page {page!r}.")
    return render(request, "help.html", {"page": found})
