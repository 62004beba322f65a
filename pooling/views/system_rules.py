"""Rules of a system as a file; its page shows the first of them."""

from __future__ import annotations

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404

from core.views.access import evaluator_required
from pooling.models import System
from pooling.rules.in_words import has_rules, rules_tsv


@evaluator_required
def system_rules(request: HttpRequest, name: str, system: str) -> StreamingHttpResponse:
    """All rules as TSV."""
    found = get_object_or_404(System.objects.select_related("graph"), graph__name=name, name=system)
    if not has_rules(found):
        raise Http404(f"{system} has no rules: it mines none, or is not trained yet.")
    headers = {"Content-Disposition": f'attachment; filename="{name}-{system}-rules.tsv"'}
    return StreamingHttpResponse(
        rules_tsv(found), content_type="text/tab-separated-values; charset=utf-8", headers=headers
    )
