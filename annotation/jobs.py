"""List the kinds of job that release many triples to people."""

from annotation.enums import AnnotationJob
from core.jobs.registry import JobType

JOBS = (
    JobType(AnnotationJob.OPEN_CAMPAIGN, "cpu", "annotation.campaigns.lifecycle.run_open", "labels"),
    JobType(AnnotationJob.RELEASE, "cpu", "annotation.release.settings.run_set_order", "labels"),
    JobType(AnnotationJob.SEND_WEBHOOKS, "cpu", "annotation.webhooks.deliveries.run_send", "labels"),
)
