"""Gold that went to others with its question is marked so, and comes again as another check."""

from django.conf import settings
from django.db import migrations, models


def mark_lost(apps, schema_editor):
    """Gold whose question went to others was free, with the words that its person saw and the end of its lease."""
    checks = apps.get_model("annotation", "Check").objects.using(schema_editor.connection.alias)
    checks.filter(kind="gold", state="free", template__isnull=False, leased_until__isnull=False).update(
        state="withdrawn"
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0020_fewer_indexes"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.RemoveConstraint(model_name="check", name="check_gold_person_once"),
        migrations.RemoveConstraint(model_name="check", name="check_state_known"),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "withdrawn"), _negated=True),
                fields=("gold", "person"),
                name="check_gold_person_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["free", "leased", "answered", "withdrawn"])), name="check_state_known"
            ),
        ),
        migrations.RunPython(mark_lost, migrations.RunPython.noop),
    ]
