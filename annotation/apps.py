from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation.campaigns.lifecycle import answer_is_judged
        from annotation.campaigns.milestones import tell_now_and_then
        from annotation.campaigns.notices import send_next_digest
        from annotation.campaigns.overview import answer_pace
        from annotation.campaigns.pool_states import answer_labelling
        from annotation.enums import AnnotationAct
        from annotation.jobs import JOBS
        from annotation.people.forgotten import answer_next
        from annotation.release.next_batch import release_growth
        from annotation.webhooks.deliveries import start_due
        from annotation.webhooks.events import job_ended
        from core.jobs.registry import register_beat, register_ending, register_jobs
        from core.people.audit_log import register_acts
        from pooling.models import Pool
        from pooling.signals import is_judged, labelling_asked, pace_asked, pool_grew

        register_acts(AnnotationAct)
        register_jobs(JOBS)
        register_beat(send_next_digest)
        register_beat(answer_next)
        register_beat(start_due)
        register_beat(tell_now_and_then)
        register_ending(job_ended)
        pool_grew.connect(release_growth, sender=Pool)
        is_judged.connect(answer_is_judged, sender=Pool)
        labelling_asked.connect(answer_labelling, sender=Pool)
        pace_asked.connect(answer_pace)
