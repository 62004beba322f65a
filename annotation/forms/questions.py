"""Forms of the questions pages."""

from typing import Any

from django import forms

from core.forms import PageForm

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
