"""Write questions for any relation from its name: snake_case, camelCase, a path of Freebase, a URI or a label."""

import re

from pooling.questions.relation_names import (
    CONTROL,
    PREPOSITIONS,
    are_words,
    is_plural,
    shorten,
    spell,
    subject_type,
    words_of,
)
from pooling.questions.templates import TemplateText

# First words of a name that are verbs, as in UMLS, YAGO and Freebase; every other name is taken for a noun.
_VERB_LIST = """
    activates adjoins affects analyzes assesses binds borders brings carries causes complicates consists contains
    creates defines describes diagnoses directs disrupts eats employs exhibits exports expresses founds has imports
    includes indicates influences inhibits interacts interconnects knows likes lives localizes loves makes manages
    measures owns palliates participates performs plays practices precedes prevents produces regulates resembles
    shares speaks stimulates studies supports surrounds teaches traverses treats uses wants wins writes
"""
_VERBS = frozenset(_VERB_LIST.split())
_DONE_LIST = """
    acted appeared competed created died directed discovered fought founded graduated happened influenced invented led
    lived married occurred owned participated performed played served starred studied visited won worked written
"""
_DONE = frozenset(_DONE_LIST.split())  # what somebody has done, unless "by" follows
_PASSIVE = frozenset({"by", "as", "with", "after"})  # directed by, influenced by, married with
_JOINED = frozenset({"related", "connected", "linked", "associated", "affiliated", "attached", "bound"})  # to
_MADE_BY = frozenset({"music", "cinematography"})  # of a work, by a person
_NOUN_ENDS = ("ion", "ment", "ity", "er", "tor", "sor", "ssue", "cipant")
_NO_PARTICIPLE_LIST = "seed breed need speed feed bed oxygen children women men garden airline line town crown"
_NO_PARTICIPLES = frozenset(_NO_PARTICIPLE_LIST.split())
_ING_NOUNS = frozenset({"sibling", "offspring", "king", "building", "wing", "ring", "meaning", "spring"})
_GROUP_LIST = "team party club league group band organization organisation union parliament"
_GROUPS = frozenset(_GROUP_LIST.split())  # member of political party: the object is the party
_SINGLE = re.compile(r"(gender|sex|capital|birth ?(place|date)|(place|date|year|manner) of .*)")  # one of each
_PLURAL_TYPES = ("ss", "us", "is", "series", "species", "games", "olympics", "sports")

_Asked = tuple[str, str, str]  # a note in brackets or '', and how the tail and the head question begin


def default_template(relation_name: str, domain: str = "", range: str = "") -> TemplateText:
    """Write a readable statement, tail question and head question for any relation, from its label or key.

    `domain` and `range` are the relation's declared types ('' where unknown); they name what is asked for.
    The texts pass check_template for every name.
    """
    relation_name, domain, range = (CONTROL.sub(" ", text) for text in (relation_name, domain, range))
    context, words = words_of(relation_name)
    if words == ["is", "a"]:
        words = ["is", "a", "kind", "of"]
    if words[:1] == ["wrote"]:
        words = ["written", *words[1:]]
    name = shorten(" ".join(words))
    if not are_words(words):
        return _leads(name or shorten(re.sub(r"[{}]", " ", relation_name).strip()) or "unnamed")
    of = subject_type(relation_name, domain)
    if words == ["people"] and not context:
        context = of  # the people of an ethnicity, of a cause of death
    note = "" if not context or _same(context, name) else f" ({shorten(context)})"
    asked = (note, _asked_for(range), _asked_for(domain))
    meets = note and context.split()[-1] not in PREPOSITIONS
    if meets and _same(of, name):  # award winner → awards won → award winner
        return _another(name, is_plural(words), context, *asked[1:])
    return _with_verb(words, asked) or _with_preposition(words, asked) or _as_noun(words, asked)


def _with_verb(words: list[str], asked: _Asked) -> TemplateText | None:
    """Write questions for names that begin with a verb; None for others."""
    first, last, many = words[0], words[-1], len(words) > 1
    if first in ("is", "are", "was", "were") and many:  # is located in, was born in
        noun = last == "of" and words[1] != "part" and not words[1].endswith(("ed", "ing"))
        phrase = shorten((_article(words[1]) if noun and words[1] not in ("a", "an", "the") else "") + _join(words[1:]))
        return _phrase(phrase, *asked, verb="Was" if first in ("was", "were") else "Is")
    if first in ("has", "have") and len(words) > 2 and (_is_participle(words[1]) or words[1] in _DONE):  # has won prize
        return _has_done(words[1], shorten(_join(words[2:])), *asked)
    if first in _VERBS or (last in PREPOSITIONS - {"of"} and len(words) == 2 and _is_verb_form(first)):
        return _verb(words, *asked)  # treats, works for
    if many and first.endswith("ly") and words[1] in _VERBS:  # partially contains
        return _verb(words[1:], *asked, adverb=first + " ")
    done = first in _DONE or (not many and not asked[0] and first.endswith("ed") and first not in _NO_PARTICIPLES)
    if done and first not in _JOINED and (not many or last in PREPOSITIONS - _PASSIVE):  # created, acted in
        return _phrase(shorten(_join(words)), *asked, verb="Has")
    if first in _JOINED and not many:  # associated
        return _phrase(f"{first} {'with' if first == 'associated' else 'to'}", *asked)
    return None


