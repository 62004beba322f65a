"""Forms of the campaign page and of own labels."""

from __future__ import annotations

from django import forms

from annotation.enums import Answer, CampaignRole, CampaignState, EvidenceRule


class PersonForm(forms.Form):
    use_required_attribute = False

    username = forms.CharField(
        label="Name", max_length=150, help_text="An account is made if there is none of this name."
    )
    role = forms.ChoiceField(label="Role", choices=CampaignRole.choices)


class RulesForm(forms.Form):
    use_required_attribute = False

    evidence_rule = forms.ChoiceField(label="Evidence link required", choices=EvidenceRule.choices)
    lease_minutes = forms.IntegerField(
        label="Minutes a question is held",
        min_value=1,
        max_value=1440,
        help_text="Then somebody else may get it.",
    )
    state = forms.ChoiceField(
        label="Campaign", choices=CampaignState.choices, help_text="A closed campaign gives out no questions."
    )


class SourceForm(forms.Form):
    use_required_attribute = False

    name = forms.CharField(label="Name", max_length=80)
    host = forms.CharField(
        label="Host",
        max_length=200,
        help_text="wikipedia.org: a link is accepted there and at all hosts under it.",
    )
    search_url = forms.CharField(
        label="Search address",
        max_length=300,
        required=False,
        help_text="https, with {query}. May be left out.",
    )


class LabelForm(forms.Form):
    """A change of an own label."""

    use_required_attribute = False

    label = forms.UUIDField(widget=forms.HiddenInput)
    client_id = forms.UUIDField(widget=forms.HiddenInput)
    answer = forms.ChoiceField(label="Answer", choices=Answer.choices, widget=forms.RadioSelect)
    source_url = forms.CharField(label="Link to evidence", max_length=2000, required=False)
    comment = forms.CharField(label="Comment", max_length=2000, required=False)
