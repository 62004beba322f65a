"""The catalogues of translations: complete, compiled, and about the texts that are marked, no others."""

from __future__ import annotations

import gettext
import io
import re

import pytest
from django.conf import settings

from tests.test_docs import writer

catalogues = writer("translations")
LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
EACH = [(code, domain) for code in LANGUAGES for domain in ("django", "djangojs")]
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{[\w.]*\}|%s|%d")


@pytest.mark.parametrize(("language", "domain"), EACH)
def test_catalogue_has_the_marked_texts_and_no_others(language: str, domain: str):
    """Where it has not: python docs/write_translations.py"""
    known = catalogues.read(catalogues.path_of(language, domain), language)
    wanted = catalogues.template(domain)
    assert {(one.id, one.context) for one in known} == {(one.id, one.context) for one in wanted}
    assert known.obsolete == {}


@pytest.mark.parametrize(("language", "domain"), EACH)
def test_every_text_is_translated_with_its_placeholders(language: str, domain: str):
    for message in catalogues.read(catalogues.path_of(language, domain), language):
        if not message.id:
            continue
        said = message.id if isinstance(message.id, tuple) else (message.id,)
        translated = message.string if isinstance(message.string, tuple) else (message.string,)
        assert all(translated) and not message.fuzzy, message.id
        wanted = set().union(*(PLACEHOLDER.findall(text) for text in said))
        for text in translated:
            assert set(PLACEHOLDER.findall(text)) <= wanted, message.id
            assert len(translated) > 1 or set(PLACEHOLDER.findall(text)) == wanted, message.id
            assert (text[0].isspace(), text[-1].isspace()) == (said[0][0].isspace(), said[0][-1].isspace()), message.id


@pytest.mark.parametrize(("language", "domain"), EACH)
def test_compiled_file_is_that_of_its_catalogue(language: str, domain: str):
    """Where it is not: python docs/write_translations.py"""
    path = catalogues.path_of(language, domain)
    made = gettext.GNUTranslations(io.BytesIO(catalogues.compiled(catalogues.read(path, language))))
    with path.with_suffix(".mo").open("rb") as file:
        kept = gettext.GNUTranslations(file)
    for one in (kept, made):  # who made it is no part of it: any Babel may
        one.info().pop("generated-by", None)
        one._catalog.pop("")  # the text of info()
    assert (kept.info(), kept._catalog) == (made.info(), made._catalog)


def test_a_question_is_the_triple_question_and_a_statement_what_one_label_answers():
    """A text that is about several statements, as "where has Ada lived?" is, belongs into this list."""
    questions = {
        "%(n)s questions were assigned to you: they come first.",
        "Another dispute of this question",
        "By question",
        "By question: No for the remaining rows; Undo within 10 seconds takes all back",
        "By question: a link for this row alone",
        "By question: another row",
        "By question: the next question, when all rows are answered",
        "Evidence for this question",
        "Next question",
        "One question was assigned to you: it comes first.",
        "Search one of the first sources in the side window; by question, one of those below the link",
        "Take the last source of this question",
        "Take the question’s link",
        "The disputes of this question",
        "You have given no other link for this question yet.",
        "from the question",
    }
    said = set()
    for domain in ("django", "djangojs"):
        for message in catalogues.template(domain):
            said |= {text for text in ([message.id] if isinstance(message.id, str) else message.id) if text}
    assert {text for text in said if re.search(r"\b[qQ]uestions?\b", text)} == questions
    assert {text for text in said if re.search(r"\b([iI]tem|[tT]riple)s?\b", text)} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_name_a_button_by_what_is_written_on_it(language: str):
    button = catalogues.read(catalogues.path_of(language, "django"), language).get("Undo").string
    sentences = [
        message.string
        for domain in ("django", "djangojs")
        for message in catalogues.read(catalogues.path_of(language, domain), language)
        if "Undo" in message.id
    ]
    assert len(sentences) > 3
    assert [text for text in sentences if button not in text] == []
