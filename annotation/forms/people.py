"""Forms of people: roles, invitations, consent, own account, erasure."""

import re
from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import PasswordChangeForm, UsernameField
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign, Invitation
from annotation.people.forgotten import sends_links
from annotation.people.invitations import MOST_ADDRESSES, MOST_PEOPLE
from core.forms import OwnPasswordForm, PageForm, TypedNameForm, set_choices, set_rows
from core.people.roles import CampaignRole, SiteRole

DAYS = ((1, "1 day"), (3, "3 days"), (7, "1 week"), (14, "2 weeks"), (30, "30 days"))
PERSONAL_DATA_LENGTH = 20_000
ONE_ADDRESS = "A link for several people has no address. Leave one of the two out, or paste addresses below."
NO_ADDRESSES = "Nobody was invited: {} is no e-mail address."
FOR_PASSWORDS = _("May be left out. Used for a forgotten password only.")
NO_MAIL = _("May be left out: this site sends no e-mail now. It would be used for a forgotten password only.")
TO_AGREE = _("To take part, agree to this text.")
TEXT_CHANGED = _("The text was changed while you read it. Read it again, then agree.")
PASSWORDS_DIFFER = _("The two passwords differ.")
NOT_ERASED = _("This is not your password. Nothing was erased.")
NOT_YOUR_PASSWORD = _("This is not your password. The e-mail address is as it was.")


class PersonForm(PageForm):
    username = forms.CharField(label="Name", max_length=150, help_text="If nobody has this name, an account is made.")
    role = forms.ChoiceField(label="Role", choices=CampaignRole.choices)


def _mail_language() -> forms.ChoiceField:
    return forms.ChoiceField(label="Language of the mail", choices=settings.LANGUAGES, required=False)


def _without_mails(form: forms.Form) -> None:
    """Ask for no language where the site sends no mail."""
    if not settings.EMAIL_IS_SET:
        del form.fields["language"]


class InviteForm(PageForm):
    """An invitation to a role of a campaign, or of the site."""

    role = forms.ChoiceField(label="Role")
    days = forms.TypedChoiceField(label="Can be used for", choices=DAYS, coerce=int, initial=14)
    email = forms.EmailField(label="E-mail", required=False, max_length=254)
    language = _mail_language()
    limit = forms.IntegerField(
        label="For how many people",
        min_value=1,
        max_value=MOST_PEOPLE,
        initial=1,
        required=False,
        help_text="Anyone with the link can join until this many have.",
    )

    def __init__(self, *args: Any, site: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "invite_%s", **kwargs})
        set_choices(self, "role", SiteRole.choices if site else CampaignRole.choices)
        if site:
            del self.fields["limit"]
            self.fields["role"].initial = SiteRole.RESEARCHER  # the role that can do less
        _without_mails(self)
        self.fields["email"].help_text = (
            "The link is sent there."
            if settings.EMAIL_IS_SET
            else "May be left out. This site sends no e-mail: hand the link over yourself."
        )

    def clean_limit(self) -> int:
        return self.cleaned_data["limit"] or 1

    def clean(self) -> dict[str, Any]:
        asked = super().clean() or {}
        if asked.get("email") and asked.get("limit", 1) > 1:
            self.add_error("email", forms.ValidationError(ONE_ADDRESS, "one"))
        return asked


class InviteManyForm(PageForm):
    """Invitations to a role of a campaign, one for each address."""

    emails = forms.CharField(
        label="E-mail addresses",
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=f"One a line, or separated by commas; at most {MOST_ADDRESSES}. Each gets a link of their own.",
    )
    role = forms.ChoiceField(label="Role", choices=CampaignRole.choices)
    days = forms.TypedChoiceField(label="Can be used for", choices=DAYS, coerce=int, initial=14)

    language = _mail_language()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "many_%s", **kwargs})
        _without_mails(self)

    def clean_emails(self) -> list[str]:
        """Return the addresses, once each; those that are none are named."""
        found = [word.strip("<>") for word in re.split(r"[\s,;]+", self.cleaned_data["emails"])]
        given = list(dict.fromkeys(filter(None, found)))
        wrong = [word for word in given if not _is_email(word)]
        if wrong or not given:
            raise forms.ValidationError(NO_ADDRESSES.format(", ".join(wrong[:5]) or "this"), "addresses")
        return given


