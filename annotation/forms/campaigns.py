"""Forms of a campaign: its state and rules, checks, items, reports and labels."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf.locale import LANG_INFO
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.items import DECIDED, PARKED, SORTS, ItemFilter, people_who_answered, relations_asked
from annotation.campaigns.lifecycle import LIMITS
from annotation.enums import Answer, CampaignState, Cause, EvidenceRule, ItemState, Verdict
from annotation.messages.flags import MAX_TEXT
from annotation.models import Campaign, Gold
from annotation.people.accounts import managers
from annotation.people.simulated import simulated
from core.forms import PageForm, TypedNameForm, set_choices, set_rows
from pooling.questions.relation_names import choices_in_words

GOLD_FILE_BYTES = 1_048_576
MAX_REASON = 1000
MAX_SAMPLE = 5000
# every language that Django knows, by its own name
LANGUAGES = sorted(
    ((code, info["name_local"]) for code, info in LANG_INFO.items() if "name_local" in info),
    key=lambda language: language[1].casefold(),
)
WRONG_NAME = "Type {}, exactly so. Nothing was changed."


class StateForm(TypedNameForm):
    """Pause, close or open a campaign; to close it, its pool's name must be typed."""

    wanted, refusal = "Type the name of the pool to close the campaign", WRONG_NAME
    state = forms.ChoiceField(choices=CampaignState.choices, widget=forms.HiddenInput)
    field_order = ("state", "typed")  # whether a name is needed follows from the state

    def clean_typed(self) -> str:
        return super().clean_typed() if self.cleaned_data.get("state") == CampaignState.CLOSED else ""


def _limited(rule: str, label: str, help_text: str) -> forms.IntegerField:
    least, most, _ = LIMITS[rule]
    return forms.IntegerField(label=label, min_value=least, max_value=most, help_text=help_text)


