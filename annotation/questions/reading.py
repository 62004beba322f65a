"""Know which automatic questions a person has read, and refuse to ask about relations whose names are not words."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from annotation.enums import AnnotationAct
from annotation.errors import CampaignError
from annotation.models import QuestionTemplate
from annotation.questions.templates import ensure_templates
from core import clock
from core.people.audit_log import record
from pooling.enums import TO_PEOPLE
from pooling.models import Pool, Relation
from pooling.questions.relation_names import is_readable
from pooling.questions.templates import TemplateError

_NAMED = 5  # in a message
_READ = Q(is_default=False) | Q(read_at__isnull=False)


def unread_relations(pool: Pool, *, filtered: bool = False) -> list[Relation]:
    """Return the relations that people are asked about in automatic words that nobody has read.

    With `filtered`, the relations of triples that a filter took are included: an audit sample asks about them too.
    """
    ensure_templates(pool.graph)
    triples = pool.triples.all() if filtered else pool.triples.filter(reason=TO_PEOPLE)
    asked = pool.graph.relations.filter(index__in=triples.order_by().values("relation").distinct())
    read = QuestionTemplate.objects.filter(_READ, relation=OuterRef("pk"))
    return list(asked.filter(~Exists(read)).order_by("index"))


def without_words(relations: Sequence[Relation]) -> list[Relation]:
    """Return those whose names are not words, such as P131: people cannot understand their automatic questions."""
    return [relation for relation in relations if not is_readable(relation.name)]


def refuse_without_words(pool: Pool, *, filtered: bool = False) -> None:
    """Raise CampaignError if people would be asked about a relation without words; it names these relations."""
    if found := without_words(unread_relations(pool, filtered=filtered)):
        raise CampaignError(
            f"The questions of {_these(found)} must be written by a person first, because {_no_words(found)}: "
            f"{named(found)}. Write or import them on the page {write_address(pool)}"
        )


def named(relations: Sequence[Relation]) -> str:
    """Return the names of the first few relations, and how many there are more."""
    rest = len(relations) - _NAMED
    return ", ".join(relation.name for relation in relations[:_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def write_address(pool: Pool) -> str:
    """Return the address of the page that lists the relations without words."""
    return f"{reverse('pool-questions', args=[pool.name])}?made=odd"


def mark_read(pool: Pool, by: User, relation: Relation | None = None) -> int:
    """Note that a person has read the automatic questions of a relation, or of all; return how many were unread.

    Names that are not words are left out of all; TemplateError for one of them, since reading it does not help.
    """
    unread = [one for one in unread_relations(pool) if relation is None or one.pk == relation.pk]
    odd = without_words(unread)
    if relation is not None and odd:
        raise TemplateError(f"The name {relation.name} is not a word, so its questions must be written by a person.")
    templates = QuestionTemplate.objects.filter(relation__in=[one for one in unread if one not in odd], read_at=None)
    with transaction.atomic():
        count = templates.filter(is_default=True).update(read_at=clock.now(), read_by=by)
        if count:
            about = relation.key if relation else f"{count} relations of graph {pool.graph.name}"
            record(by, AnnotationAct.QUESTIONS_READ, pool=pool, about=about, n=count)
    return count


def _these(relations: Sequence[Relation]) -> str:
    return "1 relation" if len(relations) == 1 else f"{len(relations):,} relations"


def _no_words(relations: Sequence[Relation]) -> str:
    return "its name is not a word" if len(relations) == 1 else "their names are not words"
