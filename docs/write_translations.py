"""Bring the translations in line with the marked texts, and compile them: python docs/write_translations.py [language].

Texts are marked by gettext in Python and in scripts, and by translate tags in templates. A new text comes into the
.po files untranslated; a language that is named and new gets its files. gettext's own programs are not needed.
"""

import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "annotation" / "locale"
PYTHON = ("config", "core", "pooling", "annotation", "evaluation")
WORDS: dict[str, tuple | None] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
FIRST = datetime(2026, 11, 25, tzinfo=UTC)  # a file says when it began, not when it was written last


class Marked(NamedTuple):
    """A text to translate: one, or singular and plural."""

    text: str | tuple[str, str]
    context: str | None
    file: str


def _of_file(path: Path, code: str, method: str) -> Iterator[Marked]:
    # a template becomes Python with its texts in calls; what its lines begin with is no indentation
    lines = "".join(f"{line.strip()}\n" for line in code.splitlines()) if path.suffix in (".html", ".txt") else code
    options = {"parse_template_string": True}  # texts within `${…}` of scripts too
    for _, text, _, context in extract(method, io.BytesIO(lines.encode()), WORDS, options=options):
        yield Marked(tuple(text) if isinstance(text, (list, tuple)) else text, context, str(path.relative_to(ROOT)))


def marked(domain: str) -> Iterator[Marked]:
    """Yield the marked texts of templates and Python ("django"), or of scripts ("djangojs")."""
    if domain == "djangojs":
        for path in sorted((ROOT / "static" / "js").rglob("*.js")):
            yield from _of_file(path, path.read_text(encoding="utf-8"), "javascript")
        return
    for folder in PYTHON:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from _of_file(path, path.read_text(encoding="utf-8"), "python")
    for path in sorted(path for path in (ROOT / "templates").rglob("*.*") if path.suffix in (".html", ".txt")):
        yield from _of_file(path, templatize(path.read_text(encoding="utf-8"), origin=str(path)), "python")


def template(domain: str) -> Catalog:
    """Return the marked texts as a catalogue without translations."""
    catalog = Catalog(creation_date=FIRST)
    for one in marked(domain):
        catalog.add(one.text, locations=[(one.file, 1)], context=one.context)
    return catalog


def path_of(language: str, domain: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.po"


def read(path: Path, language: str) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=language)


def compiled(catalog: Catalog) -> bytes:
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def write(language: str) -> int:
    """Write both catalogues of a language; return how many texts wait for a translation."""
    waiting = 0
    for domain in ("django", "djangojs"):
        path = path_of(language, domain)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            catalog = read(path, language)
        else:
            catalog = Catalog(
                language, project="TriplePool", version="1", creation_date=FIRST, revision_date=FIRST, fuzzy=False
            )
        catalog.update(template(domain), no_fuzzy_matching=True, update_creation_date=False)
        with path.open("wb") as file:
            write_po(file, catalog, width=120, ignore_obsolete=True, sort_by_file=True, include_lineno=False)
        path.with_suffix(".mo").write_bytes(compiled(read(path, language)))
        for message in catalog:
            parts = message.string if isinstance(message.string, (list, tuple)) else (message.string,)
            if message.id and not all(parts):
                waiting += 1
                print(f"{path.name}: {message.id!r}")
    return waiting


if __name__ == "__main__":
    languages = sys.argv[1:] or sorted(path.name for path in LOCALE.iterdir() if path.is_dir())
    sys.exit(1 if sum(map(write, languages)) else 0)
