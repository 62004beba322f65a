"""Work out verdicts other than the current judgements: at an earlier time, or of one person alone.

Both follow from the labels, which are append-only, by the rules that make the judgements.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

from django.db.models import Q

from annotation.enums import AnnotationAct, Answer, Verdict
from annotation.judging.judgements import VERDICTS, decide, live_labels, majority
from annotation.models import Campaign, ImportedLabel, Label
from core.models import AuditEntry
from pooling.models import Pool

_ITEM = re.compile(r"item ([0-9]+)")


def verdicts_at(pool: Pool, when: datetime) -> dict[int, Verdict]:
    """Return triple id -> verdict by the labels given until `when` (inclusive), without unjudged triples.

    In each slot the version that was newest then counts, unless the slot had been withdrawn by then; an item counts as
    reopened if it had been, and had not been sent back since. What people did not decide is judged by the majority of
    the labels imported until then: the time of the import counts, not one named in the file. So later acts never change
    the result for an earlier time. What people had decided and then took back has no verdict: it counts as unjudged.
    """
    answers = _answers_at(pool, when)
    reopened = _reopened_at(pool, when)
    imported: dict[int, list[str]] = defaultdict(list)
    labels = ImportedLabel.objects.filter(triple__pool=pool, created_at__lte=when).order_by()
    for triple, answer in labels.values_list("triple_id", "answer"):
        imported[triple].append(answer)
    verdicts = {triple: majority(given) for triple, given in imported.items()}
    for (item, triple), by_slot in answers.items():
        _, verdict = decide(by_slot, reopened=item in reopened)
        if verdict is not None:
            verdicts[triple] = verdict
    return verdicts


def _answers_at(pool: Pool, when: datetime) -> Mapping[tuple[int, int], dict[int, str]]:
    """Return (item, triple) -> slot number -> the answer that counted then."""
    labels = Label.objects.filter(item__campaign__pool=pool, created_at__lte=when)
    labels = labels.filter(Q(slot__withdrawn_at=None) | Q(slot__withdrawn_at__gt=when))
    found: dict[tuple[int, int], dict[int, str]] = defaultdict(dict)
    # oldest first: a later version overwrites the one that it supersedes
    rows = labels.order_by("pk").values_list("item_id", "item__triple_id", "slot__number", "answer")
    for item, triple, number, answer in rows.iterator(chunk_size=5000):
        found[item, triple][number] = answer
    return found


def _reopened_at(pool: Pool, when: datetime) -> set[int]:
    """Return the ids of items that a manager had reopened and nobody had sent back since."""
    acts = AuditEntry.objects.filter(
        pool=pool, at__lte=when, act__in=[AnnotationAct.JUDGEMENT_REOPENED, AnnotationAct.ITEM_RETURNED]
    )
    last: dict[int, str] = {}
    for about, act in acts.order_by("pk").values_list("about", "act"):
        if found := _ITEM.fullmatch(about):
            last[int(found[1])] = act
    return {item for item, act in last.items() if act == AnnotationAct.JUDGEMENT_REOPENED}


def verdicts_by_person(campaign: Campaign, person: int | None = None) -> dict[int, dict[int, Verdict]]:
    """Return person id -> triple id -> verdict of their label that counts now, of one person or of all.

    Can't tell is undecided. A person has at most one label on an item, since nobody has two slots of one.
    """
    labels = live_labels().filter(item__campaign=campaign)
    if person is not None:
        labels = labels.filter(annotator=person)
    found: dict[int, dict[int, Verdict]] = defaultdict(dict)
    for annotator, triple, answer in labels.order_by().values_list("annotator_id", "item__triple_id", "answer"):
        found[annotator][triple] = VERDICTS[Answer(answer)]
    return dict(found)
