"""Define pools: seed triples, and triples gathered from runs with their provenance."""

from django.db import models
from django.urls import reverse

from core.clock import Stamp
from pooling.enums import TO_PEOPLE, PoolOrigin, PoolRule, PoolState
from pooling.models.graph import Graph
from pooling.models.system import System


class Pool(models.Model):
    graph = models.ForeignKey(Graph, on_delete=models.PROTECT, related_name="pools")
    name = models.SlugField(max_length=80, unique=True)
    origin = models.CharField(max_length=10, choices=PoolOrigin)
    state = models.CharField(max_length=10, choices=PoolState, default=PoolState.BUILDING)
    depth = models.PositiveIntegerField()
    rule = models.CharField(max_length=10, choices=PoolRule, default=PoolRule.FILTERED)
    systems = models.ManyToManyField(System, related_name="pools", blank=True)
    contributors = models.JSONField(
        default=list, help_text="names of the systems that made the pool; provenance holds indices into this list"
    )
    seed_source = models.CharField(max_length=200, help_text="file, or share and seed of the sample")
    filters = models.JSONField(default=list, help_text="names of the filters that were applied")
    report = models.JSONField(default=list, help_text="irregular lines of an imported pool")
    diagnosis = models.JSONField(default=dict, help_text="of an imported pool: what its candidates say of its rule")
    growth = models.JSONField(
        default=list,
        help_text="one entry an extension: when (ISO time), what (words), triples, to_people (what it added), job",
    )
    frozen_at = models.DateTimeField(null=True, blank=True, help_text="from then on it neither grows nor is filtered")
    archived = models.BooleanField(default=False, help_text="in no list; its pages stay")
    created_at = Stamp(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=models.Q(origin__in=PoolOrigin.values), name="pool_origin_known"),
            models.CheckConstraint(condition=models.Q(state__in=PoolState.values), name="pool_state_known"),
            models.CheckConstraint(condition=models.Q(rule__in=PoolRule.values), name="pool_rule_known"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("pool", args=[self.name])

    @property
    def is_ready(self) -> bool:
        return self.state == PoolState.READY

    @property
    def is_imported(self) -> bool:
        return self.origin == PoolOrigin.IMPORTED

    @property
    def is_built(self) -> bool:
        return self.origin == PoolOrigin.BUILT

    @property
    def is_raw(self) -> bool:
        return self.rule == PoolRule.RAW


class SeedTriple(models.Model):
    """A sampled test triple; both its questions are asked of every system."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="seeds")
    head = models.PositiveIntegerField()
    relation = models.PositiveIntegerField()
    tail = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["pool", "head", "relation", "tail"], name="seed_triple_once")]

    def __str__(self) -> str:
        return f"({self.head}, {self.relation}, {self.tail})"


class PooledTriple(models.Model):
    """A candidate triple; people judge it unless a filter took it."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="triples")
    head = models.PositiveIntegerField()
    relation = models.PositiveIntegerField()
    tail = models.PositiveIntegerField()
    depth = models.PositiveSmallIntegerField(help_text="smallest rank at which any system found it")
    # (system index, side, rank) of each finding, packed: see unpack_provenance in pooling/pools/build.py
    provenance = models.BinaryField(default=b"")
    # names are checked where they are written, by apply_filters, so that a new filter needs no migration
    reason = models.CharField(
        max_length=20, default=TO_PEOPLE, blank=True, help_text="name of its filter; empty: people judge it"
    )

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["pool", "head", "relation", "tail"], name="pooled_triple_once")]
        indexes = [models.Index(fields=["pool", "reason"])]

    def __str__(self) -> str:
        return f"({self.head}, {self.relation}, {self.tail})"
