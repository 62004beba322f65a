"""The words of a question: literal {subject} and {object}, versioned, never changed."""

from django.conf import settings
from django.db import models

from pooling.models import Relation


class QuestionTemplate(models.Model):
    relation = models.ForeignKey(Relation, on_delete=models.CASCADE, related_name="templates")
    version = models.PositiveIntegerField(default=1)
    statement = models.CharField(max_length=500, help_text="asked of one triple: has {subject} and {object}")
    tail_question = models.CharField(max_length=500, help_text="asks for the tails of one head: has {subject}")
    head_question = models.CharField(max_length=500, help_text="asks for the heads of one tail: has {object}")
    is_default = models.BooleanField(default=False, help_text="made from the relation's name")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["relation", "version"]
        constraints = [models.UniqueConstraint(fields=["relation", "version"], name="template_version_once")]

    def __str__(self) -> str:
        return f"{self.relation.key} v{self.version}"
