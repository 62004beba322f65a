from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from annotation.signals import batch_wanted
        from evaluation.planning.stopping import stop_at_target

        batch_wanted.connect(stop_at_target, dispatch_uid="evaluation.stop_at_target")
