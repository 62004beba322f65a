"""The documentation of the evaluation, as a page of the site."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.domain.help import help_page as read_help
from pooling.permissions import evaluator_required


@evaluator_required
def help_page(request: HttpRequest, page: str) -> HttpResponse:
    found = read_help(page)
    if found is None:
        raise Http404(f"There is no help page {page!r}.")
    return render(request, "help.html", {"page": found})
