"""Forms of what is set up before people label: questions, guidelines and sources."""

from collections.abc import Iterable
from typing import Any

from django import forms

from annotation.messages.guidelines import MAX_LENGTH
from annotation.models import Source
from core.forms import PageForm, set_choices
from pooling.models import Relation

MAX_BYTES = 1_048_576


class TemplatesFileForm(PageForm):
    """A file of templates, or its text once the manager has seen what it changes and confirms."""

    file = forms.FileField(
        label="File",
        required=False,
        help_text="TSV without a header: relation, statement, tail question, head question. UTF-8, at most 1 MiB.",
        widget=forms.FileInput(attrs={"accept": ".tsv,.txt"}),
    )
    text = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    file_name = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        """Add `raw`, the bytes; `file_name` is for messages and never a path."""
        asked = super().clean() or {}
        file, text = asked.get("file"), asked.get("text")
        if file is not None and file.size > MAX_BYTES:
            self._refuse(f"The file has {file.size:,} bytes: at most {MAX_BYTES:,} are taken.", "large")
        elif text is not None and len(text.encode()) > 2 * MAX_BYTES:  # its line ends became longer
            self._refuse(f"At most {MAX_BYTES:,} bytes are taken.", "large")
        elif file is not None:
            asked |= {"raw": file.read(), "file_name": str(file.name)[:200]}
        elif text:
            asked |= {"raw": text.encode()}
        else:
            self._refuse("Choose a file.", "required")
        return asked

    def _refuse(self, message: str, code: str) -> None:
        self.add_error("file", forms.ValidationError(message, code))


class GuidelinesForm(PageForm):
    text = forms.CharField(
        label="Text, in Markdown",
        max_length=MAX_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true"}),
        help_text="# heading, **bold**, - list, | table |, [name](https://…). HTML and images are not shown.",
    )
    after = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


ALL, CHOSEN = "all", "chosen"


class SourceForm(PageForm):
    """Name and search address of a source."""

    name = forms.CharField(label="Name", max_length=80)
    search_url = forms.CharField(
        label="Search address",
        max_length=300,
        required=False,
        help_text="https, with {query} once: the names of a statement are put there. "
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
