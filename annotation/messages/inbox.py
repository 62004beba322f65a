"""List what annotators write to managers: reports of questions, and comments on labels."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation.enums import Answer
from annotation.models import Campaign, Flag, Label
from annotation.questions.templates import QuestionText, question_text
from pooling.graphs.opening import open_graph

NEW_FOR = timedelta(days=7)  # how long a reply counts as new


class ShownReport(NamedTuple):
    flag: Flag
    asked: QuestionText  # as it was shown
    relation: int


def reports(campaign: Campaign, *, state: str = "", kind: str = "") -> QuerySet[Flag]:
    """Return open reports, oldest first, and then the answered ones, last reply first.

    `state`: open or answered
    """
    flags = campaign.flags.select_related(
        "template__relation", "item__triple", "check_item__gold", "check_item__item__triple", "person", "replied_by"
    ).order_by(F("replied_at").desc(nulls_first=True), "pk")
    if kind:
        flags = flags.filter(kind=kind)
    if state == "open":
        return flags.filter(replied_at=None)
    if state == "answered":
        return flags.exclude(replied_at=None)
    return flags


def reports_as_shown(campaign: Campaign, flags: Iterable[Flag]) -> list[ShownReport]:
    """Return reports with the question in the words that the person read."""
    graph = open_graph(campaign.pool.graph)
    found = []
    for flag in flags:
        asked = flag.item or flag.check_item
        assert asked is not None  # flag_of_one_question
        found.append(ShownReport(flag, question_text(asked, flag.template, graph), asked.triple.relation))
    return found


def comments(campaign: Campaign, *, answer: str = "") -> QuerySet[Label]:
    """Return current labels that have a comment, newest first; `answer` selects one answer."""
    labels = Label.objects.filter(item__campaign=campaign, superseded_by=None).exclude(comment="")
    if answer in Answer.values:
        labels = labels.filter(answer=answer)
    return labels.select_related("item__triple", "annotator", "template", "slot").order_by("-pk")


def new_answers(user: User, campaign: Campaign, *, now: datetime | None = None) -> QuerySet[Flag]:
    """Return this person's reports that got a reply in the last days."""
    since = (now or timezone.now()) - NEW_FOR
    return campaign.flags.filter(person=user, replied_at__gt=since)
