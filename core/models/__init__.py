from core.models.audit import AuditEntry
from core.models.job import Job, Worker
from core.models.token import ApiToken

__all__ = ["ApiToken", "AuditEntry", "Job", "Worker"]