class RulesForm(PageForm):
    """The rules of a campaign; each field is a field of Campaign. A page saves one part of them, or all."""

    PARTS = {  # by key: heading, fields
        "answers": ("Evidence and time", ("evidence_rule", "lease_minutes", "undo_minutes")),
        "checks": ("Gold items and training", ("gold_percent", "training_items", "training_percent")),
        "cost": ("Cost", ("hourly_rate", "currency")),
        "people": ("Language and contact", ("language", "contact")),
    }

    @classmethod
    def called(cls, field: str) -> str:
        """Return what a rule is called within a sentence, without its unit."""
        label = str(cls.base_fields[field].label).partition(",")[0]
        return label[0].lower() + label[1:]

    evidence_rule = forms.ChoiceField(
        label="Evidence link required",
        choices=EvidenceRule.choices,
        help_text="An answer without a link is refused where one is required; never for can't tell.",
    )
    lease_minutes = _limited(
        "lease_minutes",
        "Minutes an item is held",
        "Activity on the page renews them. After that, somebody else may be given the item.",
    )
    undo_minutes = _limited(
        "undo_minutes",
        "Minutes a label can be changed",
        "Each person can change their last ten labels during this time. A dispute goes to adjudicators only after it. "
        "0: no label can be changed.",
    )
    gold_percent = _limited(
        "gold_percent",
        "Gold items, percent",
        "How many of 100 items given to a person are gold items; 0: none. These are items whose "
        "answer is already known, mixed in unmarked to check how careful people are. Their answers come from "
        "seed triples (yes), filtered triples (no) or a file of yours, on the page Checks. Annotators can't "
        "tell them apart; only managers see them and the results.",
    )
    training_items = _limited(
        "training_items",
        "Training items",
        "Gold items that each person answers first, told each time whether the answer was right. 0: no training.",
    )
    training_percent = _limited(
        "training_percent", "Pass mark, percent", "Correct answers that pass the training. Others try again or wait."
    )
    hourly_rate = forms.FloatField(
        label="Cost of an hour",
        min_value=0,
        max_value=100_000,
        required=False,
        help_text="What an hour of active time costs. Progress then shows the cost so far and to come. Annotators "
        "and researchers don't see it.",
    )
    currency = forms.RegexField(
        r"^[A-Z]{3}$", label="Currency", required=False, help_text="Three letters, such as EUR or USD.",
        widget=forms.TextInput(attrs={"maxlength": 3}),
        error_messages={"invalid": "Give three capital letters, such as EUR or USD."},
    )  # fmt: skip
    language = forms.ChoiceField(
        label="Language of statements and guidelines",
        required=False,
        choices=[("", "not known"), *LANGUAGES],
        help_text="In which they are read out and hyphenated, also on pages in another language. Mails that invite "
        "people are in it, if TriplePool speaks it.",
    )
    contact = forms.ModelChoiceField(
        label="Contact",
        queryset=User.objects.none(),
        required=False,
        empty_label="nobody",
        help_text="The manager who replies to reports. Annotators see the name.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_rows(self, "contact", managers().order_by("username"))
        asked = self.data.get("part", "")
        self.part = asked if asked in self.PARTS else ""  # it goes into an address
        if self.part:
            kept = self.PARTS[self.part][1]
            self.fields = {name: field for name, field in self.fields.items() if name in kept}

    def clean_currency(self) -> str:
        return self.cleaned_data["currency"] or "EUR"

    @classmethod
    def of(cls, campaign: Campaign, data: Any = None) -> RulesForm:
        """Return the form with the rules that the campaign has."""
        return cls(data, initial={rule: getattr(campaign, rule) for rule in cls.base_fields})

    @classmethod
    def parts(cls, campaign: Campaign, form: RulesForm) -> list[dict[str, Any]]:
        """Return what the page shows: the parts, each with its fields; those of `form` where it has them."""
        fresh = cls.of(campaign)
        return [
            {
                "key": key,
                "title": title,
                "fields": [(form if name in form.fields else fresh)[name] for name in names],
                "form": form if form.is_bound and form.part in (key, "") else None,
            }
            for key, (title, names) in cls.PARTS.items()
        ]


class GoldDrawForm(PageForm):
    positives = forms.IntegerField(
        label="Answer yes", min_value=0, max_value=MAX_SAMPLE, initial=10, help_text="seed triples"
    )
    negatives = forms.IntegerField(
        label="Answer no",
        min_value=0,
        max_value=MAX_SAMPLE,
        initial=10,
        help_text="Triples that the type filter took. Whoever knows of it can guess that these are gold; "
        "a file of your own avoids that.",
    )
    seed = forms.IntegerField(
        label="Seed of the draw", min_value=0, max_value=2**31 - 1, help_text="Another seed draws other items."
    )

    def clean(self) -> dict[str, Any]:
        asked = super().clean() or {}
        if asked.get("positives") == 0 and asked.get("negatives") == 0:
            raise forms.ValidationError("Ask for at least one gold item.", "none")
        return asked


class GoldFileForm(PageForm):
    file = forms.FileField(
        label="Label file",
        allow_empty_file=False,
        help_text="TSV of head, relation, tail and Y or N, by key; annotator and source may follow. At most 1 MiB. "
        "They must not be items of this campaign.",
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > GOLD_FILE_BYTES:
            raise forms.ValidationError(f"The file has {file.size} bytes: at most {GOLD_FILE_BYTES} are read.", "large")
        return file


class GoldStateForm(forms.Form):
    gold = forms.ModelChoiceField(queryset=Gold.objects.none())
    active = forms.TypedChoiceField(choices=[("1", "in"), ("0", "out")], coerce=lambda value: value == "1")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_rows(self, "gold", campaign.golds.all())


class TraineeForm(forms.Form):
    """The button that lets a person label without having passed the training."""

    person = forms.ModelChoiceField(queryset=User.objects.none())

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_rows(self, "person", User.objects.filter(memberships__campaign=campaign).distinct())


class TrainingForm(PageForm):
    question = forms.IntegerField(widget=forms.HiddenInput)
    answer = forms.ChoiceField(choices=Answer.choices)


class RecheckForm(PageForm):
    person = forms.ModelChoiceField(
        label="Person",
        queryset=User.objects.none(),
        empty_label="Choose a person",
        help_text="A member. They get items that they have not labelled.",
    )
    size = forms.IntegerField(
        label="Judgements", min_value=1, max_value=MAX_SAMPLE, initial=50, help_text="Half positive, half negative."
    )
    seed = forms.IntegerField(label="Seed of the draw", min_value=0, max_value=2**31 - 1, initial=0)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        members = User.objects.filter(memberships__campaign=campaign, is_active=True).exclude(simulated())
        set_rows(self, "person", members.distinct().order_by("username"))


class ReplyForm(PageForm):
    flag = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    reply = forms.CharField(label="Reply", max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 2}))


