"""Forms that upload the files of a graph, and ask how they are read and what the graph is called."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from core.errors import UserError
from core.forms import NameField, PageForm
from pooling.graphs.bundled import FAMILIES, SHIPPED
from pooling.graphs.imports import check_new_name
from pooling.layouts.layout import ADVISED, LayoutOptions, with_names
from pooling.layouts.tables import SEPARATORS
from pooling.layouts.uploads import MOST_BYTES, MOST_FILES, ON_SERVER

COLUMNS = (("", "find out"), ("hrt", "head, relation, tail"), ("htr", "head, tail, relation"),
           ("rht", "relation, head, tail"), ("rth", "relation, tail, head"), ("thr", "tail, head, relation"),
           ("trh", "tail, relation, head"))  # fmt: skip
HEADER = (("", "find out"), ("yes", "names columns"), ("no", "is a triple"))
BUNDLED = (
    ("nations", "Nations: 14 countries, 55 relations"),
    ("umls", "UMLS: 135 medical concepts, 46 relations"),
    ("kinships", "Kinships: 104 people, 25 kinds of relative"),
)  # as PyKEEN ships them
UNSEEN = (("keep", "keep them"), ("drop", "drop their triples"))


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or more; the cleaned value is a list."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> list["UploadedFile[Any]"]:
        files = data if isinstance(data, list | tuple) else [data]
        return [forms.FileField.clean(self, file, initial) for file in files or [None]]


class GraphFilesForm(PageForm):
    """Ask for the files of a graph."""

    sent = FilesField(
        label="Files",
        help_text="Drop them on the field, or choose them: the files of a folder, or one .zip, .tar.gz or file; at "
        f"most {MOST_FILES} files and {MOST_BYTES // 10**6} MB, also when unpacked. {ON_SERVER}",
        error_messages={"required": "Choose the files of a graph.", "empty": "A file is empty: leave it out."},
        allow_empty_file=True,
    )


class BundledGraphForm(PageForm):
    """Ask for a graph that comes with the program, and what to call it."""

    bundled = forms.TypedChoiceField(
        label="Graph",
        choices=[(FAMILIES, "Families, drawn at random: 260 people, 23 relations; all true facts are known"), *BUNDLED],
        coerce=lambda name: SHIPPED.get(name, name),
        error_messages={"invalid_choice": "Choose a graph of the list."},
    )
    bundled_name = NameField(label="Name", max_length=80, help_text="Letters, digits, - and _; new on this site.")


class LayoutForm(PageForm):
    """Ask what cannot be told from the files; every field has a usual value."""

    columns = forms.ChoiceField(label="Columns", choices=COLUMNS, required=False)
    header = forms.ChoiceField(label="First line", choices=HEADER, required=False)
    separator = forms.ChoiceField(
        label="Separator", choices=(("", "find out"), *((name, name) for name in SEPARATORS)), required=False
    )
    folder = forms.CharField(
        label="Folder", required=False, max_length=200, help_text="Of the splits, where several folders have them."
    )
    ignore_time = forms.BooleanField(label="Leave out times of quadruples", required=False)
    drop_qualifiers = forms.BooleanField(label="Leave out qualifiers after the triple", required=False)
    valid_share = forms.FloatField(label="Share of valid", required=False, min_value=0, max_value=1)
    test_share = forms.FloatField(label="Share of test", required=False, min_value=0, max_value=1)
    seed = forms.IntegerField(
        label="Seed of the splits", required=False, min_value=0, max_value=2**31, help_text="Where splits are drawn."
    )
    link_pattern = forms.CharField(
        label="Links of entities",
        required=False,
        max_length=500,
        help_text="Address with {id} for the id, such as https://www.wikidata.org/wiki/{id}.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usual = LayoutOptions()
        for name, value in zip(("valid_share", "test_share", "seed"), (*usual.shares, usual.seed), strict=True):
            self.fields[name].initial = value

    def in_words(self, message: str) -> str:
        """Return a message with the labels of fields in the place of the command's options."""
        message = message.replace("--header to yes", f"--header to “{dict(HEADER)['yes']}”")
        return with_names(message, {name: f"“{self.fields[name].label}”" for name in ADVISED})

    def options(self) -> LayoutOptions:
        """Return what was asked, of a valid form."""
        asked, usual = self.cleaned_data, LayoutOptions()
        valid, test = (asked[name] for name in ("valid_share", "test_share"))
        shares = usual.shares[0] if valid is None else valid, usual.shares[1] if test is None else test
        taken = ("folder", "separator", "columns", "header", "ignore_time", "drop_qualifiers", "link_pattern")
        seed = usual.seed if asked["seed"] is None else asked["seed"]
        return LayoutOptions(**{key: asked[key] for key in taken}, shares=shares, seed=seed)


class GraphNameForm(PageForm):
    """Ask for the name of a graph that was read."""

    name = NameField(label="Name", max_length=80, help_text="Letters, digits, - and _; new on this site.")
    unseen = forms.ChoiceField(
        label="Entities of valid and test that train does not have", choices=UNSEEN, initial="keep", required=False
    )

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        try:
            check_new_name(name)
        except UserError as error:
            raise forms.ValidationError(str(error)) from error
        return name

    def clean_unseen(self) -> str:
        return self.cleaned_data["unseen"] or "keep"
