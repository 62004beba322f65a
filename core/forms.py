"""The base of forms on pages, a field for small files, and the forms of typed names and API tokens."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django import forms
from django.core.files import File
from django.db.models import QuerySet
from django.utils.datastructures import MultiValueDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.enums import TokenScope

NOT_TYPED = "Type {} to delete it; nothing was deleted."
NAME_TOO_LONG = "The name of the file has {} bytes; at most {} can be kept. Give it a shorter name."
LONGEST_NAME = 255  # bytes, of most file systems
TOO_LARGE = "The file has {:,} bytes; at most {:,} can be sent here. {}"


def name_problem(files: Iterable["File[Any]"]) -> str:
    """Return what is wrong with the name of a file that was sent; "" if nothing is."""
    longest = max((len(str(file.name).encode("utf-8", "replace")) for file in files), default=0)
    return NAME_TOO_LONG.format(longest, LONGEST_NAME) if longest > LONGEST_NAME else ""


def whole_number(text: str, digits: int = 18) -> int | None:
    """Return the number that a form or an address sent, such as an id; None unless it has 1 to `digits` digits.

    Every column of ids holds 18 digits, or the query finds nothing; `int` refuses thousands of them by an error.
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


class PageForm(forms.Form):
    """A form whose errors the server tells: the browser does not stop it at an empty required field.

    It refuses 1_000 for a number, which Python takes for one.
    """

    use_required_attribute = False

    def full_clean(self) -> None:
        """Check the fields, and refuse files whose name no file here can have."""
        super().full_clean()
        files = self.files if self.is_bound and isinstance(self.files, MultiValueDict) else MultiValueDict()
        for name, sent in files.lists():
            if name in self.fields and (problem := name_problem(sent)):
                self.add_error(name, problem)
        for name, field in self.fields.items() if self.is_bound else ():
            # numbers of all kinds are IntegerFields
            if isinstance(field, forms.IntegerField) and "_" in str(self[name].data) and name not in self.errors:
                self.add_error(name, forms.ValidationError(field.error_messages["invalid"], "invalid"))


class OwnPasswordForm(PageForm):
    """Ask for the person's own password too, which `is_password` checks; whoever has only the session stops here.

    Without `has_password` there is no field, and `is_password` says whether the person signed in lately.
    """

    password = forms.CharField(
        label=_("Your password"),
        required=False,
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    not_yours: str | Promise = _("This is not your password. Nothing was done.")

    def __init__(
        self, *args: Any, is_password: Callable[[str], bool], has_password: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.is_password = is_password
        if not has_password:
            del self.fields["password"]
        self.order_fields([name for name in self.fields if name != "password"])

    def needs_password(self) -> bool:
        return True

    def clean(self) -> dict[str, Any]:
        asked: dict[str, Any] = super().clean() or {}
        if not self.errors and self.needs_password() and not self.is_password(asked.get("password", "")):
            self.add_error("password", forms.ValidationError(str(self.not_yours), "password_incorrect"))
        return asked


class NameField(forms.SlugField):
    """A name that can be part of an address."""

    default_error_messages = {"invalid": "Use only letters, digits, - and _ in a name; no spaces."}


class SmallFileField(forms.FileField):
    """A file of at most `most` bytes; the refusal of a larger one ends with `instead`, another way to bring it."""

    def __init__(self, *, most: int, instead: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.most, self.instead = most, instead

    def clean(self, data: Any, initial: Any = None) -> Any:
        file = super().clean(data, initial)
        if file and file.size > self.most:
            raise forms.ValidationError(TOO_LARGE.format(file.size, self.most, self.instead))
        return file


class TypedNameForm(PageForm):
    """Ask for a name, of what is to be deleted say, so that nobody does the act by accident."""

    wanted: str | Promise = "To delete it for good, type its name: {}"
    refusal: str | Promise = NOT_TYPED
    typed = forms.CharField(max_length=200, required=False)

    def __init__(self, *args: Any, expected: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected = expected
        self.fields["typed"].label = str(self.wanted).format(expected)
        self.fields["typed"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}

    def clean_typed(self) -> str:
        if self.cleaned_data["typed"] != self.expected:
            raise forms.ValidationError(str(self.refusal).format(self.expected), "name")
        return self.expected


def set_rows(form: forms.Form, name: str, rows: QuerySet[Any]) -> None:
    """Let a ModelChoiceField of this form offer these rows."""
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows


def set_choices(form: forms.Form, name: str, choices: Iterable[tuple[Any, Any]]) -> None:
    """Let a choice field of this form offer these pairs of value and label."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = list(choices)


KNOWN_BY = "What you will know it by: the script or machine that uses it."
DAYS = ((7, "1 week"), (30, "30 days"), (90, "90 days"), (365, "1 year"))


class TokenForm(OwnPasswordForm):
    name = forms.CharField(label="Name", max_length=80, help_text=KNOWN_BY)
    scopes = forms.MultipleChoiceField(
        label="It may",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose what the token is for."},
    )
    days = forms.TypedChoiceField(label="It ends after", choices=DAYS, coerce=int, initial=30)

    def __init__(self, *args: Any, scopes: Sequence[TokenScope], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_choices(self, "scopes", ((scope.value, scope.label) for scope in scopes))
        self.fields["scopes"].initial = [scopes[0].value]
