"""JSON of graphs, systems, runs, pools and jobs in the API. Rows go by name; jobs, which have none, by number."""

from typing import Any

from rest_framework import serializers

from core.api.fields import Choice
from core.models import Job
from pooling.models import Graph, Pool, Run, System
from pooling.runs.adapters.registry import ADAPTERS, AUTO
from pooling.runs.imports import NOT_KNOWN
from pooling.systems.spec import FAMILIES


class GraphData(serializers.ModelSerializer[Graph]):
    class Meta:
        model = Graph
        fields = (
            "name",
            "source",
            "num_entities",
            "num_relations",
            "num_train",
            "num_valid",
            "num_test",
            "has_closed_world",
            "archived",
            "sha256",
            "created_at",
        )


class SystemData(serializers.ModelSerializer[System]):
    graph = serializers.CharField(source="graph.name")

    class Meta:
        model = System
        fields = (
            "graph",
            "name",
            "kind",
            "seed",
            "settings",
            "state",
            "device",
            "epochs_done",
            "best_epoch",
            "validation_mrr",
            "train_seconds",
            "peak_bytes",
            "archived",
            "note",
            "sha256",
            "created_at",
        )


class RunData(serializers.ModelSerializer[Run]):
    graph = serializers.CharField(source="system.graph.name")
    system = serializers.CharField(source="system.name")
    private = serializers.BooleanField(source="system.private")

    class Meta:
        model = Run
        fields = (
            "graph",
            "system",
            "private",
            "depth",
            "num_questions",
            "num_rank_rows",
            "seconds",
            "sha256",
            "updated_at",
        )


class ReplaceInput(serializers.Serializer[Any]):
    """A file that takes the place of a run."""

    form = Choice(choices=(AUTO, *ADAPTERS), default=AUTO, help_text="auto: told by the file.")
    scores_decide = serializers.BooleanField(
        default=False, help_text="Take the run even if most of its ranks contradict its scores."
    )
    file = serializers.FileField(help_text="The run, in one of the forms.")
    topics = serializers.FileField(
        default=None, help_text="The topics file that the run was made from: the questions that it was asked."
    )


class RunInput(ReplaceInput):
    """A run file and what it is called here."""

    system = serializers.SlugField(max_length=80, help_text="Name of the system; new in this graph.")
    family = Choice(choices=(NOT_KNOWN, *FAMILIES), default=NOT_KNOWN)
    pool = serializers.CharField(
        max_length=80,
        default="",
        allow_blank=True,
        help_text="Whose questions it answers: those that the run lacks count as not returned.",
    )


class UploadInput(serializers.Serializer[Any]):
    """What a run that is sent in parts is called here."""

    system = serializers.SlugField(max_length=80, help_text="Name of the system; new in this graph.")
    file_name = serializers.CharField(max_length=200, default="run", help_text="Its ending tells some forms.")
    family = Choice(choices=(NOT_KNOWN, *FAMILIES), default=NOT_KNOWN)
    pool = serializers.CharField(max_length=80, default="", allow_blank=True, help_text="Whose questions it answers.")
    form = Choice(choices=(AUTO, *ADAPTERS), default=AUTO, help_text="auto: told by the file.")
    scores_decide = serializers.BooleanField(default=False, help_text="Take the run even if its ranks contradict.")


class RunPartData(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()


class UploadData(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    part_bytes = serializers.IntegerField(help_text="The most bytes of a part.")
    expires_at = serializers.DateTimeField()
    parts = RunPartData(many=True)
    refused = serializers.CharField(help_text="Why the run was refused; empty if it was not.")
    notes = serializers.ListField(child=serializers.CharField(), help_text="Notes on the run that was imported.")


class FinishInput(serializers.Serializer[Any]):
    parts = serializers.IntegerField(min_value=1, max_value=10_000, help_text="How many parts the run has.")


class ImportedData(serializers.Serializer[Any]):
    run = RunData()
    notes = serializers.ListField(child=serializers.CharField())


class PoolData(serializers.ModelSerializer[Pool]):
    graph = serializers.CharField(source="graph.name")

    class Meta:
        model = Pool
        fields = (
            "graph",
            "name",
            "origin",
            "state",
            "depth",
            "rule",
            "diagnosis",
            "contributors",
            "seed_source",
            "filters",
            "growth",
            "frozen_at",
            "archived",
            "created_at",
        )


class JobData(serializers.ModelSerializer[Job]):
    graph = serializers.CharField(source="graph.name", default=None, allow_null=True)
    system = serializers.CharField(source="system.name", default=None, allow_null=True)
    pool = serializers.CharField(source="pool.name", default=None, allow_null=True)
    percent = serializers.IntegerField(min_value=0, max_value=100)

    class Meta:
        model = Job
        fields = (
            "id",
            "kind",
            "state",
            "graph",
            "system",
            "pool",
            "parent",
            "params",
            "stage",
            "percent",
            "seconds_left",
            "error",
            "attempts",
            "created_at",
            "started_at",
            "finished_at",
        )
