from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="qrels",
            name="origin",
            field=models.CharField(
                choices=[("frozen", "frozen"), ("imported", "imported")], default="frozen", max_length=10
            ),
        ),
        migrations.AddField(
            model_name="qrels",
            name="notes",
            field=models.JSONField(default=list, help_text="what an import left out or took otherwise: sentences"),
        ),
        migrations.AlterField(
            model_name="qrels",
            name="artifact",
            field=models.CharField(help_text="Parquet: head, relation, tail, state", max_length=200),
        ),
        migrations.AddConstraint(
            model_name="qrels",
            constraint=models.CheckConstraint(
                condition=models.Q(("origin__in", ["frozen", "imported"])), name="qrels_origin_known"
            ),
        ),
    ]
