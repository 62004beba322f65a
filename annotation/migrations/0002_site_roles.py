"""The site-wide roles are Django groups; they are there from the beginning."""

from django.db import migrations

ROLES = ("manager", "researcher")


def add_groups(apps, schema_editor):
    group = apps.get_model("auth", "Group")
    for name in ROLES:
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial"), ("auth", "0012_alter_user_first_name_max_length")]
    operations = [migrations.RunPython(add_groups, migrations.RunPython.noop)]
