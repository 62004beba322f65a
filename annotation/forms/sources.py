"""Forms of the sources pages."""

from collections.abc import Iterable
from typing import Any

from django import forms

from annotation.models import Source
from core.forms import PageForm, set_choices
from pooling.models import Relation

ALL, CHOSEN = "all", "chosen"


class SourceForm(PageForm):
    """Name and search address of a source."""

    name = forms.CharField(label="Name", max_length=80)
    search_url = forms.CharField(
        label="Search address",
        max_length=300,
        required=False,
        help_text="https, with {query} once: the names of a question are put there. "
        "Without it, links are accepted and no search is offered.",
    )


class NewSourceForm(SourceForm):
    host = forms.CharField(
        label="Host", max_length=200, help_text="wikipedia.org: a link is accepted there and at all hosts under it."
    )
    field_order = ("name", "host", "search_url")


class RemoveForm(PageForm):
    opens = forms.BooleanField(label="Let these relations take all sources again", required=False)


class ChooseForm(PageForm):
    """Choose sources for several relations at once: the ticked ones, or all that the filter shows."""

    relations = forms.TypedMultipleChoiceField(coerce=int, required=False)
    every = forms.BooleanField(required=False)
    which = forms.ChoiceField(
        label="They take",
        choices=[(CHOSEN, "only these"), (ALL, "all sources, also those that are added later")],
        widget=forms.RadioSelect,
        initial=CHOSEN,
    )
    sources = forms.TypedMultipleChoiceField(
        label="Sources", coerce=int, required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, data: Any, *, shown: Iterable[Relation], sources: Iterable[Source], **options: Any) -> None:
        super().__init__(data, **options)
        self.shown = list(shown)
        set_choices(self, "relations", ((relation.index, relation.key) for relation in self.shown))
        set_choices(self, "sources", ((source.pk, source.name) for source in sources))

    def clean(self) -> dict[str, Any]:
        """Add `chosen_relations`, their indices, and `chosen_sources`, primary keys or None for all sources."""
        asked = super().clean() or {}
        asked["chosen_relations"] = [r.index for r in self.shown] if asked.get("every") else asked.get("relations")
        asked["chosen_sources"] = None if asked.get("which") == ALL else asked.get("sources")
        return asked
