from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation.enums import AnnotationAct
        from annotation.jobs import JOBS
        from core.jobs.registry import register_beat, register_ending, register_jobs
        from core.later import Later
        from core.people.audit_log import register_acts
        from core.signals import serving
        from pooling.models import Pool
        from pooling.signals import is_judged, labelling_asked, pace_asked, pool_grew

        register_acts(AnnotationAct)
        register_jobs(JOBS)
        register_beat(Later("annotation.campaigns.notices.send_next_digest"))
        register_beat(Later("annotation.people.forgotten.answer_next"))
        register_beat(Later("annotation.webhooks.deliveries.start_due"))
        register_beat(Later("annotation.campaigns.milestones.tell_now_and_then"))
        register_ending(Later("annotation.webhooks.events.job_ended"))
        pool_grew.connect(Later("annotation.release.next_batch.release_growth"), sender=Pool, weak=False)
        is_judged.connect(Later("annotation.campaigns.lifecycle.answer_is_judged"), sender=Pool, weak=False)
        labelling_asked.connect(Later("annotation.campaigns.pool_states.answer_labelling"), sender=Pool, weak=False)
        serving.connect(Later("annotation.people.invitations.answer_serving"), weak=False)
        pace_asked.connect(Later("annotation.campaigns.overview.answer_pace"), weak=False)
