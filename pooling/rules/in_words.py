"""Write mined rules in words, for the system's page and as a TSV file."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.files.storage import checked
from pooling.graphs.opening import given_templates, open_graph
from pooling.models import System
from pooling.questions.default_templates import default_template
from pooling.questions.relation_names import choices_in_words
from pooling.questions.templates import fill

if TYPE_CHECKING:
    from pooling.rules.kernels.rule_table import Rules

SHOWN = 200  # on the page
WEIGHTS = {0: (), 1: ("weight",), 2: ("weight for tails", "weight for heads")}  # by their number
VARIABLES = {1: "XY", 2: "XAY", 3: "XABY"}  # along the body, by its length


class RuleRow(NamedTuple):
    """Hold a rule as people read it; `share` is below 1 if its cases were counted from some entities only.

    `weights` are those that the system has learned, named in `RulesPage.weights`.
    """

    relation: str
    words: str
    support: int
    covered: int
    confidence: float
    share: float
    weights: tuple[float, ...]


class RulesPage(NamedTuple):
    """Hold what a system's page shows of its rules: the first ones, and the relations to choose from."""

    rows: list[RuleRow]
    total: int  # number of rules, shown or not
    relations: list[tuple[int, str, int]]  # id, words and number of rules of each relation that has any
    chosen: int | None
    weights: tuple[str, ...]  # what each learned weight of a rule is called


def has_rules(system: System) -> bool:
    """Return whether the system is of a kind that mines rules, and has mined some."""
    from pooling.systems import SYSTEMS
    from pooling.systems.rules import RuleSpec

    return bool(system.sha256) and isinstance(SYSTEMS.get(system.kind), RuleSpec)


def rules_page(system: System, relation: str | None) -> RulesPage | None:
    """Return the rules of a system for its page; None if it has none.

    `relation` is the id whose rules are asked for; any other value shows all.
    """
    if not has_rules(system):
        return None
    rules, names = _read(system), _names(system)
    ids, counts = np.unique(rules.relation, return_counts=True)
    found = dict(zip(ids.tolist(), counts.tolist(), strict=True))
    chosen = {str(r): r for r in found}.get(relation or "")
    return RulesPage(
        rules_in_words(system, chosen),
        sum(found.values()) if chosen is None else found[chosen],
        sorted(((r, names[r], n) for r, n in found.items()), key=lambda row: row[1]),
        chosen,
        WEIGHTS[_weights(rules).shape[1]],
    )


def _names(system: System) -> dict[int, str]:
    """Return each relation of the graph in words."""
    graph = open_graph(system.graph)
    return dict(choices_in_words((r, graph.relation_name(r), key) for r, key in enumerate(graph.relations)))


def _weights(rules: "Rules") -> np.ndarray:
    """Return the learned weights of the rules, float64[n, k]; k = 0 if the system learns none."""
    return np.zeros((len(rules), 0)) if rules.weight is None else rules.weight


def rules_in_words(system: System, relation: int | None = None, limit: int | None = SHOWN) -> list[RuleRow]:
    """Return the rules of a relation id, or of all; ArtifactError if the file is damaged.

    First come those of the largest weight, or the most confident ones where no weight is learned.
    """
    rules, say, names = _read(system), _statements(system), _names(system)
    chosen = np.arange(len(rules)) if relation is None else np.flatnonzero(rules.relation == relation)
    weights = _weights(rules)
    first = weights.max(axis=1) if weights.size else rules.confidence
    order = np.lexsort((-rules.support[chosen], -first[chosen]))[:limit]
    return [
        RuleRow(
            names[rules.relation[i]],
            _in_words(say, int(rules.relation[i]), rules.body_of(i)),
            int(rules.support[i]),
            int(rules.covered[i]),
            float(rules.confidence[i]),
            float(rules.share[i]),
            tuple(weights[i].tolist()),
        )
        for i in chosen[order].tolist()
    ]


