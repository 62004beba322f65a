from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("pooling", "0007_open_world_job")]

    operations = [
        migrations.RemoveConstraint(model_name="pool", name="pool_state_known"),
        migrations.AlterField(
            model_name="pool",
            name="state",
            field=models.CharField(
                choices=[
                    ("building", "Building"),
                    ("ready", "Ready"),
                    ("failed", "Failed"),
                    ("cancelled", "Cancelled"),
                ],
                default="building",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="pool",
            name="growth",
            field=models.JSONField(
                default=list,
                help_text="one entry an extension: when (ISO time), what (words), triples, to_people (what it added), job",
            ),
        ),
        migrations.AddConstraint(
            model_name="pool",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["building", "ready", "failed", "cancelled"])), name="pool_state_known"
            ),
        ),
    ]
