"""Check, fill and write question templates: texts with {subject} and {object}."""

import re
from typing import NamedTuple

from core.errors import UserError

MAX_LENGTH = 500
_SLOTS = re.compile(r"\{subject\}|\{object\}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class TemplateError(UserError):
    """Report a template that cannot be asked: which text is wrong and what to do."""


class TemplateText(NamedTuple):
    statement: str
    tail_question: str
    head_question: str


def check_template(statement: str, tail_question: str, head_question: str) -> None:
    """Raise TemplateError that names every text that breaks a rule."""
    problems = [
        *_problems("the statement", statement, needs=("{subject}", "{object}")),
        *_problems("the tail question", tail_question, needs=("{subject}",), forbids="{object}"),
        *_problems("the head question", head_question, needs=("{object}",), forbids="{subject}"),
    ]
    if problems:
        raise TemplateError("; ".join(problems))


def _problems(name: str, text: str, needs: tuple[str, ...], forbids: str = "") -> list[str]:
    if not text.strip():
        return [f"{name} is empty: write one"]
    problems = [f"{name} has no {slot}: put it where the name belongs" for slot in needs if slot not in text]
    if forbids and forbids in text:
        problems.append(f"{name} contains {forbids}, which is what it asks for: take it out")
    rest = _SLOTS.sub("", text)
    if "{" in rest or "}" in rest:
        problems.append(f"{name} has braces other than {{subject}} and {{object}}: take them out")
    if _CONTROL.search(text):
        problems.append(f"{name} has a tab, a line break or another control character: take it out")
    if len(text) > MAX_LENGTH:
        problems.append(f"{name} has {len(text)} characters: shorten it to {MAX_LENGTH}")
    return problems


def fill(template: str, subject: str, object: str) -> str:
    """Return the template with both names filled in, in one pass: braces inside a name stay as they are."""
    names = {"{subject}": subject, "{object}": object}
    return _SLOTS.sub(lambda slot: names[slot.group()], template)


# Last words of a relation name that make it a phrase to put before the object: "mother of", "located in".
_PREPOSITIONS = {"of", "in", "by", "at", "on", "to", "for", "with", "from", "as", "under", "over", "into", "near"}
# First words of a name that are verbs, as in UMLS and Freebase; every other name is taken for a noun.
_VERB_LIST = """
    affects analyzes assesses brings carries causes complicates consists contains creates defines
    describes diagnoses directs disrupts eats employs exhibits founds has includes indicates
    influences inhibits interacts interconnects knows likes loves makes manages measures owns
    performs plays practices precedes prevents produces speaks stimulates studies supports surrounds
    adjoins teaches traverses treats uses wants wins writes
"""
_VERBS = frozenset(_VERB_LIST.split())
_MADE_BY = frozenset({"music", "cinematography"})  # of a work, by a person
_NOUN_ENDS = ("ion", "ment", "ity", "er", "tor", "sor", "ssue")
_NO_PARTICIPLE_LIST = "seed breed need speed feed bed oxygen children women men garden airline line"
_NO_PARTICIPLES = frozenset(_NO_PARTICIPLE_LIST.split())
_PLURAL_TYPES = ("ss", "us", "is", "series", "species", "games", "olympics", "sports")
_ABBREVIATIONS = {"tv", "uk", "gdp", "gni", "ppp", "snl", "hud", "nba", "nfl", "ncaa", "dna", "rna", "ngo"}
_WORDS = re.compile(r"[^\W\d_][^\d_]*")  # not term0, P31, 17, →: no words of a language
_MAX_NAME = 100


def default_template(relation_key: str, domain: str = "", range: str = "") -> TemplateText:
    """Write a readable statement, tail question and head question for any relation, from its label or key.

    `domain` and `range` are the relation's declared types ('' where unknown); they name what is asked for.
    The texts pass check_template for every key.
    """
    relation_key, domain, range = (_CONTROL.sub(" ", text) for text in (relation_key, domain, range))
    context, words = _words_of(relation_key)
    if words == ["is", "a"]:
        words = ["is", "a", "kind", "of"]
    which_tail, which_head = _asked_for(range), _asked_for(domain)
    name = _shorten(" ".join(words))
    note = "" if not context or _same(context, name) else f" ({_shorten(context)})"
    if not _WORDS.fullmatch(name):
        name = name or _shorten(re.sub(r"[{}]", " ", relation_key).strip()) or "unnamed"
        return TemplateText(
            f"Does the relation “{name}” lead from {{subject}} to {{object}}?",
            f"Where does the relation “{name}” lead from {{subject}}?",
            f"From where does the relation “{name}” lead to {{object}}?",
        )
    asked = (note, which_tail, which_head)
    meets = note and context.split()[-1] not in _PREPOSITIONS
    if meets and _same(_subject_type(relation_key, domain), name):  # award winner → awards won → award winner
        return _another(name, _is_plural(words), context, *asked[1:])
    last = words[-1] if words[-1] in _PREPOSITIONS and len(words) > 1 else ""
    if words[0] in ("is", "are") and len(words) > 1:  # is located in
        return _phrase(" ".join(words[1:]), *asked)
    if words[0] in _VERBS or (last and last != "of" and len(words) == 2 and _is_verb_form(words[0])):
        return _verb(words, *asked)  # treats, works for
    if len(words) > 1 and words[0].endswith("ly") and words[1] in _VERBS:  # partially contains
        return _verb(words[1:], *asked, adverb=words[0] + " ")
    if words[0] == "also":  # also see
        return _as(f"“{name}”", False, *asked)
    if len(words) == 1 and words[0] in _MADE_BY:  # music
        return _made_by(name, *asked)
    if note and last and last != "of":  # the name does not say whose it is
        return _as(f"“{name}”", False, *asked)  # nominated for
    if last == "by" and not _is_participle(words[-2]):  # story by
        return _made_by(" ".join(words[:-1]), *asked)
    if last and last != "of" and _is_verb_form(words[0]):  # countries spoken in
        return _noun(f"“{name}”", True, *asked)
    if last:  # mother of, born in
        is_noun = (last == "of" and not words[0].endswith(("ed", "ing"))) or words[-2].endswith(_NOUN_ENDS)
        return _phrase((_article(name) if is_noun else "") + name, *asked)
    if len(words) > 1 and (_is_participle(words[-1]) or words[-1] == "within"):
        return _as(name, _is_plural(words[:-1]), *asked)  # languages spoken, entity involved
    return _noun(name, _is_plural(words), *asked)


def is_readable(relation_key: str) -> bool:
    """Return whether the name consists of words, so that people understand questions made from it."""
    return _WORDS.fullmatch(_shorten(" ".join(_words_of(_CONTROL.sub(" ", relation_key))[1]))) is not None


def _phrase(phrase: str, note: str, which_tail: str, which_head: str) -> TemplateText:
    """Put a phrase such as "mother of" or "located in" between subject and object."""
    return TemplateText(
        f"Is {{subject}} {phrase} {{object}}{note}?",
        f"{which_tail} is {{subject}} {phrase}{note}?",
        f"{which_head} is {phrase} {{object}}{note}?",
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
    its = "their" if which_head == "Who" else "its"
    place = f"among {its} {name}" if many else f"as {name}"
    return TemplateText(
        f"Does {{subject}} have {{object}} {place}{note}?",
        f"{which_tail} does {{subject}} have {place}{note}?",
        f"{which_head} has {{object}} {place}{note}?",
    )


def _another(name: str, many: bool, context: str, which_tail: str, which_head: str) -> TemplateText:
    """Ask for two of a kind that meet in something: spouses in a marriage, nominees of one award."""
    context = _shorten(context)
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
    first, rest = words[0], "".join(f" {word}" for word in words[1:])
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
    if _same(which_tail, name):  # not: Which language is a language of ...
        which_tail = "What"
    if many:
        return TemplateText(
            f"Is {{object}} one of the {name} of {{subject}}{note}?",
            f"{which_tail} {'is among' if ' ' in which_tail else 'are'} the {name} of {{subject}}{note}?",
            f"{which_head} has {{object}} among {'their' if which_head == 'Who' else 'its'} {name}{note}?",
        )
    return TemplateText(
        f"Is {{object}} {_article(name)}{name} of {{subject}}{note}?",
        f"{which_tail} is the {name} of {{subject}}{note}?",
        f"{which_head} has {{object}} as {_article(name)}{name}{note}?",
    )


def _same(one: str, other: str) -> bool:
    """Return whether both end in the same noun, singular or plural."""
    if not one or not other:
        return False
    return one.split()[-1].removesuffix("s") == other.split()[-1].removesuffix("s")


def _words_of(relation_key: str) -> tuple[str, list[str]]:
    """Split a key into its context ('' mostly) and its own words.

    /people/person/spouse_s./people/marriage/location_of_ceremony gives 'spouse', [location, of, ceremony].
    """
    parts = [part for part in relation_key.split("./") if part] or [relation_key]
    texts = [_spell(part) for part in parts]
    context = texts[-2] if len(texts) > 1 and texts[-2] != texts[-1] else ""
    return context, texts[-1].split()


def _spell(path: str) -> str:
    """Return the last segment of a path, URI or name as separate words; words of a language in lower case."""
    segment = re.split(r"[/#:]", path.rstrip("/#:. "))[-1]
    segment = re.sub(r"^isa$", "is_a", segment)
    segment = re.sub(r"_s$", "", segment)  # Freebase: spouse_s, release_date_s
    segment = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", segment)
    words = re.sub(r"[\s_.{}+]+", " ", segment).split()
    words = [word if word.isupper() else word.lower() for word in words]
    return " ".join(word.upper() if word in _ABBREVIATIONS else word for word in words)


def _subject_type(relation_key: str, domain: str) -> str:
    """Return the declared type of the head, else the one that a Freebase path begins with."""
    path = relation_key.split("./")[0] if "./" in relation_key else ""
    return _spell(domain or path.rpartition("/")[0])


def _is_plural(words: list[str]) -> bool:
    """Return whether the noun that the name is about is plural: notable people with this condition."""
    before = next((at for at, word in enumerate(words) if at and word in _PREPOSITIONS), len(words))
    noun = words[before - 1]
    return noun == "people" or (noun.endswith("s") and not noun.endswith(("ss", "us", "is", "series")))


def _is_participle(word: str) -> bool:
    return word.endswith(("ed", "en", "wn", "ne", "held")) and word not in _NO_PARTICIPLES


def _asked_for(type_name: str) -> str:
    """Return how a question for an entity of this type begins: Who, Which country, What."""
    name = _spell(type_name)
    if name in ("person", "people", "female", "male", "woman", "man"):
        return "Who"
    if not name.endswith(_PLURAL_TYPES) and not _PREPOSITIONS & set(name.split()):  # countries: which country
        name = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
    return f"Which {_shorten(name)}" if name and name not in ("object", "topic", "thing", "entity") else "What"


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


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_NAME else text[: _MAX_NAME - 1] + "…"