class ReasonForm(PageForm):
    reason = forms.CharField(
        label="Reason", max_length=MAX_REASON, help_text="This is recorded in the audit log. Don’t name people."
    )


class ReopenForm(ReasonForm):
    reason = forms.CharField(
        label="Reason",
        max_length=MAX_REASON,
        help_text="The adjudicator reads it, and it is recorded in the audit log. Don’t name people.",
    )


class AssignForm(PageForm):
    """Choose who is asked about items first."""

    person = forms.ModelChoiceField(
        label="Person",
        queryset=User.objects.none(),
        empty_label="Choose a person",
        help_text="They are given these items before others. People who had or saw all of them are not listed.",
    )

    def __init__(self, people: QuerySet[User], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_rows(self, "person", people)


class WithdrawForm(TypedNameForm):
    wanted, refusal = "Type the name of the person", WRONG_NAME
    reason = forms.CharField(
        label="Reason", max_length=MAX_REASON, help_text="This is recorded in the audit log. Don’t name people."
    )
    field_order = ("reason", "typed")


class ItemFilterForm(PageForm):
    """Filter of the list of items (?q=…&state=…); a field with an unknown value counts as empty."""

    q = forms.CharField(label="Text", max_length=200, required=False)
    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=[
            ("", "all"),
            *ItemState.choices,
            (DECIDED, "settled by an adjudicator"),
            (PARKED, "waiting for a reply to a report"),
        ],
    )
    relation = forms.TypedChoiceField(label="Relation", required=False, coerce=int, empty_value=None)
    person = forms.TypedChoiceField(label="Person", required=False, coerce=int, empty_value=None)
    verdict = forms.ChoiceField(label="Judgement", required=False, choices=[("", "all"), *Verdict.choices])
    sort = forms.ChoiceField(
        required=False, choices=[(way + key, key) for key in SORTS for way in ("", "-")], widget=forms.HiddenInput
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        relations = choices_in_words((one.index, one.name, one.key) for one in relations_asked(campaign))
        people = people_who_answered(campaign).values_list("pk", "username")
        for name, choices in (("relation", relations), ("person", people)):
            set_choices(self, name, [("", "all"), *choices])

    def wanted(self) -> ItemFilter:
        """Return the filter that the address asks for."""
        self.is_valid()
        asked = self.cleaned_data
        return ItemFilter(
            asked.get("q", "").strip(),
            asked.get("state", ""),
            asked.get("relation"),
            asked.get("person"),
            asked.get("verdict", ""),
            asked.get("sort", ""),
        )


class LabelForm(PageForm):
    label = forms.UUIDField(widget=forms.HiddenInput)
    client_id = forms.UUIDField(widget=forms.HiddenInput)
    answer = forms.ChoiceField(
        label=_("Answer"), choices=[(key, capfirst(words)) for key, words in Answer.choices], widget=forms.RadioSelect
    )
    source_url = forms.CharField(label=_("Link to evidence"), max_length=2000, required=False)
    passage = forms.CharField(label=_("What the source says"), max_length=1000, required=False)
    # of a decision: the page takes it out of the form of any other label
    cause = forms.ChoiceField(
        label=_("Why was the other answer wrong?"), choices=[("", _("in your words")), *Cause.choices], required=False
    )
    comment = forms.CharField(label=_("Comment"), max_length=2000, required=False)

    def clean(self) -> dict[str, Any]:
        """Ask why an answer is can't tell, as the page does on which it is given."""
        asked: dict[str, Any] = super().clean() or {}
        given = asked.get("comment", "").strip() or asked.get("cause")
        if asked.get("answer") == Answer.CANT_TELL and not given and "comment" not in self.errors:
            self.add_error("comment", _("Say in a few words why you can’t tell."))
        return asked


class ReportLabelForm(PageForm):
    """Report an own label that can no longer be changed."""

    label = forms.UUIDField(widget=forms.HiddenInput)
    client_id = forms.UUIDField(widget=forms.HiddenInput)
    text = forms.CharField(label=_("What is wrong?"), max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))
