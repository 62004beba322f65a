"""Forms of the pages that make, filter, extend and freeze a pool."""

from typing import Any

from django import forms

from core.forms import NameField, PageForm, SmallFileField, set_choices
from pooling.enums import PoolOrigin, PoolRule, SystemState
from pooling.graphs.kernels.degrees import band_names
from pooling.graphs.opening import open_graph
from pooling.models import Graph, Pool
from pooling.models.system import IMPORTED
from pooling.pools.effort import ASSUMED_SECONDS, Pace
from pooling.pools.filtering import why_types_idle
from pooling.pools.kernels.filters import DEFAULT_FILTERS, FILTER_CHOICES, FILTERS, TYPES
from pooling.pools.kernels.seeds import STRATIFY
from pooling.runs.score import MOST_CANDIDATES
from pooling.systems.shown_names import shown_name

SEED_FILE_BYTES = 5_000_000
MEASURED = "Measured: the median of the last {:,} labels of people on this site."
ASSUMED = "Assumed: too few labels of this site have a measured time. Correct it after the first labels."
POOL_FILE_BYTES = 20_000_000
FILTERS_ABOUT = (
    "What a filter takes is assumed negative, and no person is asked. They can be changed until the campaign opens."
)
NO_SEEDS = "Give a share above 0, a number, or a seed file."
RULES = [(rule.value, rule.label) for rule in (PoolRule.FILTERED, PoolRule.RAW)]
STRATIFIED_BY = [(name, f"by {words}" if name else "no: any test triple") for name, words in STRATIFY.items()]


def trained_systems(graph: Graph) -> list[tuple[str, str]]:
    """Return (kind, name) of the trained systems of a graph, without archived ones, in the order of their making."""
    systems = graph.systems.filter(state=SystemState.TRAINED, archived=False)
    return list(systems.order_by("id").values_list("kind", "name"))


def share_field(label: str, help_text: str, initial: float | None = None) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": "any"})
    return forms.FloatField(
        label=label, initial=initial, min_value=0, max_value=1, required=False, widget=widget, help_text=help_text
    )


def seeds_file_field(command: str, more: str = "") -> SmallFileField:
    """Return the field of a seed file; `command` reads larger ones on the server."""
    return SmallFileField(
        most=SEED_FILE_BYTES,
        instead=f"Use {command} --seeds on the server instead.",
        label="Seed file",
        required=False,
        help_text=f"Instead of a sample: TSV of head, relation, tail, all of test.{more}",
    )


def score_again_field() -> forms.BooleanField:
    return forms.BooleanField(
        label="Score again",
        required=False,
        help_text="Scores a question again if its run lacks the places in the full list.",
    )


def graph_field() -> forms.ModelChoiceField:
    """Return the field that chooses a graph by name; it offers those that are not archived."""
    return forms.ModelChoiceField(
        Graph.objects.filter(archived=False).order_by("name"),
        label="Graph",
        to_field_name="name",
        empty_label=None,
        error_messages={"invalid_choice": "Choose a graph of the list."},
    )


def filters_field() -> forms.MultipleChoiceField:
    """Return the field of the filters of a pool that is made."""
    return forms.MultipleChoiceField(
        label="Filters",
        required=False,
        choices=FILTER_CHOICES,
        initial=list(DEFAULT_FILTERS),
        widget=forms.CheckboxSelectMultiple,
        help_text=FILTERS_ABOUT,
    )


