"""Forms of the searches for questions and triples; a value that a field does not know counts as empty."""

from typing import Any

from django import forms

from core.forms import PageForm, set_choices
from evaluation.browse.pool_states import LEGEND, PoolContents, TripleState
from evaluation.browse.search import JUDGED_BY, SORTS, WHICH, QuestionFilter, TripleFilter, relations_of
from pooling.enums import Side
from pooling.models import Pool
from pooling.pools.kernels.filters import FILTER_CHOICES
from pooling.systems.shown_names import shown_name

ALL = ("", "all")
STATES = [ALL, *((state.key, state.label) for state in LEGEND if state != TripleState.NOT_POOLED)]


class _Search(PageForm):
    q = forms.CharField(
        label="Text in names",
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    relation = forms.TypedChoiceField(label="Relation", required=False, coerce=int, empty_value=None)

    def __init__(self, contents: PoolContents, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_choices(self, "relation", [ALL, *relations_of(contents)])

    def _asked(self, *names: str) -> list[Any]:
        """Return the text searched for and the values of the named fields, None for those that are wrong."""
        self.is_valid()
        return [self.cleaned_data.get("q", "").strip(), *(self.cleaned_data.get(name) for name in names)]


class QuestionSearchForm(_Search):
    side = forms.ChoiceField(label="Side", required=False, choices=[("", "both"), *Side.choices])
    which = forms.ChoiceField(label="Questions", required=False, choices=list(WHICH.items()))
    sort = forms.ChoiceField(label="First", required=False, choices=list(SORTS.items()))

    def wanted(self) -> QuestionFilter:
        """Return what the address asks for."""
        text, side, relation, which, sort = self._asked("side", "relation", "which", "sort")
        return QuestionFilter(text, side or "", relation, which or "", sort or next(iter(SORTS)))


class TripleSearchForm(_Search):
    state = forms.ChoiceField(label="State", required=False, choices=STATES)
    system = forms.ChoiceField(label="Found by", required=False)
    reason = forms.ChoiceField(label="Filtered as", required=False)
    by = forms.ChoiceField(label="Judged by", required=False, choices=list(JUDGED_BY.items()))

    def __init__(self, pool: Pool, contents: PoolContents, *args: Any, **kwargs: Any) -> None:
        super().__init__(contents, *args, **kwargs)
        set_choices(self, "system", [ALL, *((name, shown_name(name)) for name in pool.contributors)])
        set_choices(self, "reason", [ALL, *FILTER_CHOICES])

    def wanted(self) -> TripleFilter:
        """Return what the address asks for."""
        text, relation, *words = self._asked("relation", "state", "system", "reason", "by")
        return TripleFilter(text, relation, *(word or "" for word in words))
