"""Simulate people who answer from a known truth, with seeded errors, through the same functions as real ones."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID, uuid5

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from annotation.enums import Answer, ItemState, SlotState
from annotation.judging.judgements import live_labels
from annotation.judging.label_file import Triple
from annotation.labelling.assignments import GivenAnswer
from annotation.labelling.queue import claim_disputed, release
from annotation.labelling.submit import submit
from annotation.models import Campaign, Check, Label, Slot
from annotation.models.slot import ADJUDICATION, PLACES
from annotation.people.accounts import add_person
from annotation.people.simulated import ADJUDICATOR, NAME, simulated
from annotation.quality.checks import claim_questions
from annotation.release.next_batch import unreleased
from annotation.sources.evidence import needs_link
from annotation.sources.verified import verified
from core.callbacks import Tell
from core.people.roles import CampaignRole
from pooling.graphs.opening import open_graph
from pooling.models import Pool

_BATCH = 40
_IDS = UUID("6d1c7e0c-6f4f-4d6a-9f0e-0d7c0b6b4a11")
_OTHER = {Answer.YES: Answer.NO, Answer.NO: Answer.YES, Answer.CANT_TELL: Answer.CANT_TELL}


@dataclass(frozen=True)
class Simulation:
    """How simulated people answer."""

    truth: Mapping[Triple, Answer]
    open_world: bool = True  # unknown triples get can't tell; otherwise no
    annotators: int = 5
    error_rate: float = 0.05
    seed: int = 0
    leave: float = 0.0  # share of the items (the last ones) and disputes that is left to people
    limit: int | None = None  # labels of simulated people in this campaign, in all


@dataclass(frozen=True)
class Simulated:
    labels: int
    adjudicated: int
    seconds: float


def simulate(campaign: Campaign, how: Simulation, tell: Tell | None = None) -> Simulated:
    """Label until nothing is left but the share for people, or to the limit; continues where it was stopped."""
    return _Run(campaign, how, tell or (lambda done, total: None)).run()


def simulated_labels(pool: Pool) -> int:
    """Count the labels that count and are of simulated people."""
    return live_labels().filter(simulated("annotator"), item__campaign__pool=pool).count()


class _Run:
    def __init__(self, campaign: Campaign, how: Simulation, tell: Tell) -> None:
        self.campaign, self.how, self.tell = campaign, how, tell
        self.graph = open_graph(campaign.pool.graph)
        self.sources = verified(campaign)
        self.people = [self._person(f"{NAME}{i}", CampaignRole.ANNOTATOR) for i in range(1, how.annotators + 1)]
        self.adjudicator = self._person(ADJUDICATOR, CampaignRole.ADJUDICATOR)
        self.given = Label.objects.filter(
            item__campaign=campaign, annotator__in=[*self.people, self.adjudicator], supersedes=None
        ).count()
        self.done = 0
        later = unreleased(campaign.pool).count()
        items = campaign.items.count() + later
        self.cutoff = items - round(items * how.leave)
        waiting = Slot.objects.filter(
            item__campaign=campaign, item__order__lt=self.cutoff, item__state=ItemState.OPEN
        ).exclude(state__in=[SlotState.ANSWERED, SlotState.WITHDRAWN])
        of_later = len(PLACES) * max(0, later - round(items * how.leave))
        self.total = min(waiting.count() + of_later, self._left())
        self.start = time.monotonic()

    def run(self) -> Simulated:
        active = list(self.people)
        while active and self._left() > 0:
            active = [person for person in active if self._annotate(person)]
        adjudicated = self._adjudicate()
        return Simulated(self.done, adjudicated, time.monotonic() - self.start)

    def _person(self, name: str, role: str) -> User:
        user, made = add_person(name, role, self.campaign, consented=True)
        if made is not None:
            user.set_unusable_password()
            user.save()
        return user

    def _left(self) -> int:
        return 2**62 if self.how.limit is None else max(0, self.how.limit - self.given - self.done)

    def _annotate(self, person: User) -> bool:
        """Label one batch as one person; return whether there was any."""
        with transaction.atomic():
            places = claim_questions(self.campaign, person, _BATCH)
            ours = [place for place in places if isinstance(place, Slot) and place.item.order < self.cutoff]
            ours = ours[: self._left()]
            for place in places:
                if place in ours or (ours and isinstance(place, Check)):
                    self._answer(person, place, self.how.error_rate)
            release(person, [place.ticket for place in places])
        return bool(ours)

    def _adjudicate(self) -> int:
        """Decide all disputes, settled ones counted, but the share that is left to people; return how many."""
        disputes = Slot.objects.filter(item__campaign=self.campaign, number=ADJUDICATION).filter(
            Q(state=SlotState.ANSWERED) | Q(item__state=ItemState.DISPUTED) & ~Q(state=SlotState.WITHDRAWN)
        )
        total = disputes.count()
        answered = disputes.filter(state=SlotState.ANSWERED).count()
        count = 0
        wanted = total - round(total * self.how.leave) - answered
        self.total = self.done + max(0, min(wanted, self._left()))
        while count < wanted and self._left() > 0:
            with transaction.atomic():
                room = min(_BATCH, wanted - count, self._left())
                claimed = claim_disputed(self.campaign, self.adjudicator, room, wait_for_windows=False)
                slots = claimed[:room]
                for slot in slots:
                    self._answer(self.adjudicator, slot, 0.0)
                release(self.adjudicator, [slot.ticket for slot in claimed[room:]])
            if not slots:
                break
            count += len(slots)
        return count

    def _answer(self, person: User, place: Slot | Check, error_rate: float) -> None:
        triple = place.asked.triple
        unknown = Answer.CANT_TELL if self.how.open_world else Answer.NO
        facts = (triple.head, triple.relation, triple.tail)
        answer = self.how.truth.get(facts, unknown)
        # seeded by person and triple, so that neither order nor restart changes the errors
        number = 0 if person == self.adjudicator else 1 + self.people.index(person)
        if np.random.default_rng([self.how.seed, number, *facts]).random() < error_rate:
            answer = _OTHER[answer]
        rule = self.campaign.evidence_rule
        reason = "As in the known truth." if answer != Answer.CANT_TELL else "Not in the known truth."
        is_final = person == self.adjudicator
        given = GivenAnswer(
            uuid5(_IDS, f"{place.ticket}:{person.pk}"),
            answer,
            source_url=self._link(triple.relation, triple.head) if needs_link(rule, answer) else "",
            comment=reason if is_final or answer == Answer.CANT_TELL else "",
            active_ms=2500 + sum(facts) * 7919 % 9000,
        )
        result = submit(person, place.ticket, place.lease or _IDS, given, sources=self.sources)
        if not result.repeated and isinstance(place, Slot):
            self.done += 1
            self.tell(self.done, max(self.total, self.done))

    def _link(self, relation: int, head: int) -> str:
        """Return the search for the subject at the first verified source that has one."""
        search = next((source.search_url for source in self.sources.of(relation) if source.search_url), "")
        return search.replace("{query}", quote(self.graph.label(head)))
