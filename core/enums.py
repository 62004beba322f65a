"""Closed lists of the core app."""

from django.db import models


class JobKind(models.TextChoices):
    TRAIN = "train", "train system"
    BUILD_POOL = "build-pool", "build pool"
    EXTEND_POOL = "extend-pool", "extend pool"
    SCORE = "score", "score run"
    EVALUATE = "evaluate", "compute figures"
    EXPORT = "export", "export test set"
    OPEN_WORLD = "open-world", "open-world study"


class JobState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


LIVE = (JobState.QUEUED, JobState.RUNNING)  # jobs that are not over


class AuditAct(models.TextChoices):
    """What people do that others may want to know of later."""

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
    STUDY_DELETED = "study-deleted", "deleted an open-world study"
    RUN_IMPORTED = "run-imported", "imported a run"
    ORDER_SET = "order-set", "chose the order of judging"
    STOPPING_SET = "stopping-set", "changed when judging stops"
    BATCH_RELEASED = "batch-released", "released triples to people"
    AUDIT_DRAWN = "audit-drawn", "drew an audit sample of filtered triples"
    JOB_CANCELLED = "job-cancelled", "cancelled a job"
    JOB_RETRIED = "job-retried", "started a job again"
    CAMPAIGN_OPENED = "campaign-opened", "opened the campaign"
    CAMPAIGN_STATE = "campaign-state", "paused, closed or reopened the campaign"
    RULES_SET = "rules-set", "changed the rules"
    SOURCE_ADDED = "source-added", "added a source"
    SOURCE_CHANGED = "source-changed", "changed a source"
    SOURCE_REMOVED = "source-removed", "removed a source"
    SOURCES_CHOSEN = "sources-chosen", "chose the sources of a relation"
    QUESTIONS_SAVED = "questions-saved", "changed the questions of a relation"
    QUESTIONS_IMPORTED = "questions-imported", "imported questions"
    GUIDELINES_SAVED = "guidelines-saved", "wrote new guidelines"
    ROLE_GIVEN = "role-given", "gave a role"
    ROLE_TAKEN = "role-taken", "took a role away"
    INVITED = "invited", "made an invitation"
    INVITATION_USED = "invitation-used", "accepted an invitation"
    INVITATION_REVOKED = "invitation-revoked", "revoked an invitation"
    PASSWORD_LINK = "password-link", "made a link to a new password"
    DEACTIVATED = "deactivated", "switched an account off"
    ACTIVATED = "activated", "switched an account on"
    ERASED = "erased", "erased personal data"
    CONSENTED = "consented", "agreed to the use of personal data"
    LABELS_WITHDRAWN = "labels-withdrawn", "withdrew the labels of a person"
    JUDGEMENT_REOPENED = "judgement-reopened", "reopened a judgement"
    ITEM_RETURNED = "item-returned", "returned an item to the pool"
    FLAG_ANSWERED = "flag-answered", "answered a report"
    GOLD_ADDED = "gold-added", "added gold items"
    GOLD_REMOVED = "gold-removed", "took gold items out"
    RECHECK_DRAWN = "recheck-drawn", "drew a re-check sample"
    LABELS_IMPORTED = "labels-imported", "imported labels"
    HOURS_EXPORTED = "hours-exported", "downloaded the hours of people"
    QRELS_FROZEN = "qrels-frozen", "froze qrels"
    QRELS_IMPORTED = "qrels-imported", "imported qrels"
    TEST_SET_EXPORTED = "test-set-exported", "exported the test set"
    TOKEN_MADE = "token-made", "made an API token"
    TOKEN_REVOKED = "token-revoked", "revoked an API token"


class TokenScope(models.TextChoices):
    """What an API token may be used for; never for more than its owner may do."""

    READ = "read", "read graphs, systems, runs, pools, qrels, figures and test sets"
    RUN = "run", "bring runs and judgements, start evaluations and exports"
    LABEL = "label", "answer the questions of own campaigns"
    MANAGE = "manage", "import graphs, build pools, open campaigns, cancel jobs"
