from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from annotation.signals import batch_wanted
        from core.jobs.registry import register_beat, register_jobs
        from core.people.audit_log import register_acts
        from evaluation.enums import EvaluationAct
        from evaluation.jobs import JOBS
        from evaluation.keeping.removal import answer_run_uses
        from evaluation.keeping.sweep import sweep_now_and_then
        from evaluation.planning.sections import stop_at_target
        from pooling.signals import run_uses

        run_uses.connect(answer_run_uses, dispatch_uid="evaluation.answer_run_uses")
        register_acts(EvaluationAct)
        register_jobs(JOBS)
        register_beat(sweep_now_and_then)
        batch_wanted.connect(stop_at_target, dispatch_uid="evaluation.stop_at_target")
