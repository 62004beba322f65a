"""Show pages of docs/ on the site."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _
from markdown_it import MarkdownIt
from markdown_it.token import Token

from annotation.messages.guidelines import alt_text
from core.tables import framed


class Listed(NamedTuple):
    """Name a page of docs/ in the list of help pages."""

    name: str  # its file in docs/, without .md
    label: str | Promise
    about: str | Promise
    for_everybody: bool = False  # annotators and adjudicators read it too, and their search translates its words


# the groups and labels of config/mkdocs.yml; what the site does not show is for people at the server
GROUPS: dict[str, tuple[Listed, ...]] = {
    "Tutorial": (Listed("tutorial", "Tutorial", "From a folder of triples to a completed test set of your own."),),
    "How to": (
        Listed("labelling", _("Label statements"), _("Annotate and adjudicate: views, keys, evidence, reports."), True),
        Listed("pooling", "Plan a pool", "Seeds, filters, orders of judging, when to stop, what it costs."),
        Listed("annotation", "Run a campaign", "Questions, sources, guidelines, people, quality."),
        Listed("api", _("Use the API"), _("The site by script, with examples."), True),
        Listed("notebooks", "Measure in a notebook", "Measures and tests on DataFrames."),
        Listed("webhooks", "Tell other programs", "Signed messages to an address of yours when something happens."),
        Listed("keeping", "Keep and delete", "Backup, restore, archive, deletion."),
        Listed(
            "troubleshooting",
            _("Find what a message means"),
            _("Messages of pages and commands, with their cure."),
            True,
        ),
    ),
    "Reference": (
        Listed("commands", "Commands", "Every command with its arguments and options."),
        Listed("formats", "Files", "Every file that goes in or comes out."),
        Listed("measures", "Measures", "Each measure with its formula, conventions and source."),
        Listed("systems", "Systems", "Each system with its formula, settings and measured figures."),
        Listed("glossary", _("Glossary"), _("The words of this site, one line each."), True),
    ),
    "Explanation": (
        Listed("evaluation", "Evaluation", "What each evaluation page shows, and how it is computed."),
        Listed("lenses", "Lenses", "Max-k, open world and PROBE: other ways to read the same ranks."),
        Listed("reproduction", "Reproduction", "Where each table and figure of the papers is."),
    ),
    "Project": (Listed("citing", "Cite", "How to cite TriplePool, a test set, and the papers."),),
}
LISTED = {page.name: page for group in GROUPS.values() for page in group}
PAGES = tuple(LISTED)
FOR_EVERYBODY = tuple(name for name, page in LISTED.items() if page.for_everybody)
_PICTURES = re.compile(r"^(<picture>.*</picture>|<img [^>]*>|<!--.*-->|!\[.*\]\(.*\))$\n?", re.M)
CONTENTS = "h2"  # the headings that the table of contents lists


@dataclass(frozen=True)
class Heading:
    slug: str
    text: str


@dataclass(frozen=True)
class HelpPage:
    title: str
    contents: Sequence[Heading]
    html: SafeString


def listed_for(*, evaluator: bool) -> dict[str, list[Listed]]:
    """Return the help pages that a person may read, by group; groups without any are left out."""
    shown = {name: [page for page in group if evaluator or page.for_everybody] for name, group in GROUPS.items()}
    return {name: pages for name, pages in shown.items() if pages}


def help_page(page: str, *, evaluator: bool = True) -> HelpPage | None:
    """Return a help page with the links that its reader may open, or None if no page has that name."""
    path = Path(settings.BASE_DIR) / "docs" / f"{page}.md"
    if page not in PAGES or not path.is_file():
        return None
    return _read(path, path.stat().st_mtime_ns, PAGES if evaluator else FOR_EVERYBODY)


@lru_cache(maxsize=2 * len(PAGES))
def _read(path: Path, _changed: int, linked: tuple[str, ...]) -> HelpPage:
    return render_help(path.read_text(encoding="utf-8"), linked)


class Term(NamedTuple):
    """Hold words that a line of the glossary explains."""

    names: tuple[str, ...]
    about: str  # its first sentence
    slug: str  # of the heading that it is below


def glossary_terms() -> Sequence[Term]:
    """Return the terms of docs/glossary.md in its order."""
    path = Path(settings.BASE_DIR) / "docs" / "glossary.md"
    return _terms(path, path.stat().st_mtime_ns) if path.is_file() else ()


@lru_cache(maxsize=1)
def _terms(path: Path, _changed: int) -> Sequence[Term]:
    found, slug = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            slug = slugify(line)
        elif line.startswith("**"):
            named, _, about = line.partition("**: ")
            names = tuple(name.strip() for name in named.replace("*", "").split(","))
            found.append(Term(names, about.replace("*", "").partition(". ")[0].rstrip("."), slug))
    return tuple(found)


def render_help(text: str, linked: Sequence[str] = PAGES) -> HelpPage:
    """Render our own Markdown as HTML: ids on headings (as {{ text|slugify }} makes them), no raw HTML, no images.

    Pictures and comments, which are lines of their own in docs/, are left out.

    The first heading of level 1 becomes the title. Links to the pages of docs/ that are `linked` lead to these; a link
    to another file stays as its text.
    """
    tokens = _READER.parse(_PICTURES.sub("", text))
    title, tokens = _title(tokens)
    headings = _name_headings(tokens)
    for token in tokens:
        if token.type == "inline" and token.children:
            token.children = _within_site(token.children, linked)
    html = _READER.renderer.render(tokens, _READER.options, {})
    html = framed(html).replace("<pre>", '<pre tabindex="0">')  # what scrolls sideways can be reached by key
    return HelpPage(title, headings, mark_safe(html))  # markdown-it escapes all text; raw HTML is off


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("image", alt_text)
    return reader


_READER = _reader()


def _plain(token: Token) -> str:
    return "".join(child.content for child in token.children or [])


def _title(tokens: list[Token]) -> tuple[str, list[Token]]:
    for i, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1":
            return _plain(tokens[i + 1]), tokens[:i] + tokens[i + 3 :]
    return "Help", tokens


def _name_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give each heading its id (the second of a name gets -2); return those of the table of contents."""
    seen: Counter[str] = Counter()
    found = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = _plain(inline)
            slug = slugify(text)
            seen[slug] += 1
            token.attrSet("id", slug if seen[slug] == 1 else f"{slug}-{seen[slug]}")
            if token.tag == CONTENTS:
                found.append(Heading(str(token.attrGet("id")), text))
    return found


def _within_site(children: Sequence[Token], linked: Sequence[str]) -> list[Token]:
    """Turn links to these pages of docs/ into links of the site; links to other files become text."""
    kept: list[Token] = []
    shown: list[bool] = []  # of the links that are open
    for child in children:
        if child.type == "link_open":
            target = _target(str(child.attrGet("href") or ""), linked)
            shown.append(target is not None)
            if target is not None:
                child.attrSet("href", target)
                kept.append(child)
        elif child.type == "link_close":
            if shown.pop():
                kept.append(child)
        else:
            kept.append(child)
    return kept


def _target(href: str, linked: Sequence[str]) -> str | None:
    parts = urlsplit(href)
    if parts.scheme or parts.netloc:
        return href if parts.scheme == "https" else None
    if not parts.path:
        return href  # a place of this page
    page = Path(parts.path).name.removesuffix(".md")
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    return reverse("help-page", args=[page]) + anchor if page in linked else None
