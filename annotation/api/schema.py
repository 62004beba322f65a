"""Shapes of the answers, for the OpenAPI document; serializers.py makes the answers."""

from typing import Any

from rest_framework import serializers

from annotation.enums import Answer, CampaignState, Cause, EvidenceRule, ItemState, Verdict
from pooling.enums import Side

Fields = serializers.Serializer[Any]


class WorkingData(Fields):
    pool = serializers.CharField()
    state = serializers.ChoiceField(choices=CampaignState.choices)
    is_open = serializers.BooleanField()
    evidence_rule = serializers.ChoiceField(choices=EvidenceRule.values)
    guidelines_version = serializers.IntegerField(allow_null=True)
    lease_seconds = serializers.IntegerField()


class FactData(Fields):
    head = serializers.CharField()
    relation = serializers.CharField()
    tail = serializers.CharField()


class NameData(Fields):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field, not its label
    types = serializers.ListField(child=serializers.CharField(), help_text="The first few, in words.")
    description = serializers.CharField(allow_blank=True)
    aliases = serializers.ListField(child=serializers.CharField())
    link = serializers.CharField(allow_blank=True, help_text="http or https; never opened by the server.")
    facts = FactData(many=True, help_text="From train; never about both entities of the question.")


class QuestionData(Fields):
    slot = serializers.UUIDField(help_text="Names the question; goes back with the answer.")
    lease = serializers.UUIDField(help_text="Proves that it was given to you; goes back with the answer.")
    group = serializers.CharField(help_text="The same for all candidates of one question.")
    side = serializers.ChoiceField(choices=Side.values)
    relation = serializers.IntegerField()
    question = serializers.CharField()
    group_question = serializers.CharField()
    subject = NameData()
    object = NameData()


class OtherAnswer(Fields):
    name = serializers.ChoiceField(choices=["A", "B"])
    answer = serializers.ChoiceField(choices=Answer.values)
    source_url = serializers.CharField(allow_blank=True)
    passage = serializers.CharField(allow_blank=True, help_text="What the source says.")
    comment = serializers.CharField(allow_blank=True)
    quick = serializers.BooleanField(help_text="Given in so little time that nobody can have looked.")


class DisputeData(QuestionData):
    reopened = serializers.CharField(allow_null=True, help_text="Why a manager reopened the item; null: nobody did.")
    answers = OtherAnswer(many=True)


class SourceData(Fields):
    name = serializers.CharField()
    host = serializers.CharField()
    search = serializers.CharField(allow_blank=True, help_text="Address of a search: {query} is the name.")
    offered = serializers.BooleanField(help_text="Whether that search is worth it: a film site is, for films only.")


class _Sources(Fields):
    sources = serializers.DictField(child=SourceData(many=True), help_text="Relation to verified sources.")


class Claimed(_Sources):
    campaign = WorkingData()
    items = QuestionData(many=True)


class ClaimedDisputes(_Sources):
    campaign = WorkingData()
    opens_in_seconds = serializers.IntegerField(allow_null=True)
    items = DisputeData(many=True)


class Kept(Fields):
    label = serializers.UUIDField()  # type: ignore[assignment]  # a field, not its label
    kept = serializers.ChoiceField(choices=["label", "surplus"])
    repeated = serializers.BooleanField(help_text="This client_id was kept before.")
    message = serializers.CharField(allow_blank=True)


class Submitted(Kept, _Sources):
    state = serializers.ChoiceField(choices=CampaignState.choices)
    items = QuestionData(many=True)


class Decided(Kept, _Sources):
    state = serializers.ChoiceField(choices=CampaignState.choices)
    items = DisputeData(many=True)


class Returned(Fields):
    returned = serializers.BooleanField()


class Reported(Fields):
    flag = serializers.UUIDField()
    held = serializers.BooleanField()


class Counted(Fields):
    slots = serializers.IntegerField(help_text="How many of them were yours.")


class ProgressData(Fields):
    today = serializers.IntegerField(help_text="Your labels today, without decisions of disputes.")
    total = serializers.IntegerField(help_text="Your labels in all, without decisions of disputes.")
    items = serializers.IntegerField()
    left = serializers.IntegerField(help_text="Questions that you can still be given, with those that you hold.")
    decided_today = serializers.IntegerField(
        allow_null=True, help_text="Disputes that you decided today. Null unless you are an adjudicator."
    )
    decided = serializers.IntegerField(
        allow_null=True, help_text="Disputes that you decided in all. Null unless you are an adjudicator."
    )
    disputes = serializers.IntegerField(
        allow_null=True, help_text="Disputes that you can decide now. Null unless you are an adjudicator."
    )


class OwnLabelData(Fields):
    label = serializers.UUIDField(help_text="The client_id of its last version.")  # type: ignore[assignment]
    question = serializers.CharField()
    answer = serializers.ChoiceField(choices=Answer.values)
    source_url = serializers.CharField(allow_blank=True)
    passage = serializers.CharField(allow_blank=True, help_text="What the source says.")
    comment = serializers.CharField(allow_blank=True)
    cause = serializers.ChoiceField(choices=Cause.values, allow_blank=True, help_text="The reason of a decision.")
    created_at = serializers.DateTimeField()
    changeable = serializers.BooleanField()


class ItemData(Fields):
    id = serializers.IntegerField()
    head = serializers.CharField()
    relation = serializers.CharField()
    tail = serializers.CharField()
    side = serializers.ChoiceField(choices=Side.values)
    question = serializers.CharField()
    state = serializers.ChoiceField(choices=ItemState.choices)
    verdict = serializers.ChoiceField(choices=Verdict.values, allow_null=True, help_text="Null: none yet.")
    labels = serializers.IntegerField(help_text="That count.")
    reports = serializers.IntegerField()
    batch = serializers.IntegerField(allow_null=True, help_text="With which it was given to people.")
