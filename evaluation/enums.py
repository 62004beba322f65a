"""Define the closed lists of the evaluation app."""

from django.db import models


class QrelsOrigin(models.TextChoices):
    FROZEN = "frozen", "frozen"  # the judgements of one moment of the pool
    IMPORTED = "imported", "imported"  # a file, made elsewhere


class EvaluationAct(models.TextChoices):
    """Name the acts of this app in the audit log."""

    STUDY_MADE = "study-made", "made an open-world study"
    STUDY_CONTINUED = "study-continued", "continued an open-world study"
    STUDY_DELETED = "study-deleted", "deleted an open-world study"
    QRELS_FROZEN = "qrels-frozen", "froze qrels"
    QRELS_IMPORTED = "qrels-imported", "imported qrels"
    TERMS_EDITED = "terms-edited", "changed the terms of a test set"
    TEST_SET_EXPORTED = "test-set-exported", "exported the test set"


class EvaluationJob(models.TextChoices):
    """Name the kinds of job of this app; evaluation/jobs.py says what each needs."""

    EVALUATE = "evaluate", "compute figures"
    EXPORT = "export", "export test set"
    OPEN_WORLD = "open-world", "open-world study"
