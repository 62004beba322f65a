"""The page of one run that somebody brought: its figures beside the published ones, and what its owner may do."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from core.errors import UserError
from core.views.access import SignedInRequest, evaluator_required, no_store
from evaluation.overview.own_run import beside_published
from pooling.enums import PoolState
from pooling.forms.runs import ReplaceForm
from pooling.runs.adapters.registry import ADAPTERS
from pooling.runs.ownership import may_change, visible_runs
from pooling.systems.shown_names import shown_name

LABEL_SETS = (("current", "Current labels"), ("seeds", "Seeds"), ("full-test", "Full test"))


@require_safe
@evaluator_required
def run_page(request: SignedInRequest, name: str, system: str) -> HttpResponse:
    """Show a run and compare it on a pool of its graph (?pool=, ?labels=)."""
    run = get_object_or_404(visible_runs(request.user), system__graph__name=name, system__name=system)
    pools = list(run.system.graph.pools.filter(state=PoolState.READY, archived=False).order_by("name"))
    pool = next((one for one in pools if one.name == request.GET.get("pool")), pools[0] if pools else None)
    labels = request.GET.get("labels", "current")
    figures, problem = None, ""
    if pool is not None and run.system.is_imported:
        try:
            figures = beside_published(pool, run, labels)
        except UserError as error:
            problem = str(error)
    content = {
        "graph": run.system.graph,
        "system": run.system,
        "shown_name": shown_name(run.system.name),
        "run": run,
        "pools": pools,
        "pool": pool,
        "labels": labels,
        "label_sets": LABEL_SETS,
        "figures": figures,
        "problem": problem,
        "may_change": may_change(request.user, run.system),
        "form": ReplaceForm(),
        "adapters": ADAPTERS.values(),
    }
    return no_store(render(request, "evaluation/runs/detail.html", content))
