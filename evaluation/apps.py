from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from annotation.signals import batch_wanted
        from core.jobs.registry import register_beat, register_jobs
        from core.later import Later
        from core.people.audit_log import register_acts
        from evaluation.enums import EvaluationAct
        from evaluation.jobs import JOBS
        from pooling.signals import run_uses

        run_uses.connect(Later("evaluation.keeping.removal.answer_run_uses"), weak=False)
        register_acts(EvaluationAct)
        register_jobs(JOBS)
        register_beat(Later("evaluation.keeping.sweep.sweep_now_and_then"))
        batch_wanted.connect(Later("evaluation.planning.sections.stop_at_target"), weak=False)
