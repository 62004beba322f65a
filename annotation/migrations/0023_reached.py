"""How far each person was given each question, so that one that comes again brings no further gold."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Max


def remember(apps, schema_editor):
    """Slots tell it while people have them; for those that were given back, only gold that came with them does."""
    alias = schema_editor.connection.alias
    slots = apps.get_model("annotation", "Slot").objects.using(alias).filter(annotator__isnull=False, number__in=[1, 2])
    items = apps.get_model("annotation", "Item").objects.using(alias)
    checks = apps.get_model("annotation", "Check").objects.using(alias)
    given = checks.filter(kind="gold", template__isnull=False, beside__isnull=False).exclude(state="withdrawn")
    held = slots.order_by().values_list("item__campaign", "annotator", "item__group").annotate(last=Max("item__order"))
    reached = {tuple(key): order for *key, order in held}
    for *key, state in given.values_list("campaign", "person", "beside__item__group", "state"):
        if state == "free" or tuple(key) not in reached:
            last = items.filter(campaign=key[0], group=key[2]).aggregate(last=Max("order"))["last"]
            reached[tuple(key)] = last
    model = apps.get_model("annotation", "Reached")
    rows = (
        model(campaign_id=campaign, person_id=person, group=its_group, order=order)
        for (campaign, person, its_group), order in reached.items()
    )
    model.objects.using(alias).bulk_create(rows, batch_size=10_000)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0022_gold_beside"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Reached",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("group", models.PositiveIntegerField(help_text="of the items of the question")),
                ("order", models.PositiveIntegerField(help_text="of the last item that they were given")),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.campaign",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("campaign", "person", "group"), name="reached_once")]
            },
        ),
        migrations.RunPython(remember, migrations.RunPython.noop),
    ]