def _is_email(text: str) -> bool:
    try:
        validate_email(text)
    except forms.ValidationError:
        return False
    return len(text) <= 254


class MemberForm(forms.Form):
    """The button that takes a campaign role from a person."""

    person = forms.CharField(required=False)
    role = forms.CharField(required=False)


class SiteRoleForm(forms.Form):
    """The button that takes a role of the site from a person."""

    role = forms.ChoiceField(choices=SiteRole.choices)


class RevokeForm(forms.Form):
    """The button that revokes an invitation of a campaign, or of the site."""

    row = forms.ModelChoiceField(queryset=Invitation.objects.none())

    def __init__(self, campaign: Campaign | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_rows(self, "row", Invitation.objects.filter(campaign=campaign))


class PersonalDataForm(PageForm):
    text = forms.CharField(
        label="Text",
        required=False,
        max_length=PERSONAL_DATA_LENGTH,
        widget=forms.Textarea(attrs={"rows": 16}),
        help_text="Markdown. Empty: nobody is asked.",
    )

    def clean_text(self) -> str:
        return "\n".join(line.rstrip() for line in self.cleaned_data["text"].strip().splitlines())


class AgreeForm(PageForm):
    """Agreement to a text: the field `text` is its fingerprint, so that nobody agrees to a text they did not see."""

    text = forms.CharField(widget=forms.HiddenInput, max_length=64)
    agreed = forms.BooleanField(label=_("I have read this and agree"), error_messages={"required": TO_AGREE})

    def __init__(self, *args: Any, fingerprint: str, **kwargs: Any) -> None:
        super().__init__(*args, **{"initial": {"text": fingerprint}, **kwargs})
        self.fingerprint = fingerprint

    def clean_text(self) -> str:
        if self.cleaned_data["text"] != self.fingerprint:
            self.data = {**self.data, "text": self.fingerprint}  # for the page that is shown again
            raise forms.ValidationError(TEXT_CHANGED)
        return self.fingerprint


def _email(help_text: Any) -> forms.EmailField:
    completed = forms.EmailInput(attrs={"autocomplete": "email"})
    return forms.EmailField(label=_("E-mail"), required=False, max_length=254, widget=completed, help_text=help_text)


def _say_if_no_mail(form: forms.Form) -> None:
    if not sends_links():
        form.fields["email"].help_text = NO_MAIL


def _new_password(label: Any, help_text: Any = "") -> forms.CharField:
    hidden = forms.PasswordInput(attrs={"autocomplete": "new-password"})
    return forms.CharField(label=label, strip=False, max_length=4096, widget=hidden, help_text=help_text)


class JoinForm(PageForm):
    """A new account by invitation."""

    username = UsernameField(
        label=_("Name"), max_length=150, help_text=_("To sign in with. Managers see it; letters, digits and @ . + - _")
    )
    email = _email(FOR_PASSWORDS)
    password = _new_password(_("Password"), _("Eight characters or more, not a common one, and not like your name."))
    again = _new_password(_("Password again"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say_if_no_mail(self)

    def clean(self) -> dict[str, Any]:
        asked: dict[str, Any] = super().clean() or {}
        password, again = asked.get("password"), asked.get("again")
        if password and again and password != again:
            self.add_error("again", PASSWORDS_DIFFER)
        elif password:
            user = User(username=asked.get("username", ""), email=asked.get("email", ""))
            try:
                validate_password(password, user)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return asked


class EmailForm(OwnPasswordForm):
    """The own e-mail address; a link to a new password goes there, so a change needs the password."""

    email = _email(FOR_PASSWORDS)
    not_yours = NOT_YOUR_PASSWORD

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _say_if_no_mail(self)

    def needs_password(self) -> bool:
        return self.has_changed()


class ChangePasswordForm(PasswordChangeForm):
    """The form of Django, whose guesses at the current password `is_password` counts."""

    def __init__(self, *args: Any, is_password: Callable[[str], bool], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_password = is_password

    def clean_old_password(self) -> str:
        typed: str = self.cleaned_data["old_password"]
        if not self.is_password(typed):
            raise forms.ValidationError(self.error_messages["password_incorrect"], "password_incorrect")
        return typed


class ErasureForm(OwnPasswordForm, TypedNameForm):
    """Confirmation of an erasure: the name of the account must be typed, and the own password."""

    wanted, refusal = _("Type {} to confirm"), _("That is not {}. Nothing was erased.")
    not_yours = NOT_ERASED
