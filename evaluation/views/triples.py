"""The pages Triples of a pool, a search, and Triple with its whole history."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from core.errors import UserError
from core.people.permissions import can_manage
from core.views.access import evaluator_required
from core.views.pagination import page_of
from evaluation.browse.inventory import LEGEND, inventory
from evaluation.browse.list_tables import triple_table
from evaluation.browse.search import find_triples, triple_rows
from evaluation.browse.triple import (
    imported_rows,
    inspect_triple,
    label_rows,
    questions_without_runs,
    systems_and_places,
)
from evaluation.forms.search import TripleSearchForm
from evaluation.views.csv_file import search_query, table_response
from pooling.views.find import find_pool


@require_safe
@evaluator_required
def triples(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    held = inventory(pool)
    form = TripleSearchForm(pool, held.stock, request.GET)
    page = page_of(request, find_triples(pool, held, form.wanted()))
    context = {
        "pool": pool,
        "form": form,
        "page": page,
        "rows": triple_rows(pool, held, page),
        "legend": LEGEND,
        "num_triples": len(held.shown),
    }
    return render(request, "evaluation/browse/triple_list.html", context)


@require_safe
@evaluator_required
def triples_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Send every triple that the search finds, in its order."""
    pool = find_pool(name)
    held = inventory(pool)
    wanted = TripleSearchForm(pool, held.stock, request.GET).wanted()
    rows = triple_rows(pool, held, find_triples(pool, held, wanted))
    return table_response(triple_table(held, rows), [pool.name, "triples"], search_query(request))


@require_safe
@evaluator_required
def triple(request: HttpRequest, name: str, head: int, relation: int, tail: int) -> HttpResponse:
    """Show a triple. Managers see who labelled it; researchers see numbers, and of what people typed only links."""
    pool = find_pool(name)
    held = inventory(pool)
    graph = held.stock.graph
    if relation >= graph.num_relations or max(head, tail) >= graph.num_entities:
        raise Http404
    asked, names = (head, relation, tail), can_manage(request.user)
    detail, problem = inspect_triple(pool, held, asked), ""
    try:
        systems, places = systems_and_places(pool, held, asked)
    except UserError as error:
        systems, places, problem = [], questions_without_runs(pool, held, asked), str(error)
    context = {
        "pool": pool,
        "triple": detail,
        "places": places,
        "problem": problem,
        "names": names,
        "positions": [(system, [place.positions[i] for place in places]) for i, system in enumerate(systems)],
        "labels": label_rows(detail, names),
        "imported": imported_rows(detail, names),
    }
    return render(request, "evaluation/browse/triple.html", context)
