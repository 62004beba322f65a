"""Define knowledge graphs: files are in the artifact folder, counts and relations in these rows."""

from django.conf import settings
from django.db import models

from core.clock import Stamp
from pooling.enums import Category, GraphSource


class Graph(models.Model):
    name = models.SlugField(max_length=80, unique=True)
    source = models.CharField(max_length=10, choices=GraphSource)
    options = models.JSONField(default=dict, help_text="what the import was asked for, as typed")
    # folder below ARTIFACT_ROOT and SHA-256 of its graph.json, which holds the checksum of each other file
    artifact = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    num_entities = models.PositiveIntegerField()
    num_relations = models.PositiveIntegerField()
    num_train = models.PositiveIntegerField()
    num_valid = models.PositiveIntegerField()
    num_test = models.PositiveIntegerField()
    has_closed_world = models.BooleanField(default=False)
    report = models.JSONField(default=list, help_text="what the importer noticed: {kind, count, examples}")
    archived = models.BooleanField(default=False, help_text="in no list and offered for nothing new")
    created_at = Stamp(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=models.Q(source__in=GraphSource.values), name="graph_source_known")
        ]

    def __str__(self) -> str:
        return self.name


class Relation(models.Model):
    graph = models.ForeignKey(Graph, on_delete=models.CASCADE, related_name="relations")
    index = models.PositiveIntegerField(help_text="the int32 id inside the graph")
    key = models.CharField(max_length=500)
    label = models.CharField(max_length=500, blank=True, help_text="readable, where the source has one")
    category = models.CharField(max_length=3, choices=Category, blank=True, help_text="empty: not in train")
    domain = models.CharField(max_length=500, blank=True)
    range = models.CharField(max_length=500, blank=True)
    num_train = models.PositiveIntegerField(default=0)
    num_test = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["graph", "index"]
        constraints = [
            models.UniqueConstraint(fields=["graph", "index"], name="relation_index_once"),
            models.UniqueConstraint(fields=["graph", "key"], name="relation_key_once"),
            models.CheckConstraint(
                condition=models.Q(category__in=["", *Category.values]), name="relation_category_known"
            ),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def name(self) -> str:
        """Return the readable label, or the key where there is none."""
        return self.label or self.key