def rules_tsv(system: System) -> Iterator[str]:
    """Return the lines of a TSV file of all rules, by relation and falling confidence; ArtifactError if damaged."""
    names = [" ".join(key.split()) for key in open_graph(system.graph).relations]
    return _tsv_lines(_read(system), names)  # which is read now, while an error can still be shown


def _tsv_lines(rules: "Rules", names: list[str]) -> Iterator[str]:
    weights = _weights(rules)
    named = [name.replace(" ", "_") for name in WEIGHTS[weights.shape[1]]]
    yield "\t".join(["relation", "body", "support", "cases", "share_counted", "confidence", *named]) + "\n"
    for i in range(len(rules)):
        body = ", ".join(f"{names[s >> 1]}({a}, {b})" for s, a, b in _atoms(rules.body_of(i)))
        counts = f"{rules.support[i]}\t{rules.covered[i]}\t{rules.share[i]:.6g}"
        numbers = "\t".join(f"{number:.6g}" for number in (rules.confidence[i], *weights[i]))
        yield f"{names[rules.relation[i]]}\t{body}\t{counts}\t{numbers}\n"


def _read(system: System) -> "Rules":
    from pooling.rules.kernels.rule_table import RULES, read_rules

    return read_rules(checked(system.artifact, RULES, system.sha256))


def _statements(system: System) -> list[str]:
    """Write each relation as a statement with {subject} and {object}, in the graph's own words if it has some."""
    graph, given = open_graph(system.graph), given_templates(system.graph)
    questions = [
        given[r] if r in given else default_template(graph.relation_name(r), graph.domains[r], graph.ranges[r])
        for r in range(graph.num_relations)
    ]
    return [statement_of(question.statement) for question in questions]


def _in_words(statements: list[str], relation: int, body: tuple[int, ...]) -> str:
    """Write a rule: If X is a parent of A and A is a brother of Y then X is an uncle of Y."""
    said = " and ".join(fill(statements[s >> 1], a, b) for s, a, b in _atoms(body))
    return f"If {said} then {fill(statements[relation], 'X', 'Y')}."


def _atoms(body: tuple[int, ...]) -> list[tuple[int, str, str]]:
    """Return relation, subject and object of each atom; an inverse one is written forwards."""
    names = VARIABLES[len(body)]
    return [(s, b, a) if s % 2 else (s, a, b) for s, a, b in zip(body, names, names[1:], strict=False)]


_NAME = r"(\{subject\}|\{object\})"
_LEADS = re.compile(rf"Does the relation (“.*”) lead from {_NAME} to {_NAME}")
_IS = re.compile(rf"(Is|Are|Was|Were|Has|Have|Had|Can|Did) {_NAME} (.+)")
_BY = re.compile(rf"Is (the .+) by {_NAME}(.*)")
_DOES = re.compile(rf"Does {_NAME} (\w+ly )?([^\W\d]+)(.*)")


def statement_of(question: str) -> str:
    """Turn a template's yes/no question into a statement: “{subject} is a parent of {object}”."""
    text = question.strip().rstrip("?").strip()
    if leads := _LEADS.fullmatch(text):
        return "{} leads from {} to {}".format(*leads.groups())
    if found := _IS.fullmatch(text):
        verb, name, rest = found.groups()
        return f"{name} {verb.lower()} {rest}"
    if found := _BY.fullmatch(text):
        work, name, rest = found.groups()
        return f"{work} is by {name}{rest}"
    if found := _DOES.fullmatch(text):
        name, adverb, verb, rest = found.groups()
        return f"{name} {adverb or ''}{_third_person(verb)}{rest}"
    return f"the answer to “{text}?” is yes"


def _third_person(verb: str) -> str:
    """Return the third person singular: contain → contains, carry → carries, have → has."""
    if verb == "have":
        return "has"
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("ch", "sh", "s", "x", "z", "o")) else "s")
