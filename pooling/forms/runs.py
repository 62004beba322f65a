"""The form that uploads a run made elsewhere."""

from typing import Any

from django import forms

from core.errors import UserError
from core.forms import NameField, PageForm, set_choices
from pooling.enums import PoolState
from pooling.models import Graph
from pooling.runs.adapters.registry import ADAPTERS, AUTO
from pooling.runs.imports import MOST_BYTES, NOT_KNOWN
from pooling.systems.spec import FAMILIES
from pooling.training.train import check_name


def topics_field() -> forms.FileField:
    """Return the field of the topics file that a run was made from."""
    return forms.FileField(
        label="Topics file",
        required=False,
        help_text="The questions that the run was asked, as Export writes them. Those that the run lacks count as not "
        "returned; on all others it has no figure.",
    )


class ReplaceForm(PageForm):
    """Ask for the file that takes the place of a run."""

    file = forms.FileField(label="Run file", help_text="In any of the forms that the page Runs lists.")
    topics = topics_field()
    scores_decide = forms.BooleanField(
        label="The scores decide",
        required=False,
        help_text="Take the run even if most of its ranks contradict its scores.",
    )


class RunForm(PageForm):
    """Ask for a run file, its family, the questions it answers and the name of its system, new in `graph`."""

    name = NameField(
        label="Name of the system", max_length=80, help_text="Letters, digits, - and _; new in this graph."
    )
    family = forms.ChoiceField(label="Family", choices=[(name, name) for name in (NOT_KNOWN, *FAMILIES)])
    pool = forms.ChoiceField(
        label="It answers",
        required=False,
        help_text="Questions of a pool that the run lacks count as not returned. With the graph chosen, a pool sees "
        "the run only if it answers all of its questions.",
    )
    form = forms.ChoiceField(
        label="Form",
        required=False,
        choices=[(AUTO, "told by the file"), *((one.name, one.title) for one in ADAPTERS.values())],
    )
    file = forms.FileField(
        label="Run file",
        help_text="TREC lines: question id, Q0, entity, rank, score, tag; plain or .gz. Or another form, listed below. "
        f"Without JavaScript at most {MOST_BYTES // 10**6} MB unpacked.",
    )
    topics = topics_field()
    scores_decide = forms.BooleanField(
        label="The scores decide",
        required=False,
        help_text="Take the run even if most of its ranks contradict its scores.",
    )

    def __init__(self, graph: Graph, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.graph = graph
        pools = graph.pools.filter(state=PoolState.READY, archived=False).order_by("name")
        named = [(pool.name, f"pool {pool.name}") for pool in pools]
        set_choices(self, "pool", [("", f"questions of graph {graph.name}"), *named])

    def clean_form(self) -> str:
        return str(self.cleaned_data["form"] or AUTO)

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        try:
            check_name(self.graph, name)
        except UserError as error:
            raise forms.ValidationError(str(error)) from error
        return name
