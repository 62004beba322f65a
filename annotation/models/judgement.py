"""Final labels of triples, and labels that were made elsewhere."""

from django.db import models

from annotation.enums import Answer, JudgementOrigin, Verdict
from pooling.models import Pool, PooledTriple


class ImportedLabel(models.Model):
    """A label made elsewhere, as its file gave it; append-only."""

    triple = models.ForeignKey(PooledTriple, on_delete=models.PROTECT, related_name="imported_labels")
    answer = models.CharField(max_length=1, choices=Answer)
    annotator = models.CharField(max_length=150, blank=True)
    source_url = models.CharField(max_length=2000, blank=True)
    labelled_at = models.DateTimeField(null=True, blank=True)
    file_name = models.CharField(max_length=300)
    file_sha256 = models.CharField(max_length=64)
    line = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(answer__in=Answer.values), name="imported_answer_known"),
            models.UniqueConstraint(fields=["triple", "file_sha256", "line"], name="imported_line_once"),
        ]

    def __str__(self) -> str:
        return f"{self.file_name}:{self.line} {self.answer}"


class Judgement(models.Model):
    """The final label of a triple, rewritten when its labels change; decided_at orders and versions judgements."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="judgements")
    triple = models.OneToOneField(PooledTriple, on_delete=models.PROTECT, related_name="judgement")
    verdict = models.CharField(max_length=10, choices=Verdict)
    origin = models.CharField(max_length=10, choices=JudgementOrigin)
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(verdict__in=Verdict.values), name="judgement_verdict_known"),
            models.CheckConstraint(
                condition=models.Q(origin__in=JudgementOrigin.values), name="judgement_origin_known"
            ),
        ]
        indexes = [models.Index(fields=["pool", "decided_at"])]

    def __str__(self) -> str:
        return f"triple {self.triple_id}: {self.verdict}"

    @property
    def is_imported(self) -> bool:
        return self.origin == JudgementOrigin.IMPORT
