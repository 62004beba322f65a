"""Store exports: the archive of frozen qrels with some options; the same bytes whenever it is written."""

from django.conf import settings
from django.db import models

from evaluation.models.qrels import Qrels


class Export(models.Model):
    qrels = models.ForeignKey(Qrels, on_delete=models.CASCADE, related_name="exports")
    with_runs = models.BooleanField(default=True, help_text="what systems returned, and their measures")
    with_evidence = models.BooleanField(default=True, help_text="addresses that people gave as evidence")
    positives_only = models.BooleanField(default=False, help_text="nothing of triples that are not positive")
    strict = models.BooleanField(default=False, help_text="assumed negatives are -1 in the TREC qrels, not 0")
    artifact = models.CharField(max_length=200, blank=True, help_text="zip")
    sha256 = models.CharField(max_length=64, blank=True, help_text="of the archive; empty: not written yet")
    num_bytes = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["qrels", "with_runs", "with_evidence", "positives_only", "strict"],
                name="export_of_options_once",
            )
        ]

    def __str__(self) -> str:
        return f"export {self.pk} of {self.qrels}"

    @property
    def is_written(self) -> bool:
        return self.sha256 != ""
