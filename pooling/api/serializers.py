"""What the API says of graphs, systems, runs, pools and jobs. Rows go by name; a job, which has none, by number."""

from rest_framework import serializers

from pooling.models import Graph, Job, Pool, Run, System


class GraphData(serializers.ModelSerializer[Graph]):
    class Meta:
        model = Graph
        fields = (
            "name", "source", "num_entities", "num_relations", "num_train", "num_valid", "num_test",
            "has_closed_world", "sha256", "created_at",
        )  # fmt: skip


class SystemData(serializers.ModelSerializer[System]):
    graph = serializers.CharField(source="graph.name")

    class Meta:
        model = System
        fields = (
            "graph", "name", "kind", "seed", "settings", "state", "device", "epochs_done", "best_epoch",
            "validation_mrr", "train_seconds", "peak_bytes", "archived", "note", "sha256", "created_at",
        )  # fmt: skip


class RunData(serializers.ModelSerializer[Run]):
    graph = serializers.CharField(source="system.graph.name")
    system = serializers.CharField(source="system.name")

    class Meta:
        model = Run
        fields = (
            "graph",
            "system",
            "depth",
            "num_questions",
            "num_rank_rows",
            "seconds",
            "sha256",
            "updated_at",
        )


class PoolData(serializers.ModelSerializer[Pool]):
    graph = serializers.CharField(source="graph.name")

    class Meta:
        model = Pool
        fields = (
            "graph", "name", "origin", "state", "depth", "contributors", "seed_source", "filters", "growth",
            "frozen_at", "created_at",
        )  # fmt: skip


class JobData(serializers.ModelSerializer[Job]):
    graph = serializers.CharField(source="graph.name", default=None, allow_null=True)
    system = serializers.CharField(source="system.name", default=None, allow_null=True)
    pool = serializers.CharField(source="pool.name", default=None, allow_null=True)
    percent = serializers.IntegerField(min_value=0, max_value=100)

    class Meta:
        model = Job
        fields = (
            "id", "kind", "state", "graph", "system", "pool", "params", "stage", "percent", "seconds_left", "error",
            "attempts", "created_at", "started_at", "finished_at",
        )  # fmt: skip
