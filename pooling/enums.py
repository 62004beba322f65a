"""Closed lists of the pooling app."""

from django.db import models


class Split(models.TextChoices):
    TRAIN = "train"
    VALID = "valid"
    TEST = "test"


class GraphSource(models.TextChoices):
    TSV = "tsv", "TSV files"
    PYKEEN = "pykeen", "PyKEEN dataset"
    FAMILY = "family", "family generator"


class Side(models.TextChoices):
    """Which entity of a triple a question masks. In arrays: tail 0, head 1."""

    TAIL = "tail"
    HEAD = "head"


class Category(models.TextChoices):
    """Relation categories by the averages in train: more than 1.5 is many."""

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


class PoolRule(models.TextChoices):
    """What a pool takes of each run, to its depth k; of one made elsewhere nobody says it."""

    FILTERED = "filtered", "filtered (the first k candidates after known answers are removed)"
    RAW = "raw", "raw (the first k of the full list; known answers are dropped afterwards)"
    UNKNOWN = "unknown", "not known"


class PoolState(models.TextChoices):
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


TO_PEOPLE = ""  # reason of a pooled triple that people judge; otherwise the name of the filter that took it


class PoolingAct(models.TextChoices):
    """Acts of this app in the audit log."""

    GRAPH_IMPORTED = "graph-imported", "imported a graph"
    GRAPH_ARCHIVED = "graph-archived", "archived a graph"
    GRAPH_RESTORED = "graph-restored", "took a graph back from the archive"
    GRAPH_DELETED = "graph-deleted", "deleted a graph"
    SYSTEMS_TRAINED = "systems-trained", "started training"
    MODEL_IMPORTED = "model-imported", "imported a model"
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
    RUN_PUBLISHED = "run-published", "published a run"
    RUN_REPLACED = "run-replaced", "replaced a run"
    RUN_DELETED = "run-deleted", "deleted a run"
    SCORING_STARTED = "scoring-started", "started scoring a run"


class PoolingJob(models.TextChoices):
    """Kinds of job of this app; pooling/jobs.py says what each needs."""

    TRAIN = "train", "train system"
    BUILD_POOL = "build-pool", "build pool"
    EXTEND_POOL = "extend-pool", "extend pool"
    SCORE = "score", "score run"
    FILTER_POOL = "filter-pool", "filter pool"
    SCORE_SYSTEM = "score-system", "score system"  # a part of building a pool
    SCORE_SHARD = "score-shard", "score shard"  # a part of any scoring
    IMPORT_GRAPH = "import-graph", "import graph"
    IMPORT_RUN = "import-run", "import run"
