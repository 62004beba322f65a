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
