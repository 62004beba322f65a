"""Training before the first real question: gold items, named as training, with feedback; its answers enter nothing."""

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint

from annotation.enums import Answer
from annotation.models.campaign import Campaign
from annotation.models.check import Gold


class Training(models.Model):
    """How far a person is with the training of a campaign."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="trainings")
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="trainings")
    passed_at = models.DateTimeField(null=True, blank=True)
    let_through_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", help_text="the manager, if one did"
    )

    class Meta:
        constraints = [UniqueConstraint(fields=["campaign", "person"], name="training_person_once")]

    def __str__(self) -> str:
        return f"training {self.pk} ({'passed' if self.passed_at else 'not passed'})"


class TrainingQuestion(models.Model):
    """A gold item in one round of somebody's training; another round has other ones."""

    training = models.ForeignKey(Training, on_delete=models.CASCADE, related_name="questions")
    gold = models.ForeignKey(Gold, on_delete=models.PROTECT, related_name="+")
    round = models.PositiveSmallIntegerField(help_text="1, 2, ...")
    place = models.PositiveSmallIntegerField(help_text="1, 2, ... within the round")
    answer = models.CharField(max_length=1, choices=Answer, blank=True, help_text="empty: not answered yet")
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["round", "place"]
        constraints = [
            UniqueConstraint(fields=["training", "gold"], name="training_gold_once"),
            UniqueConstraint(fields=["training", "round", "place"], name="training_place_once"),
            CheckConstraint(condition=Q(answer__in=["", *Answer.values]), name="training_answer_known"),
        ]

    def __str__(self) -> str:
        return f"training question {self.round}.{self.place} ({self.answer or 'open'})"

    @property
    def is_right(self) -> bool:
        return self.answer == self.gold.answer
