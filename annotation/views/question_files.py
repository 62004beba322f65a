"""Question templates as files, to download and to import; and the entities without a readable label."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from annotation.forms.questions import TemplatesFileForm
from annotation.questions.files import Change, read_upload, save_changes, templates_tsv
from annotation.questions.review import missing_labels
from annotation.questions.templates import texts_of
from annotation.views import told
from core.errors import UserError
from core.views.access import SignedInRequest, evaluator_required, manager_required
from core.views.files import text_response
from pooling.views.find import find_pool

SHOWN = 200


@evaluator_required
def questions_tsv(request: SignedInRequest, name: str) -> HttpResponse:
    """Send the templates of the relations that people are asked about, or with ?of=graph of all relations."""
    pool = find_pool(name)
    if request.GET.get("of") == "graph":
        return text_response(templates_tsv(pool.graph), f"{pool.graph.name}-relation_templates.tsv")
    return text_response(templates_tsv(pool.graph, pool), f"{pool.name}-relation_templates.tsv")


@manager_required
def import_questions(request: SignedInRequest, name: str) -> HttpResponse:
    """Read a file and show what it would change; then save that: the second form carries the text of the file."""
    pool = find_pool(name)
    form = TemplatesFileForm(request.POST, request.FILES) if request.method == "POST" else None
    changes = None
    if form is not None and form.is_valid():
        raw, file_name = form.cleaned_data["raw"], form.cleaned_data["file_name"] or "file"
        try:
            changes = read_upload(pool.graph, raw, file_name)
            if form.cleaned_data["file"] is None:
                count = save_changes(pool.graph, changes, by=request.user, pool=pool)
                messages.success(request, told.questions_imported(count))
                return redirect("pool-questions", name)
        except UserError as error:
            changes = None
            form.add_error("file", str(error))
    context = {"pool": pool, "form": form or TemplatesFileForm(), "changes": None, "shown": SHOWN}
    if changes is not None and form is not None:
        context |= {
            "changes": [(change.relation.key, _lines(change)) for change in changes[:SHOWN]],
            "num_changes": len(changes),
            "text": form.cleaned_data["raw"].decode("utf-8-sig"),
            "file_name": form.cleaned_data["file_name"],
        }
    return render(request, "annotation/questions/import.html", context)


def _lines(change: Change) -> list[tuple[str, str]]:
    """Return each text that changes, before and after."""
    pairs = zip(texts_of(change.newest), change.texts, strict=True)
    return [(before, after) for before, after in pairs if before != after]


@evaluator_required
def missing(request: SignedInRequest, name: str) -> HttpResponse:
    """List entities without a readable label; with ?as=tsv send all of them as a file."""
    pool = find_pool(name)
    rows = missing_labels(pool)
    if request.GET.get("as") == "tsv":
        lines = "".join(f"{row.key}\t{row.triples}\n" for row in rows)
        return text_response(lines, f"{pool.name}-missing-labels.tsv")
    context = {"pool": pool, "rows": rows[:SHOWN], "count": len(rows)}
    return render(request, "annotation/questions/labels.html", context)
