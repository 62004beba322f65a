"""Every text that people who label may read is marked for translation, so that no new sentence stays English."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.jslexer import tokenize
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
TEMPLATES = ROOT / "templates"
SCRIPTS = ROOT / "static" / "js"
# what other people read too, or what is English by its address
OTHERS = {
    "annotation/labelling/withdraw_confirm.html",
    "annotation/people/audit_log.html",
    "annotation/people/invitation_list.html",
    "annotation/people/member_list.html",
    "annotation/people/notice_list.html",
    "annotation/people/person_detail.html",
    "annotation/people/person_erase_other.html",
    "annotation/people/person_list.html",
    "annotation/people/person_secret.html",
    "components/chart_files.html",
    "components/pool_switch.html",
    "components/sidebar.html",
    "components/worker.html",
}
FOLDERS = ("components", "registration", "annotation/labelling", "annotation/people")
ALONE = (
    *("base.html", "home.html", "403.html", "403_csrf.html", "404.html", "500.html", "problem.html"),
    *("annotation/messages/message_list.html", "annotation/messages/guidelines_page.html"),
)
PAGES = [TEMPLATES / name for name in ALONE]
PAGES += [path for folder in FOLDERS for path in sorted((TEMPLATES / folder).glob("*.html"))]
PAGES = [path for path in PAGES if str(path.relative_to(TEMPLATES)) not in OTHERS]
NAMES = {"TriplePool", "Enter", "Esc", "Ctrl", "UTC", "https"}  # of keys, of the program, of units
MARKED = re.compile(
    r"{% comment.*?{% endcomment %}|{#.*?#}|{% blocktranslate.*?{% endblocktranslate %}|{%.*?%}|{{.*?}}"
    r"|(?<={% block main_class %})[\w -]*",
    re.S,
)
# words that a component is given: its first text, or one of these; what is marked is within _(…)
GIVEN = re.compile(r"{% (?:empty_state|chart_card|form_row|confirm|card|pill|table)\b(.*?)%}")
GIVEN_WORDS = re.compile(r'(?:^ |\b(?:help|keep|note|title|aria_label)=)"([^"]*)"')
ELEMENTS = {"a", "article", "form", "figure", "li", "nav", "p", "section", "attention", "cancelled", "done", "running"}
SEEN = {"aria-label", "placeholder", "title", "alt", "aria-description"}


class Texts(HTMLParser):
    """Collect what a page shows or reads out: texts, and attributes with words."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        self.found += [value for name, value in attrs if value and (name in SEEN)]

    def handle_data(self, data: str) -> None:
        if self.inside not in ("script", "style"):
            self.found.append(data)


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", text)) - NAMES


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_texts_of_a_template_are_marked(path: Path):
    reader = Texts()
    code = path.read_text(encoding="utf-8").replace("{{ element }}", "div")
    reader.feed(MARKED.sub(" ", code))
    given = [text for tag in GIVEN.findall(code) for text in GIVEN_WORDS.findall(tag) if text not in ELEMENTS]
    assert [text.strip() for text in reader.found + given if words(text)] == []


def test_words_that_a_component_is_given_are_found():
    code = (
        '{% form_row "Name" for="x" help=_("fine") %}{% card "section" aria_label="Keys" %}{% empty_state _("fine") %}'
    )
    assert [text for tag in GIVEN.findall(code) for text in GIVEN_WORDS.findall(tag)] == ["Name", "section", "Keys"]


def loaded(name: str) -> set[Path]:
    """A script of a page and those that it imports."""
    waiting, found = [SCRIPTS / name], set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            imports = re.findall(r'from "(\.[^"]+)"', path.read_text(encoding="utf-8"))
            waiting += [(path.parent / other).resolve() for other in imports]
    return found


def test_sentences_of_scripts_are_marked():
    wrong = {}
    for path in sorted(set().union(*map(loaded, ("annotate.js", "adjudicate.js", "account.js")))):
        before = ["", ""]
        for token in tokenize(path.read_text(encoding="utf-8")):
            text = token.value[1:-1] if token.type in ("string", "template_string") else ""
            bare = re.sub(r"\$\{.*?\}", "", text)
            sentence = re.match(r"[A-Z“][\w’]*[a-z][\w’]*( |[.:?])", bare) or re.fullmatch(
                r"[a-z’]+( [a-z’]+){2,}", bare
            )
            is_marked = before[-1] in ("(", ",") and any(call in before for call in ("gettext", "ngettext"))
            is_read = "Unreachable" not in before  # an error that no page shows
            if sentence and is_read and not is_marked and "gettext(" not in text:
                wrong.setdefault(path.name, []).append(text)
            if token.type not in ("linecomment", "multilinecomment"):
                before = [*before, token.value][-6:]
    assert wrong == {}


REFUSALS = {"AnswerRefused", "NotYours", "EvidenceError"}  # errors that only people who label cause


def test_refusals_of_answers_are_marked():
    wrong = []
    for path in sorted((ROOT / "annotation").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            call = node.exc if isinstance(node, ast.Raise) else None
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in REFUSALS):
                continue
            if call.args and isinstance(call.args[0], ast.Constant):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
            if call.args and isinstance(call.args[0], ast.JoinedStr):
                parts = [part.value for part in call.args[0].values if isinstance(part, ast.Constant)]
                wrong += [f"{path.relative_to(ROOT)}:{node.lineno}" for part in parts if words(str(part))]
    assert wrong == []
