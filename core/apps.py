from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"
    verbose_name = "Core"

    def ready(self) -> None:
        from core import checks  # noqa: F401 - registers them
        from core.enums import CoreAct
        from core.people.audit_log import register_acts

        register_acts(CoreAct)
