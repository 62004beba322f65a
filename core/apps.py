from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"
    verbose_name = "Core"

    def ready(self) -> None:
        from django.db.models.signals import post_migrate

        from core import checks  # noqa: F401 - registers them
        from core.enums import CoreAct
        from core.people.audit_log import register_acts
        from core.version import write_site_version

        register_acts(CoreAct)
        post_migrate.connect(write_site_version, sender=self, dispatch_uid="core.write_site_version")
