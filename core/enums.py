"""Closed lists of the core app."""

from django.db import models


class JobState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


LIVE = (JobState.QUEUED, JobState.RUNNING)  # jobs that are not over


class CoreAct(models.TextChoices):
    """Acts of the audit log that belong to no other app. Each app registers its own in apps.py."""

    JOB_CANCELLED = "job-cancelled", "cancelled a job"
    JOB_RETRIED = "job-retried", "started a job again"
    TOKEN_MADE = "token-made", "made an API token"
    TOKEN_REVOKED = "token-revoked", "revoked an API token"


class TokenScope(models.TextChoices):
    """What an API token may be used for; never for more than its owner may do."""

    READ = "read", "read graphs, systems, runs, pools, qrels, figures and test sets"
    RUN = "run", "bring runs and judgements, start evaluations and exports"
    LABEL = "label", "label the statements of your campaigns"
    MANAGE = "manage", "import graphs, build pools, open campaigns, cancel jobs"
