"""Submit and change answers. A repeated submit is the same label; a change is a new row that supersedes the old one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from annotation.enums import Answer, CampaignState, Cause, EvidenceRule, SurplusReason
from annotation.errors import AnswerRefused, NotYours
from annotation.judging.judgements import live_labels
from annotation.labelling.assignments import GivenAnswer, lock_assignment
from annotation.labelling.own_labels import changeable_tickets
from annotation.labelling.places import KeptLabel, KnownLabel, Place, label_of_client, place_and_label, place_of_label
from annotation.models import Campaign, SurplusLabel
from annotation.models.slot import ADJUDICATION, lease_of
from annotation.sources.evidence import check_evidence, clean_link
from annotation.sources.verified import VerifiedSources, verified
from core import clock

MAX_COMMENT, MAX_PASSAGE = 2000, 1000
MAX_ACTIVE_MS, MAX_AWAY_MS = 3600 * 1000, 24 * 3600 * 1000  # of one answer; hours are paid by them
TOO_LATE = _("This label can no longer be changed. It stays as it is.")
_WITHDRAWN = _("This statement was withdrawn: it needs no answer any more.")
_USED = _("The id of this answer was used for another one. Load the page again, then answer.")
_SURPLUS = {
    SurplusReason.LATE: _(
        "Your time was over and somebody else has this statement. Your answer is kept, but doesn’t count."
    ),
    SurplusReason.TWICE: _(
        "You had answered this already, in another window. That answer stays; this one is kept, but doesn’t count."
    ),
    SurplusReason.CLOSED: _("The campaign is closed. Your answer is kept, but doesn’t count."),
    SurplusReason.OVER: _(
        "This dispute is over: its labels were changed or taken back. Your answer is kept, but doesn’t count."
    ),
}


@dataclass(frozen=True)
class SubmitResult:
    label: KeptLabel | KnownLabel
    repeated: bool = False

    @property
    def reason(self) -> str:
        """Why the answer was kept apart; empty if it counts."""
        return self.label.reason if isinstance(self.label, SurplusLabel | KnownLabel) else ""

    @property
    def is_surplus(self) -> bool:
        return bool(self.reason)

    @property
    def message(self) -> str:
        return str(_SURPLUS[SurplusReason(self.reason)]) if self.reason else ""


def submit(
    user: User,
    ticket: UUID,
    lease: UUID,
    given: GivenAnswer,
    *,
    sources: VerifiedSources | None = None,
    found: tuple[Place | None, KnownLabel | None] | None = None,
    now: datetime | None = None,
) -> SubmitResult:
    """Keep an answer to a question that this person was given.

    An answer after the lease counts while nobody else has the question; otherwise it is kept apart as a surplus label.
    `sources`, `found`: the verified sources and what `place_and_label` returns, if the caller has loaded them. Raises
    NotYours for somebody else's ticket, EvidenceError for a bad link, AnswerRefused if the answer cannot be kept.
    """
    if lease != lease_of(ticket, user.pk):
        raise NotYours(_("This statement was not given to you. Load the page again; no label was changed."))
    given = _tidied(given)
    _check_form(given)
    place, first = found or place_and_label(ticket, given.client_id)
    if place is None:
        raise AnswerRefused(_WITHDRAWN)
    if first is not None and not place.is_held_by(user):
        return _repeated(first, user, place)
    # what is refused or repeated locks nothing: a lock of an item is written to the disk, and a check has none
    _check(place, given, sources)
    if first is not None and not first.reason:
        return _repeated(first, user, place)  # refused, unless the same answer was kept since the place was read
    with _one_client_id(given.client_id), transaction.atomic():
        asked = lock_assignment(user, place)
        if asked is None:
            raise AnswerRefused(_WITHDRAWN)
        if asked.is_held() and asked.answer_held():
            return SubmitResult(asked.keep(given, now=now))
        if (again := label_of_client(given.client_id)) is not None:  # the same answer, sent twice at once
            return _repeated(again, user, place)
        closed = asked.campaign.state == CampaignState.CLOSED
        reason = SurplusReason.CLOSED if closed else asked.answer_late()
        return SubmitResult(asked.keep_apart(given, reason) if reason else asked.keep(given, now=now))


def change(
    user: User, label: UUID, given: GivenAnswer, *, found: Place | None = None, now: datetime | None = None
) -> SubmitResult:
    """Supersede an own label, which is named by the client id of any of its versions.

    It must be recent and among the person's last ones; what others answered plays no part. `found`: its place, if the
    caller has loaded it. Raises NotYours if it is not this person's label, and what `submit` raises.
    """
    now, given = now or clock.now(), _tidied(given)
    _check_form(given)
    place, first = found or place_of_label(user, label), label_of_client(given.client_id)
    if place is None:
        raise NotYours(_("This is not a label of yours. Nothing was changed."))
    if first is not None:
        return _repeated(first, user, place)
    if place.campaign_state == CampaignState.CLOSED:
        raise AnswerRefused(_("The campaign is closed: its labels stay as they are."))
    campaign = Campaign.objects.get(pk=place.campaign_id)
    if place.ticket not in changeable_tickets(user, campaign, now=now):
        raise AnswerRefused(TOO_LATE)
    _check(place, given, verified(campaign))
    with _one_client_id(given.client_id), transaction.atomic():
        asked = lock_assignment(user, place)
        # once more, now that nobody else can change the label or the judgement
        if asked is None or place.ticket not in changeable_tickets(user, campaign, now=now):
            raise AnswerRefused(TOO_LATE)
        if (first := label_of_client(given.client_id)) is not None:
            return _repeated(first, user, place)
        return SubmitResult(asked.keep(given, asked.place.labels.get(superseded_by=None), now=now))


def _tidied(given: GivenAnswer) -> GivenAnswer:
    active, away = min(given.active_ms, MAX_ACTIVE_MS), min(given.away_ms, MAX_AWAY_MS)
    link, passage = clean_link(given.source_url), " ".join(given.passage.split())
    given = given._replace(source_url=link, comment=given.comment.strip(), passage=passage)
    is_bulk = given.is_bulk and given.answer == Answer.NO
    return given._replace(active_ms=active, away_ms=away, is_bulk=is_bulk)


@contextmanager
def _one_client_id(client_id: UUID) -> Iterator[None]:
    """Raise AnswerRefused where the database refuses a client id that names another label."""
    try:
        yield
    except IntegrityError as error:
        if label_of_client(client_id) is not None:
            raise AnswerRefused(_USED) from error
        raise


def _repeated(first: KnownLabel, user: User, place: Place) -> SubmitResult:
    """Return the first result of the same submit; AnswerRefused if the id names an answer to something else."""
    question = (None, place.pk) if place.is_check else (place.item_id, None)
    if first.annotator_id != user.pk or (first.item_id, first.check_item_id) != question:
        raise AnswerRefused(_USED)
    return SubmitResult(first, repeated=True)


def _check_form(given: GivenAnswer) -> None:
    """Refuse what is no answer, whatever was asked: before anything is looked up."""
    if given.answer not in Answer.values:
        raise AnswerRefused(_("{!r} is not a valid answer. Use Y, N or ?.").format(given.answer))
    if len(given.comment) > MAX_COMMENT:
        told = _("The comment has {length} characters: shorten it to {most}.")
        raise AnswerRefused(told.format(length=len(given.comment), most=MAX_COMMENT))
    if len(given.passage) > MAX_PASSAGE:
        told = _("The passage has {length} characters: shorten it to {most}.")
        raise AnswerRefused(told.format(length=len(given.passage), most=MAX_PASSAGE))
    if "\0" in given.comment:
        raise AnswerRefused(_("The comment has a control character: take it out."))
    if "\0" in given.passage:
        raise AnswerRefused(_("The passage has a control character: take it out."))
    if given.cause not in ("", *Cause.values):
        told = _("{cause!r} is not a reason. Use {causes}, or write one sentence.")
        raise AnswerRefused(told.format(cause=given.cause, causes=", ".join(Cause.values)))


def _confirms(place: Place, answer: str) -> bool:
    """Return whether both labels of a reopened item say what is decided: no answer was wrong, so no reason is asked."""
    labels = live_labels().filter(item=place.item_id).exclude(slot__number=ADJUDICATION)
    return {answer} == set(labels.values_list("answer", flat=True)) != {Answer.CANT_TELL}


def _check(place: Place, given: GivenAnswer, sources: VerifiedSources | None) -> None:
    if given.cause and not place.needs_reason:
        raise AnswerRefused(_("Only a decision of a dispute has a reason of this kind. Send the answer without it."))
    if place.needs_reason and not given.cause and not given.comment and not _confirms(place, given.answer):
        raise AnswerRefused(_("An adjudicator gives a reason: choose one, or write one sentence."))
    known = sources or verified(Campaign.objects.get(pk=place.campaign_id))
    check_evidence(given.source_url, known.hosts(place.relation), EvidenceRule(place.evidence_rule), given.answer)
