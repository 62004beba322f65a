"""Closed lists of the pooling app."""

from django.db import models


class Split(models.TextChoices):
    TRAIN = "train"
    VALID = "valid"
    TEST = "test"


class GraphSource(models.TextChoices):
    TSV = "tsv", "TSV folder"
    PYKEEN = "pykeen", "PyKEEN dataset"
    FAMILY = "family", "family generator"


class Side(models.TextChoices):
    """Which entity of a triple a question masks. In arrays: tail 0, head 1."""

    TAIL = "tail"
    HEAD = "head"


class Category(models.TextChoices):
    """Relation categories, from train (spec: more than 1.5 on average is many)."""

    ONE_ONE = "1-1"
    ONE_MANY = "1-N"
    MANY_ONE = "N-1"
    MANY_MANY = "N-N"


class SystemState(models.TextChoices):
    WAITING = "waiting"
    TRAINING = "training"
    TRAINED = "trained"
    FAILED = "failed"
    CANCELLED = "cancelled"


class PoolOrigin(models.TextChoices):
    BUILT = "built"
    IMPORTED = "imported"


class PoolState(models.TextChoices):
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


class FilterReason(models.TextChoices):
    """Why a pooled triple is an assumed negative; empty: people judge it."""

    NONE = "", "to people"
    HEAD_QUESTION = "category-head", "head question of a 1-1 or 1-N relation"
    TAIL_QUESTION = "category-tail", "tail question of a 1-1 or N-1 relation"
    TYPES = "types", "entity type not consistent with the relation"
    ENTAILED = "types-entailed", "type entailed from train not consistent with the relation"
    EITHER = "types-both", "neither declared nor entailed type consistent with the relation"
    SELF_ANSWER = "self-answer", "head and tail are the same entity"


class PoolingAct(models.TextChoices):
    """Acts of this app in the audit log."""

    GRAPH_IMPORTED = "graph-imported", "imported a graph"
    GRAPH_ARCHIVED = "graph-archived", "archived a graph"
    GRAPH_RESTORED = "graph-restored", "took a graph back from the archive"
    GRAPH_DELETED = "graph-deleted", "deleted a graph"
    SYSTEMS_TRAINED = "systems-trained", "started training"
    SYSTEM_RETRAINED = "system-retrained", "trained a system anew"
    SYSTEM_ARCHIVED = "system-archived", "archived a system"
    SYSTEM_RESTORED = "system-restored", "took a system back from the archive"
    SYSTEM_DELETED = "system-deleted", "deleted a system"
    POOL_BUILT = "pool-built", "started building a pool"
    POOL_IMPORTED = "pool-imported", "imported a pool"
    POOL_EXTENDED = "pool-extended", "started extending a pool"
    POOL_FILTERED = "pool-filtered", "chose other filters"
    POOL_FROZEN = "pool-frozen", "froze a pool"
    POOL_ARCHIVED = "pool-archived", "archived a pool"
    POOL_RESTORED = "pool-restored", "took a pool back from the archive"
    POOL_DELETED = "pool-deleted", "deleted a pool"
    RUN_IMPORTED = "run-imported", "imported a run"


class PoolingJob(models.TextChoices):
    """Kinds of job of this app; pooling/jobs.py says what each needs."""

    TRAIN = "train", "train system"
    BUILD_POOL = "build-pool", "build pool"
    EXTEND_POOL = "extend-pool", "extend pool"
    SCORE = "score", "score run"
