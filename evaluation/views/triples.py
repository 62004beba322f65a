"""The pages Triples of a pool, a search, and Triple with its whole history."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from core.errors import UserError
from core.people.permissions import can_manage
from core.views.access import evaluator_required
from core.views.pagination import page_of
from evaluation.browse.pool_states import LEGEND, pool_states
from evaluation.browse.search import find_triples, triple_rows
from evaluation.browse.tables import triple_table
from evaluation.browse.triple import imported_rows, inspect_triple, label_rows, questions_without_runs, triple_questions
from evaluation.forms.search import TripleSearchForm
from evaluation.views.csv_file import search_query, table_response
from pooling.views.find import find_pool


@require_safe
@evaluator_required
def triples(request: HttpRequest, name: str) -> HttpResponse:
    pool = find_pool(name)
    states = pool_states(pool)
    form = TripleSearchForm(pool, states.contents, request.GET)
    page = page_of(request, find_triples(pool, states, form.wanted()))
    context = {
        "pool": pool,
        "form": form,
        "page": page,
        "rows": triple_rows(pool, states, page),
        "legend": LEGEND,
        "num_triples": len(states.state),
    }
    return render(request, "evaluation/browse/triple_list.html", context)


@require_safe
@evaluator_required
def triples_csv(request: HttpRequest, name: str) -> HttpResponse:
    """Send every triple that the search finds, in its order."""
    pool = find_pool(name)
    states = pool_states(pool)
    wanted = TripleSearchForm(pool, states.contents, request.GET).wanted()
    rows = triple_rows(pool, states, find_triples(pool, states, wanted))
    return table_response(triple_table(states, rows), [pool.name, "triples"], search_query(request))


@require_safe
@evaluator_required
def triple(request: HttpRequest, name: str, head: int, relation: int, tail: int) -> HttpResponse:
    """Show a triple. Managers see who labelled it; researchers see numbers, and of what people typed only links."""
    pool = find_pool(name)
    states = pool_states(pool)
    graph = states.contents.graph
    if relation >= graph.num_relations or max(head, tail) >= graph.num_entities:
        raise Http404
    asked, names = (head, relation, tail), can_manage(request.user)
    detail, problem = inspect_triple(pool, states, asked), ""
    try:
        systems, questions = triple_questions(pool, states, asked)
    except UserError as error:
        systems, questions, problem = [], questions_without_runs(pool, states, asked), str(error)
    context = {
        "pool": pool,
        "triple": detail,
        "questions": questions,
        "problem": problem,
        "names": names,
        "positions": [(system, [question.positions[i] for question in questions]) for i, system in enumerate(systems)],
        "labels": label_rows(detail, names),
        "imported": imported_rows(detail, names),
    }
    return render(request, "evaluation/browse/triple.html", context)
