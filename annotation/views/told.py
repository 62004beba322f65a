"""What pages tell people after an act."""

from collections.abc import Sequence

from django.contrib.auth.models import User

from annotation.labelling.withdraw import Withdrawal
from annotation.models import Batch, GuidelineVersion, Source
from annotation.quality.checks import GoldAdded
from annotation.release.audit_sample import AuditDrawn
from core.models import Job
from pooling.graphs.source_data import plural
from pooling.models import Relation
from pooling.questions.relation_names import relation_words

GOLD_GIVEN_OUT = "The gold item is given out again."
GOLD_TAKEN_OUT = "The gold item is no longer given out. Answers to it stay."
ALL_READ = "Somebody has read these questions already."
ALL_RELEASED = "Every triple is released already."


def saved(changed: Sequence[str]) -> str:
    words = ", ".join(name.replace("_", " ") for name in changed)
    return f"Saved: {words}." if changed else "Nothing was different."


def gold_added(added: GoldAdded) -> str:
    known = f"; {added.known} {'was one' if added.known == 1 else 'were gold items'} before" if added.known else ""
    return f"{plural(added.added, 'gold item')} added{known}."


NOTHING_CHOSEN = "Choose items first."
NOTHING_ALLOWS = "The chosen items don't allow that: the list says why. They are still chosen."
# act on items: its button, what it needs, and what it does
BULK_ACTS = {
    "reopen": ("Reopen…", "Reopen: only judged items.", "the judgement is dropped, and an adjudicator decides again"),
    "return": (
        "Ask two others…",
        "Ask two others: only items with two labels.",
        "its labels no longer count but stay in its history, and two other people label it; there is no undo",
    ),
    "flag": ("Put into the inbox…", "", "a report of yours waits there with your reason; labelling goes on"),
    "assign": (
        "Assign…",
        "Assign: only items that people still label; an adjudicator decides disputes.",
        "one person gets it before other items",
    ),
}
_DONE = {
    "reopen": "{} reopened: an adjudicator is asked.",
    "return": "Two other people are asked about {}.",
    "flag": "{} put into the inbox.",
    "assign": "{} assigned to {}, who is asked about {} first.",
}


def items_done(act: str, done: int, person: User | None = None) -> str:
    return _DONE[act].format(plural(done, "item"), person, "it" if done == 1 else "them")


def had_before(left: int) -> str:
    """Say that some of the items were not assigned, after what was."""
    if not left:
        return ""
    which = "1 other was" if left == 1 else f"{left:,} others were"
    it = "it" if left == 1 else "them"
    return f" {which} not assigned, because the person had or saw {it} before; still chosen below."


def recheck_drawn(person: User, drawn: int) -> str:
    return f"{person.username} gets {plural(drawn, 'judgement')} again, among other items."


def let_through(person: User) -> str:
    return f"{person.username} can label now."


def batch_released(batch: Batch | None) -> str:
    return f"Batch {batch.number} is released: {plural(batch.size, 'triple')}." if batch else ALL_RELEASED


def release_started(job: Job) -> str:
    return f"Job {job.pk} releases the triples and then sets the order."


def audit_drawn(drawn: AuditDrawn) -> str:
    if not drawn.added:
        return f"The sample has that many already: {plural(drawn.total, 'triple')}."
    return f"{plural(drawn.added, 'triple')} drawn, {drawn.total:,} in all. {drawn.among}"


def labels_withdrawn(person: User, done: Withdrawal) -> str:
    return (
        f"{plural(done.labels, 'label')} of {person.username} withdrawn. To be labelled again: {done.reopened:,}; "
        f"to be adjudicated again: {done.to_adjudicate:,}. Judgements that are open until then: {done.judgements:,} "
        f"({done.positive:,} positive, {done.negative:,} negative)."
    )


def guidelines_saved(saved: GuidelineVersion, before: int) -> str:
    if saved.version == before:
        return f"Nothing changed: version {before} stays."
    return f"Version {saved.version} is saved; everybody sees it from now on."


def questions_read(count: int) -> str:
    return f"Noted: you have read the questions of {plural(count, 'relation')}." if count else ALL_READ


def questions_saved(relation: Relation, version: int) -> str:
    return f"Questions of “{relation_words(relation.name)}” saved as version {version}."


def questions_imported(relations: int) -> str:
    return f"{relations} relation{'s have' if relations != 1 else ' has'} new questions."


def source_added(source: Source) -> str:
    return f"Links at {source.host} are accepted now."


def source_removed(host: str) -> str:
    return f"Links at {host} are no longer accepted; labels that have one keep it."


def sources_restored(added: int) -> str:
    return f"{added} of the usual sources added." if added else "All of the usual sources are here."


def sources_chosen(relations: int, sources: int | None) -> str:
    """Say how many sources some relations accept now; None: all sources."""
    takes = "1 relation takes" if relations == 1 else f"{relations} relations take"
    return f"{takes} {'all sources' if sources is None else plural(sources, 'source')} from the next item on."
