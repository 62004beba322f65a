from django.apps import AppConfig


class PoolingConfig(AppConfig):
    name = "pooling"
    verbose_name = "Pooling"

    def ready(self) -> None:
        from core.jobs.registry import register_jobs
        from core.people.audit_log import register_acts
        from pooling.enums import PoolingAct
        from pooling.jobs import JOBS

        register_acts(PoolingAct)
        register_jobs(JOBS)
