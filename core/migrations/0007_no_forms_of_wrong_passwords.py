from typing import Any

from django.db import migrations


def forget(apps: Any, schema_editor: Any) -> None:
    """Delete what was typed beside wrong passwords; until now a refused password change kept the new one, readable."""
    apps.get_model("axes", "AccessAttempt").objects.update(get_data="", post_data="")


class Migration(migrations.Migration):
    dependencies = [("core", "0006_time_zone"), ("axes", "0010_accessattemptexpiration")]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