def _with_preposition(words: list[str], asked: _Asked) -> TemplateText | None:
    """Write questions for names with a preposition: mother of, born in, member of political party."""
    note, name = asked[0], shorten(_join(words))
    last = words[-1] if words[-1] in PREPOSITIONS and len(words) > 1 else ""
    if words[0] == "also" or (note and last and last != "of"):  # the name does not say whose it is
        return _as(f"“{name}”", False, *asked)  # also see, nominated for
    if last == "by" and not _is_participle(words[-2]):  # story by
        return _made_by(shorten(_join(words[:-1])), *asked)
    if last and last != "of" and _is_verb_form(words[0]):  # countries spoken in
        return _noun(f"“{name}”", True, *asked)
    if last:  # mother of, born in
        is_noun = last == "of" and (words[0] in _ING_NOUNS or not words[0].endswith(("ed", "ing")))
        is_noun = is_noun or words[-2].endswith(_NOUN_ENDS)
        return _phrase((_article(name) if is_noun else "") + name, *asked)
    if len(words) > 2 and words[1] in PREPOSITIONS:
        if _is_participle(words[0]):  # located in the administrative entity
            return _placed(" ".join(words[:2]), words[2:], *asked)
        if words[0] == "member" and words[-1] in _GROUPS:
            return _placed("a member of", words[2:], *asked)
    return None


def _as_noun(words: list[str], asked: _Asked) -> TemplateText:
    """Write questions for all other names: nationality, languages spoken, music."""
    name = shorten(_join(words))
    if name in _MADE_BY:
        return _made_by(name, *asked)
    if len(words) > 1 and (_is_participle(words[-1]) or words[-1] == "within"):
        many = any(is_plural([word.strip(",")]) for word in words[:-1])
        return _as(name, many, *asked)  # languages spoken, entity involved
    return _noun(name, is_plural(words), *asked)


def _leads(name: str) -> TemplateText:
    """Ask about a relation whose name has no words; a person has to write better questions."""
    return TemplateText(
        f"Does the relation “{name}” lead from {{subject}} to {{object}}?",
        f"Where does the relation “{name}” lead from {{subject}}?",
        f"From where does the relation “{name}” lead to {{object}}?",
    )


def _phrase(phrase: str, note: str, which_tail: str, which_head: str, *, verb: str = "Is") -> TemplateText:
    """Put a phrase such as "mother of" or "located in" between subject and object."""
    return TemplateText(
        f"{verb} {{subject}} {phrase} {{object}}{note}?",
        f"{which_tail} {verb.lower()} {{subject}} {phrase}{note}?",
        f"{which_head} {verb.lower()} {phrase} {{object}}{note}?",
    )


def _placed(phrase: str, words: list[str], note: str, which_tail: str, which_head: str) -> TemplateText:
    """Ask with a phrase and what the object is: located in the administrative entity, a member of the team."""
    what = shorten(_join(words[1:] if words[0] == "the" and len(words) > 1 else words))
    return TemplateText(
        f"Is {{subject}} {phrase} the {what} {{object}}{note}?",
        f"Which {what} is {{subject}} {phrase}{note}?",
        f"{which_head} is {phrase} the {what} {{object}}{note}?",
    )


def _has_done(done: str, what: str, note: str, which_tail: str, which_head: str) -> TemplateText:
    """Ask what the subject has won, written or got."""
    return TemplateText(
        f"Has {{subject}} {done} the {what} {{object}}{note}?",
        f"Which {what} has {{subject}} {done}{note}?",
        f"{which_head} has {done} the {what} {{object}}{note}?",
    )


def _made_by(work: str, note: str, which_tail: str, which_head: str) -> TemplateText:
    """Ask who made a part of the subject, for names such as "story by"."""
    article = "" if work in _MADE_BY else _article(work)
    return TemplateText(
        f"Is the {work} of {{subject}} by {{object}}{note}?",
        f"{which_tail} is the {work} of {{subject}} by{note}?",
        f"{which_head} has {article}{work} by {{object}}{note}?",
    )


