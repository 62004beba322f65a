"""The form in which a person changes an own label."""

from __future__ import annotations

from django import forms

from annotation.enums import Answer


class LabelForm(forms.Form):
    use_required_attribute = False

    label = forms.UUIDField(widget=forms.HiddenInput)
    client_id = forms.UUIDField(widget=forms.HiddenInput)
    answer = forms.ChoiceField(label="Answer", choices=Answer.choices, widget=forms.RadioSelect)
    source_url = forms.CharField(label="Link to evidence", max_length=2000, required=False)
    comment = forms.CharField(label="Comment", max_length=2000, required=False)
