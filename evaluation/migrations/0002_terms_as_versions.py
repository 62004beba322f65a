"""Keep licence and citation of frozen qrels as version 1 of their terms; more versions can follow."""

from typing import Any

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


def first_versions(apps: Any, schema_editor: Any) -> None:
    """Write what frozen qrels said of themselves as version 1, with their time and person."""
    kept = apps.get_model("evaluation", "Terms").objects
    for qrels in apps.get_model("evaluation", "Qrels").objects.filter(origin="frozen"):
        said = {"licence": qrels.licence, "citation": qrels.citation}
        kept.create(qrels=qrels, version=1, created_at=qrels.created_at, created_by_id=qrels.created_by_id, **said)


def back(apps: Any, schema_editor: Any) -> None:
    """Write licence and citation of the last version to the qrels again."""
    for terms in apps.get_model("evaluation", "Terms").objects.order_by("version"):
        apps.get_model("evaluation", "Qrels").objects.filter(pk=terms.qrels_id).update(
            licence=terms.licence, citation=terms.citation
        )


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_initial"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Terms",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveSmallIntegerField(help_text="from 1, which was frozen with the qrels")),
                ("licence", models.CharField(blank=True, help_text="evaluation/labels/licences.py", max_length=200)),
                (
                    "citation",
                    models.TextField(blank=True, help_text="how the test set is to be cited", max_length=2000),
                ),
                ("creators", models.JSONField(blank=True, default=list, help_text='list of {"name", "orcid"}')),
                ("url", models.URLField(blank=True, help_text="where the test set is found", max_length=500)),
                (
                    "changed",
                    models.CharField(
                        blank=True, help_text="what is new in this version; of the first empty", max_length=500
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={"verbose_name_plural": "terms", "ordering": ["-version"]},
        ),
        migrations.RemoveConstraint(model_name="export", name="export_of_options_once"),
        migrations.AddField(
            model_name="export",
            name="terms_version",
            field=models.PositiveSmallIntegerField(default=1, help_text="of the terms on its card"),
        ),
        migrations.AddConstraint(
            model_name="export",
            constraint=models.UniqueConstraint(
                fields=("qrels", "terms_version", "with_runs", "with_evidence", "positives_only", "strict"),
                name="export_of_options_once",
            ),
        ),
        migrations.AddField(
            model_name="terms",
            name="created_by",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="terms",
            name="qrels",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="terms", to="evaluation.qrels"
            ),
        ),
        migrations.AddConstraint(
            model_name="terms",
            constraint=models.UniqueConstraint(fields=("qrels", "version"), name="terms_version_once"),
        ),
        migrations.AddConstraint(
            model_name="terms",
            constraint=models.CheckConstraint(condition=models.Q(("version__gte", 1)), name="terms_version_from_1"),
        ),
        migrations.RunPython(first_versions, back),
        migrations.RemoveField(model_name="qrels", name="citation"),
        migrations.RemoveField(model_name="qrels", name="licence"),
    ]