def _as(name: str, many: bool, note: str, which_tail: str, which_head: str) -> TemplateText:
    """Ask for the object "as" the name, for names without article or "of": entity involved, languages spoken."""
    its = _its(which_head)
    place = f"among {its} {name}" if many else f"as {name}"
    return TemplateText(
        f"Does {{subject}} have {{object}} {place}{note}?",
        f"{which_tail} does {{subject}} have {place}{note}?",
        f"{which_head} has {{object}} {place}{note}?",
    )


def _another(name: str, many: bool, context: str, which_tail: str, which_head: str) -> TemplateText:
    """Ask for two of a kind that meet in something: spouses in a marriage, nominees of one award."""
    context = shorten(context)
    one = "one of the other" if many else "another"
    if _same(which_tail, name):
        which_tail = "What"
    head = f"among the other {name}" if many else f"as another {name}"
    return TemplateText(
        f"Is {{object}} {one} {name} in the {context} of {{subject}}?",
        f"{which_tail} is {one} {name} in the {context} of {{subject}}?",
        f"{which_head} has {{object}} {head} in their {context}?",
    )


def _verb(words: list[str], note: str, which_tail: str, which_head: str, *, adverb: str = "") -> TemplateText:
    """Ask with a verb what the subject does to the object: contains, interacts with."""
    first, rest = words[0], shorten("".join(f" {word}" for word in words[1:]))
    if first == "has" and rest:  # has part
        return TemplateText(
            f"Does {{subject}} have {{object}} as{rest}{note}?",
            f"{which_tail} does {{subject}} have as{rest}{note}?",
            f"{which_head} has {{object}} as{rest}{note}?",
        )
    return TemplateText(
        f"Does {{subject}} {adverb}{_base_form(first)}{rest} {{object}}{note}?",
        f"{which_tail} does {{subject}} {adverb}{_base_form(first)}{rest}{note}?",
        f"{which_head} {adverb}{first}{rest} {{object}}{note}?",
    )


def _noun(name: str, many: bool, note: str, which_tail: str, which_head: str) -> TemplateText:
    """Ask whether the object is a (or one of the) ... of the subject: nationality, languages."""
    its = _its(which_head)
    if _same(which_tail, name):  # not: Which language is a language of ...
        which_tail = "What"
    if many:
        return TemplateText(
            f"Is {{object}} one of the {name} of {{subject}}{note}?",
            f"{which_tail} {'is among' if ' ' in which_tail else 'are'} the {name} of {{subject}}{note}?",
            f"{which_head} has {{object}} among {its} {name}{note}?",
        )
    single = _SINGLE.fullmatch(name)
    return TemplateText(
        f"Is {{object}} {'the ' if single else _article(name)}{name} of {{subject}}{note}?",
        f"{which_tail} is the {name} of {{subject}}{note}?",
        f"{which_head} has {{object}} as {its + ' ' if single else _article(name)}{name}{note}?",
    )


def _its(which_head: str) -> str:
    return "their" if which_head == "Who" or which_head.endswith(" person") else "its"


def _join(words: list[str]) -> str:
    return " ".join(words)


def _same(one: str, other: str) -> bool:
    """Return whether both end in the same noun, singular or plural."""
    if not one or not other:
        return False
    return one.split()[-1].removesuffix("s") == other.split()[-1].removesuffix("s")


def _is_participle(word: str) -> bool:
    return word.endswith(("ed", "en", "wn", "ne", "held")) and word not in _NO_PARTICIPLES


def _asked_for(type_name: str) -> str:
    """Return how a question for an entity of this type begins: Who, Which country, What."""
    name = spell(type_name)
    if name in ("person", "people", "female", "male", "woman", "man"):
        return "Who"
    if not name.endswith(_PLURAL_TYPES) and not PREPOSITIONS & set(name.split()):  # countries: which country
        name = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
    return f"Which {shorten(name)}" if name and name not in ("object", "topic", "thing", "entity") else "What"


def _is_verb_form(word: str) -> bool:
    """Return whether the word is a third person singular: works for, belongs to."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _base_form(verb: str) -> str:
    """Return the infinitive: contains → contain, carries → carry, produces → produce, teaches → teach."""
    if verb == "has":
        return "have"
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith(("ches", "shes", "sses", "xes", "oes")) else verb.removesuffix("s")


def _article(noun: str) -> str:
    if noun.startswith(("uni", "use", "eu", "one")):
        return "a "
    return "an " if noun[:1].lower() in "aeiou" else "a "
