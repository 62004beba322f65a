"""The form in which a person changes an own label."""

from django import forms

from annotation.enums import Answer
from core.forms import PageForm


class LabelForm(PageForm):
    label = forms.UUIDField(widget=forms.HiddenInput)
    client_id = forms.UUIDField(widget=forms.HiddenInput)
    answer = forms.ChoiceField(label="Answer", choices=Answer.choices, widget=forms.RadioSelect)
    source_url = forms.CharField(label="Link to evidence", max_length=2000, required=False)
    comment = forms.CharField(label="Comment", max_length=2000, required=False)
