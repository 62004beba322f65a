"""Train people before their first real question: rounds of gold items with feedback, a pass mark, and a way past it.

Training is named as training, so it gives away no check: its gold items are never given to the person unmarked, and
no answer in it is a label.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.enums import AnnotationAct, Answer, SlotState
from annotation.errors import AnswerRefused, CampaignError, TrainingNeeded
from annotation.models import Campaign, Check, CheckLabel, Gold, Label, Training, TrainingQuestion
from annotation.models.slot import PLACES
from core import clock
from core.people.audit_log import record


def needs_training(campaign: Campaign, user: User) -> bool:
    """Return whether this person must pass the training first; people who have labelled here already need not."""
    if not campaign.training_items:
        return False
    if campaign.trainings.filter(person=user, passed_at__isnull=False).exists():
        return False
    own = Label.objects.filter(annotator=user, item__campaign=campaign, slot__number__in=PLACES)
    checked = CheckLabel.objects.filter(annotator=user, check_item__campaign=campaign)
    return not own.exists() and not checked.exists()


def check_trained(campaign: Campaign, user: User) -> None:
    """Raise TrainingNeeded unless this person may be given real questions."""
    if needs_training(campaign, user):
        raise TrainingNeeded(campaign.pool.name)


# -- rounds --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Round:
    """The questions of a round, with their gold items, in order."""

    number: int
    questions: Sequence[TrainingQuestion]
    pass_percent: int

    @property
    def size(self) -> int:
        return len(self.questions)

    @property
    def answered(self) -> int:
        return sum(bool(question.answer) for question in self.questions)

    @property
    def correct(self) -> int:
        return sum(question.is_right for question in self.questions)

    @property
    def is_over(self) -> bool:
        return self.answered == self.size

    @property
    def needed(self) -> int:
        """Correct answers that reach the pass mark."""
        return needed(self.size, self.pass_percent)

    @property
    def next(self) -> TrainingQuestion | None:
        return next((question for question in self.questions if not question.answer), None)


def needed(size: int, percent: int) -> int:
    """Return how many of `size` answers must be correct: `percent` of them, rounded up."""
    return -(-size * percent // 100)


def last_round(campaign: Campaign, user: User) -> Round | None:
    """Return the newest round of this person; None before the first."""
    rows = TrainingQuestion.objects.filter(training__campaign=campaign, training__person=user).select_related("gold")
    questions = list(rows)
    if not questions:
        return None
    number = questions[-1].round
    return Round(number, [one for one in questions if one.round == number], campaign.training_percent)


def supply(campaign: Campaign, user: User) -> QuerySet[Gold]:
    """Return the gold items that this person can be trained with: active ones that they were never given."""
    had = TrainingQuestion.objects.filter(gold=OuterRef("pk"), training__person=user)
    # also what they gave back: training would tell that it was gold, and it comes again
    given = Check.objects.filter(gold=OuterRef("pk"), person=user).exclude(state=SlotState.FREE, template=None)
    return campaign.golds.filter(~Exists(had), ~Exists(given), is_active=True)


def can_start(campaign: Campaign, user: User) -> bool:
    """Return whether there are enough gold items for another round of this person."""
    return supply(campaign, user).count() >= campaign.training_items


def start_round(campaign: Campaign, user: User) -> Round:
    """Draw a round, half yes and half no where there are enough; return the open one if there is one.

    AnswerRefused if this person needs no training, or there are too few gold items that they have not seen.
    """
    with transaction.atomic():
        training, _new = Training.objects.get_or_create(campaign=campaign, person=user)
        Training.objects.select_for_update().get(pk=training.pk)
        last = last_round(campaign, user)
        if last and not last.is_over:
            return last
        if not needs_training(campaign, user):
            raise AnswerRefused(_("You need no training here."))
        number = last.number + 1 if last else 1
        golds = _draw(campaign, user, number)
        if len(golds) < campaign.training_items:
            raise AnswerRefused(_("There are no other training statements for you. Ask a manager to let you through."))
        TrainingQuestion.objects.bulk_create(
            TrainingQuestion(training=training, gold_id=gold, round=number, place=place)
            for place, gold in enumerate(golds, 1)
        )
    found = last_round(campaign, user)
    assert found is not None
    return found


def _draw(campaign: Campaign, user: User, number: int) -> list[int]:
    rng = np.random.default_rng([campaign.seed, campaign.pool_id, user.pk, number])
    golds = supply(campaign, user).order_by("pk")
    yes, no = (
        rng.permutation(list(golds.filter(answer=answer).values_list("pk", flat=True))).astype(int).tolist()
        for answer in (Answer.YES, Answer.NO)
    )
    size = campaign.training_items
    take = min(len(yes), max((size + 1) // 2, size - len(no)))
    chosen = [*yes[:take], *no[: size - take]]
    return [int(chosen[i]) for i in rng.permutation(len(chosen))]


def answer_training(campaign: Campaign, user: User, question: int, answer: str) -> TrainingQuestion:
    """Keep the answer to a training question of this person, unless it has one; return the question.

    The last one of a round that reaches the pass mark ends the training. AnswerRefused for an unknown question.
    """
    if answer not in Answer.values:
        raise AnswerRefused(_("Answer yes, no or can’t tell."))
    with transaction.atomic():
        own = TrainingQuestion.objects.filter(training__campaign=campaign, training__person=user)
        found = own.select_related("training", "gold").filter(pk=question).first()
        if found is None:
            raise AnswerRefused(_("This is not a training statement of yours. Load the page again."))
        Training.objects.select_for_update().get(pk=found.training_id)
        now = clock.now()
        TrainingQuestion.objects.filter(pk=question, answer="").update(answer=answer, answered_at=now)
        last = last_round(campaign, user)
        if last and last.is_over and last.correct >= last.needed:
            Training.objects.filter(pk=found.training_id, passed_at=None).update(passed_at=now)
        found.refresh_from_db(fields=["answer", "answered_at"])
    return found


# -- for managers --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trainee:
    """A member who may label, and how far their training is."""

    person: User
    training: Training | None
    round: Round | None
    is_needed: bool
    is_stuck: bool  # missed the pass mark, and there are no other questions

    @property
    def has_missed(self) -> bool:
        return self.is_needed and self.round is not None and self.round.is_over


def trainees(campaign: Campaign) -> list[Trainee]:
    """Return everybody who labels in the campaign and can sign in, by name."""
    people = User.objects.filter(memberships__campaign=campaign, is_active=True).distinct().order_by("username")
    trainings = {one.person_id: one for one in campaign.trainings.select_related("let_through_by")}
    labelled = set(
        Label.objects.filter(item__campaign=campaign, slot__number__in=PLACES)
        .order_by()
        .values_list("annotator", flat=True)
        .distinct()
    )
    active = set(campaign.golds.filter(is_active=True).values_list("pk", flat=True))
    seen: dict[int, set[int]] = {}  # gold items that a person was given, in training or unmarked
    given = Check.objects.filter(gold__in=active).exclude(state=SlotState.FREE)
    for who, gold in given.values_list("person", "gold"):
        seen.setdefault(who, set()).add(gold)
    rounds: dict[int, list[TrainingQuestion]] = {}
    rows = TrainingQuestion.objects.filter(training__campaign=campaign)
    for question in rows.select_related("gold", "training").order_by("training", "round", "place"):
        own = rounds.setdefault(question.training.person_id, [])
        if own and own[-1].round != question.round:
            own.clear()
        own.append(question)
        seen.setdefault(question.training.person_id, set()).add(question.gold_id)
    found = []
    for person in people:
        training, own = trainings.get(person.pk), rounds.get(person.pk, [])
        last = Round(own[0].round, own, campaign.training_percent) if own else None
        needs = not (training and training.passed_at) and person.pk not in labelled
        over, left = last is None or last.is_over, len(active - seen.get(person.pk, set()))
        found.append(Trainee(person, training, last, needs, needs and over and left < campaign.training_items))
    return found


def let_through(campaign: Campaign, person: User, *, by: User | None = None) -> None:
    """Let a member label without having passed. CampaignError if they are no member, or may label already."""
    if not campaign.members.filter(person=person).exists():
        raise CampaignError(f"{person.username} is not a member of this campaign: add them first.")
    with transaction.atomic():
        training, _new = Training.objects.get_or_create(campaign=campaign, person=person)
        changed = Training.objects.filter(pk=training.pk, passed_at=None)
        if not changed.update(passed_at=clock.now(), let_through_by=by):
            raise CampaignError(f"{person.username} has passed the training already.")
        record(by, AnnotationAct.TRAINING_WAIVED, pool=campaign.pool, subject=person)
