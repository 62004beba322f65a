"""Check and fill question templates: texts with {subject} and {object}."""

import re
from typing import NamedTuple

from core.errors import UserError
from pooling.questions.relation_names import CONTROL

MAX_LENGTH = 500
_SLOTS = re.compile(r"\{subject\}|\{object\}")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


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
    if CONTROL.search(text):
        problems.append(f"{name} has a tab, a line break or another control character: take it out")
    if len(text) > MAX_LENGTH:
        problems.append(f"{name} has {len(text)} characters: shorten it to {MAX_LENGTH}")
    return problems


def fill(template: str, subject: str, object: str) -> str:
    """Return the template with both names filled in, in one pass: braces inside a name stay as they are.

    Signs of Unicode that would turn round the rest of the question, as U+202E in a name, are left out.
    """
    names = {"{subject}": subject, "{object}": object}
    return _TURNING.sub("", _SLOTS.sub(lambda slot: names[slot.group()], template))
