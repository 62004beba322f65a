"""Submit and change answers. A repeated submit is the same label; a change is a new row that supersedes the old one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from annotation.enums import Answer, CampaignState, Cause, SurplusReason
from annotation.errors import AnswerRefused, NotYours
from annotation.labelling.assignments import Assignment, GivenAnswer, KeptLabel, find_answered, find_submitted
from annotation.labelling.own_labels import changeable_tickets
from annotation.models import CheckLabel, Label, SurplusLabel
from annotation.models.slot import lease_of
from annotation.sources.evidence import check_evidence, clean_link
from annotation.sources.verified import VerifiedSources, verified
from core import clock

MAX_COMMENT, MAX_PASSAGE = 2000, 1000
MAX_ACTIVE_MS, MAX_AWAY_MS = 3600 * 1000, 24 * 3600 * 1000  # of one answer; hours are paid by them
TOO_LATE = _("This label can no longer be changed. It stays as it is.")
_USED = _("The id of this answer was used for another one. Load the page again, then answer.")
_SURPLUS = {
    SurplusReason.LATE: _(
        "Your time was over and somebody else has this question. Your answer is kept, but doesn’t count."
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
    label: KeptLabel
    repeated: bool = False

    @property
    def is_surplus(self) -> bool:
        return isinstance(self.label, SurplusLabel)

    @property
    def message(self) -> str:
        return str(_SURPLUS[SurplusReason(self.label.reason)]) if isinstance(self.label, SurplusLabel) else ""


def submit(
    user: User,
    ticket: UUID,
    lease: UUID,
    given: GivenAnswer,
    *,
    sources: VerifiedSources | None = None,
    now: datetime | None = None,
) -> SubmitResult:
    """Keep an answer to a question that this person was given.

    An answer after the lease counts while nobody else has the question; otherwise it is kept apart as a surplus
    label. `sources`: the verified sources, if the caller has loaded them. Raises NotYours for somebody else's
    ticket, EvidenceError for a bad link, AnswerRefused if the answer cannot be kept.
    """
    if lease != lease_of(ticket, user.pk):
        raise NotYours(_("This question was not given to you. Load the page again; no label was changed."))
    given = _tidied(given)
    with _one_client_id(given.client_id), transaction.atomic():
        asked = find_submitted(user, ticket)
        if asked is None:
            raise AnswerRefused(_("This question was withdrawn: it needs no answer any more."))
        closed = asked.campaign.state == CampaignState.CLOSED
        if asked.is_held and not closed:
            _check(asked, given, sources)
            if asked.other_labels.objects.filter(client_id=given.client_id).exists():
                raise AnswerRefused(_USED)  # as the database does for the id of a label of the same kind
            if asked.answer_held():
                return SubmitResult(asked.keep(given, now=now))
        repeated = _repeated(asked, given)
        if repeated:
            return repeated
        _check(asked, given, sources)
        reason = SurplusReason.CLOSED if closed else asked.answer_late()
        return SubmitResult(asked.keep_apart(given, reason) if reason else asked.keep(given, now=now))


def change(user: User, label: UUID, given: GivenAnswer, *, now: datetime | None = None) -> SubmitResult:
    """Supersede an own label, which is named by the client id of any of its versions.

    It must be recent and among the person's last ones; what others answered plays no part. Raises NotYours if it
    is not this person's label, and what `submit` raises.
    """
    now, given = now or clock.now(), _tidied(given)
    with _one_client_id(given.client_id), transaction.atomic():
        asked = find_answered(user, label)
        if asked is None:
            raise NotYours(_("This is not a label of yours. Nothing was changed."))
        repeated = _repeated(asked, given)
        if repeated:
            return repeated
        if asked.campaign.state == CampaignState.CLOSED:
            raise AnswerRefused(_("The campaign is closed: its labels stay as they are."))
        if asked.ticket not in changeable_tickets(user, asked.campaign, now=now):
            raise AnswerRefused(TOO_LATE)
        _check(asked, given, None)
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
        if _of_client(client_id) is not None:
            raise AnswerRefused(_USED) from error
        raise


def _of_client(client_id: UUID) -> KeptLabel | None:
    kinds = (Label, CheckLabel, SurplusLabel)
    return next((label for kind in kinds for label in kind.objects.filter(client_id=client_id)), None)


def _repeated(asked: Assignment, given: GivenAnswer) -> SubmitResult | None:
    """Return the first result of the same submit; AnswerRefused if the id names an answer to something else."""
    first = _of_client(given.client_id)
    if first is None:
        return None
    same = all(getattr(first, column, None) == value for column, value in asked.question.items())
    if first.annotator_id != asked.user.pk or not same:
        raise AnswerRefused(_USED)
    return SubmitResult(first, repeated=True)


def _check(asked: Assignment, given: GivenAnswer, sources: VerifiedSources | None) -> None:
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
    if given.cause and not asked.needs_reason:
        raise AnswerRefused(_("Only a decision of a dispute has a reason of this kind. Send the answer without it."))
    if asked.needs_reason and not given.cause and not given.comment:
        raise AnswerRefused(_("An adjudicator gives a reason: choose one, or write one sentence."))
    hosts = (sources or verified(asked.campaign)).hosts(asked.relation)
    check_evidence(given.source_url, hosts, asked.campaign.evidence_rule, given.answer)
