"""What a table of a page can tell of itself: how many columns it has, and in each cell the heading of its column."""

import re
from html import unescape
from typing import NamedTuple

from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString, mark_safe

STACKED_FROM, CHOOSER_FROM = 4, 9  # columns
TEXT_STACKED_FROM = 3  # of tables in texts, whose cells hold sentences
PART = re.compile(r"<(/?)(thead|tfoot|tr|th|td)\b([^>]*)>")
SPAN = re.compile(r'colspan="(\d+)"')
UNSEEN = re.compile(r'<span class="(?:visually-hidden|cell-note)">.*?</span>', re.S)  # nothing of a heading's name
NONE = re.compile(r'\s*(?:–|<span class="muted">–</span>)\s*</td>')  # there is nothing: a stacked row leaves it away
BLANK = re.compile(r"\s*</t[dh]>")
NUMBER = re.compile(r"\s*(?:<a\b[^>]*>)?[\d,]+(?:</a>)?\s*</td>")  # names no row without its heading
PLAIN = re.compile("<table>(.*?)</table>", re.S)


class Labelled(NamedTuple):
    """A table's rows with the headings in their cells, and the number of columns."""

    html: SafeString
    columns: int
    is_stacked: bool  # whether each row becomes a block of lines where the page is narrow

    @property
    def has_chooser(self) -> bool:
        """Say whether people choose which columns they see."""
        return self.columns >= CHOOSER_FROM


def labelled(html: str, stacked_from: int = STACKED_FROM) -> Labelled:
    """Give each cell below the head of a table that is stacked the heading of its column as data-label.

    What names the row gets none: a row's header, and its first cell unless that is a mere number. A cell over several
    columns has no heading either.
    A cell that only says "–" is marked data-none.
    """
    names: list[str] = []
    found: list[str] = []
    said: dict[str, str] = {}  # the attribute of a heading
    in_head, column, done, heading = False, 0, 0, 0
    for part in PART.finditer(html):
        is_end, tag, attributes = part[1], part[2], part[3]
        if tag == "thead":
            in_head = not is_end
        elif tag == "tr" and not is_end:
            column = 0
            names = [] if in_head else names
        elif tag in ("th", "td") and not is_end:
            spans = SPAN.search(attributes)
            width = int(spans[1]) if spans else 1
            is_name = column == 0 and not NUMBER.match(html, part.end())
            is_own = tag == "td" and width == 1 and not is_name and column < len(names)
            is_blank = BLANK.match(html, part.end()) is not None
            if is_own and not in_head and names[column] and not is_blank:
                found.append(html[done : part.end() - 1])
                if names[column] not in said:
                    said[names[column]] = format_html(' data-label="{}"', names[column])
                found.append(said[names[column]])
                found.append(" data-none" if NONE.match(html, part.end()) else "")
                done = part.end() - 1
            column += width
            heading = part.end()
        elif in_head and tag in ("th", "td"):
            text = unescape(strip_tags(UNSEEN.sub("", html[heading : part.start()])))
            names += [" ".join(text.split())] * (column - len(names))
    found.append(html[done:])
    is_stacked = len(names) >= stacked_from
    return Labelled(mark_safe("".join(found) if is_stacked else html), len(names), is_stacked)


def framed(html: str) -> str:
    """Put each plain table of a text into a frame, as templates/components/table.html does for those of pages."""

    def frame(match: re.Match[str]) -> str:
        rows = labelled(match[1], TEXT_STACKED_FROM)
        kind = ' class="table-stack"' if rows.is_stacked else ""
        return f'<div class="table-wrap" tabindex="0"><table{kind}>{rows.html}</table></div>'

    return PLAIN.sub(frame, html)
