"""Keep reports of questions that something is wrong with, and the replies; list them, and comments on labels."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.enums import AnnotationAct, Answer, FlagKind, WebhookEvent
from annotation.errors import AnswerRefused, CampaignError, NotYours
from annotation.judging.transitions import release_slots
from annotation.models import Campaign, Check, Flag, Label, Slot
from annotation.models.slot import ADJUDICATION, lease_of
from annotation.questions.templates import QuestionText, question_text
from annotation.webhooks.events import tell
from core import clock
from core.people.audit_log import record
from pooling.graphs.opening import open_graph

MAX_TEXT = 2000
MOST_OPEN = 100  # reports of one person in a campaign that nobody replied to


def report(user: User, ticket: UUID, lease: UUID, client_id: UUID, kind: str, text: str = "") -> Flag:
    """Keep a report of a question that this person was given; a repeated one is the same report.

    An adjudicator who asks for other words gives the dispute back; it then waits for a reply.
    """
    text = text.strip()
    if lease != lease_of(ticket, user.pk):
        raise NotYours(_("This statement was not given to you. Load the page again; nothing was reported."))
    known = _known(user, client_id)
    if known is not None:
        return known
    if kind not in FlagKind.values:
        told = _("{kind} is not a kind of report: choose one of {kinds}.")
        raise AnswerRefused(told.format(kind=repr(kind), kinds=", ".join(FlagKind.values)))
    if kind == FlagKind.OTHER and not text:
        raise AnswerRefused(_("Say in a sentence what is wrong."))
    if len(text) > MAX_TEXT or "\0" in text:
        told = _("The report has {length} characters. Write at most {most}, without control characters.")
        raise AnswerRefused(told.format(length=len(text), most=MAX_TEXT))
    try:
        return _report(user, ticket, client_id, kind, text)
    except (AnswerRefused, IntegrityError):
        known = _known(user, client_id)
        if known is None:
            raise
        return known  # the same report was kept at the same moment


def _known(user: User, client_id: UUID) -> Flag | None:
    known = Flag.objects.filter(client_id=client_id).first()
    if known is not None and known.person_id != user.pk:
        raise AnswerRefused(_("The id of this report was used for another one. Load the page again."))
    return known


def _report(user: User, ticket: UUID, client_id: UUID, kind: str, text: str) -> Flag:
    with transaction.atomic():
        slot = Slot.objects.filter(ticket=ticket).select_related("item__campaign").first()
        check = Check.objects.filter(ticket=ticket, person=user).select_related("campaign", "beside").first()
        place = slot or check
        words = place.words if isinstance(place, Check) else place and place.template_id
        if place is None or words is None:
            raise AnswerRefused(_("This statement was withdrawn: there is nothing to report any more."))
        if place.asked.campaign.flags.filter(person=user, replied_at=None).count() >= MOST_OPEN:
            told = _("{n} of your reports have no reply yet. You can report more once somebody replies.")
            raise AnswerRefused(told.format(n=MOST_OPEN))
        holds = slot is not None and slot.number == ADJUDICATION and kind == FlagKind.WORDS
        if holds and release_slots(Slot.objects.filter(ticket=ticket, annotator=user)) != 1:
            raise AnswerRefused(_("This dispute is no longer in your hands. Nothing was reported."))
        flag = Flag.objects.create(
            campaign=place.asked.campaign,
            person=user,
            item=slot.item if slot else None,
            check_item=None if slot else check,
            template_id=words,
            kind=kind,
            text=text,
            holds_item=holds,
            client_id=client_id,
        )
        pool = place.asked.campaign.pool
        tell(WebhookEvent.REPORT, pool, reverse("inbox", args=[pool.name]), kind=kind)
    return flag


def answer_flag(flag: Flag, reply: str, *, by: User) -> bool:
    """Reply to a report, which closes it; return False if somebody else had replied.

    A dispute that waited for the reply is given out again.
    """
    reply = reply.strip()
    if not reply or len(reply) > MAX_TEXT or "\0" in reply:
        raise CampaignError(f"Write a reply of at most {MAX_TEXT} characters: the person who asked reads it.")
    with transaction.atomic():
        opened = Flag.objects.filter(pk=flag.pk, replied_at=None)
        done = opened.update(reply=reply, replied_by=by, replied_at=clock.now()) == 1
        if done:
            record(
                by, AnnotationAct.FLAG_ANSWERED, pool=flag.campaign.pool, subject=flag.person, about=f"report {flag.pk}"
            )
    return done


def own_flags(user: User, campaign: Campaign) -> QuerySet[Flag]:
    """Return a person's reports, newest first."""
    return (
        campaign.flags.filter(person=user)
        .select_related("template", "item__triple", "check_item__gold", "check_item__item__triple", "replied_by")
        .order_by("-pk")
    )


NEW_FOR = timedelta(days=7)  # how long a reply counts as new that the person has not seen


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
    """Return this person's reports that got a reply in the last days, which they have not seen."""
    since = (now or clock.now()) - NEW_FOR
    return campaign.flags.filter(person=user, replied_at__gt=since, reply_seen_at=None)


def see_replies(flags: Iterable[Flag]) -> list[int]:
    """Note that a person is shown their reports; return the ids of those with a new reply (see `new_answers`)."""
    now = clock.now()
    unseen = [flag for flag in flags if not flag.reply_seen_at]
    new = [flag.pk for flag in unseen if flag.replied_at and flag.replied_at > now - NEW_FOR]
    if new:
        Flag.objects.filter(pk__in=new).update(reply_seen_at=now)
    return new