class PoolForm(PageForm):
    """Ask for the seeds, systems, depth and filters of a new pool."""

    name = NameField(label="Name", max_length=80, help_text="Letters, digits, - and _. It becomes part of the address.")
    systems = forms.MultipleChoiceField(
        label="Systems",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one trained system."},
    )
    depth = forms.IntegerField(
        label="Depth",
        initial=10,
        min_value=1,
        max_value=MOST_CANDIDATES,
        help_text="Candidates taken from each run per question.",
    )
    rule = forms.ChoiceField(
        label="Pooling rule",
        choices=RULES,
        initial=PoolRule.FILTERED,
        required=False,
        widget=forms.RadioSelect,
        help_text="Raw gives fewer triples to judge, above all for questions with many known answers.",
    )
    score_again = score_again_field()
    sample = share_field(
        "Share of test triples",
        "Seed triples drawn from test: 0.05 is one in twenty. Not used with a seed file.",
        initial=0.05,
    )
    count = forms.IntegerField(
        label="Number of test triples", min_value=1, required=False, help_text="If given, it replaces the share."
    )
    stratify = forms.ChoiceField(
        label="Stratify",
        required=False,
        choices=STRATIFIED_BY,
        help_text="By relation, each relation has the same share of the seeds as of test. Popularity is that of the"
        f" rarer of two entities, in training triples: {', '.join(band_names())}.",
    )
    seed = forms.IntegerField(label="Random seed of the sample", initial=42, min_value=0, required=False)
    seeds_file = seeds_file_field("build_pool")
    filters = filters_field()

    def __init__(self, graph: Graph, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        trained = trained_systems(graph)
        set_choices(self, "systems", [(name, shown_name(name)) for _, name in trained])
        # one system of each kind is deep enough; runs from elsewhere differ in depth, so they are chosen by hand
        first = {kind: name for kind, name in reversed(trained) if kind != IMPORTED}
        self.fields["systems"].initial = [name for kind, name in trained if first.get(kind) == name]
        if idle := why_types_idle(open_graph(graph), [TYPES]):
            self.fields["filters"].help_text += f" {idle}"

    def clean_rule(self) -> str:
        return self.cleaned_data["rule"] or PoolRule.FILTERED

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("count"):
            cleaned["sample"] = None
        elif not cleaned.get("seeds_file") and not cleaned.get("sample") and not {"sample", "count"} & set(self.errors):
            self.add_error("sample", NO_SEEDS)
        return cleaned


class EffortForm(PageForm):
    """Ask how long a label takes and what an hour costs; nothing of it is kept."""

    seconds = forms.FloatField(
        label="Seconds a label", min_value=0.1, max_value=3600, widget=forms.NumberInput(attrs={"step": "any"})
    )
    rate = forms.FloatField(
        label="Cost of an hour",
        required=False,
        min_value=0,
        max_value=1_000_000,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="In your currency. Leave empty to show no costs.",
    )

    def __init__(self, pace: Pace | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["seconds"].initial = round(pace.seconds, 1) if pace else ASSUMED_SECONDS
        self.fields["seconds"].help_text = MEASURED.format(pace.labels) if pace else ASSUMED

    def asked(self) -> tuple[float, float | None]:
        """Return seconds a label and money an hour, of a valid form or of one that nobody filled in."""
        given = self.cleaned_data if self.is_bound else {name: field.initial for name, field in self.fields.items()}
        return given["seconds"], given.get("rate")


class ImportPoolForm(PageForm):
    """Ask for the files of a pool that was made elsewhere, and its graph, name and filters."""

    graph = graph_field()
    name = NameField(label="Name", max_length=80, help_text="Letters, digits, - and _. It becomes part of the address.")
    file = SmallFileField(
        most=POOL_FILE_BYTES,
        instead="Use the command import_pool on the server instead.",
        label="Pooled triples",
        help_text="TSV of head, relation, tail and smallest depth; a fifth column can name who found it.",
        error_messages={"required": "Choose the file of the pool.", "empty": "The file is empty."},
    )
    seeds_file = SmallFileField(
        most=SEED_FILE_BYTES,
        instead="Use the command import_pool on the server instead.",
        label="Seed triples",
        help_text="TSV of head, relation, tail: the test triples that the questions came from.",
        error_messages={"required": "Choose the file of the seeds.", "empty": "The file is empty."},
    )
    filters = filters_field()


class FilterForm(forms.Form):
    """Ask for the filters of a pool; no filter is a choice too."""

    filters = forms.MultipleChoiceField(
        label="Filters", required=False, choices=FILTER_CHOICES, widget=forms.CheckboxSelectMultiple
    )

    def clean_filters(self) -> list[str]:
        """Return the chosen filters in the order of the registry: the first that takes a triple gives the reason."""
        return [name for name in FILTERS if name in self.cleaned_data["filters"]]


class GrowthForm(PageForm):
    """Ask for the depth, systems and seeds to add to a pool; an empty field changes nothing."""

    depth = forms.IntegerField(label="New depth", required=False, max_value=MOST_CANDIDATES)
    score_again = score_again_field()
    systems = forms.MultipleChoiceField(label="Systems to add", required=False, widget=forms.CheckboxSelectMultiple)
    sample = share_field(
        "Share of test triples to add", "Of all test triples; drawn from those that are not seeds yet."
    )
    count = forms.IntegerField(label="Number of seeds to add", min_value=1, required=False)
    stratify = forms.ChoiceField(label="Stratify", required=False, choices=STRATIFIED_BY)
    seed = forms.IntegerField(label="Random seed of the sample", initial=42, min_value=0, required=False)
    seeds_file = seeds_file_field("extend_pool", " Seeds that the pool has are skipped.")

    def __init__(self, pool: Pool, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [name for _, name in trained_systems(pool.graph) if name not in pool.contributors]
        if names:
            set_choices(self, "systems", [(name, shown_name(name)) for name in names])
        else:
            del self.fields["systems"]
        if pool.origin == PoolOrigin.IMPORTED:
            del self.fields["depth"]  # no candidates below its depth were imported
        else:
            self.fields["depth"].help_text = f"More than {pool.depth}, the depth now."
            self.fields["depth"].widget.attrs["min"] = pool.depth + 1


class FreezeForm(PageForm):
    """Ask for a tick before a pool is frozen, since that cannot be undone."""

    sure = forms.BooleanField(
        label="I know that this cannot be undone",
        error_messages={"required": "Tick the box to freeze the pool: this cannot be undone."},
    )
