"""Pages as tests read them: elements by data-test, id or tag, and their words with white space as one space."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any

import pytest

from core.errors import UserError

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
INLINE = {"a", "b", "code", "em", "i", "kbd", "label", "small", "span", "strong", "sub", "sup", "time"}


class Element:
    """An element of a page, or the page itself (tag "")."""

    def __init__(self, tag: str, attrs: dict[str, str]) -> None:
        self.tag, self.attrs = tag, attrs
        self.children: list[Element | str] = []

    def __getitem__(self, name: str) -> str:
        return self.attrs[name]

    def __contains__(self, name: str) -> bool:
        return name in self.attrs

    @property
    def elements(self) -> list[Element]:
        return [child for child in self.children if isinstance(child, Element)]

    def walk(self) -> Iterator[Element]:
        """Yield every element inside, in the order of the page."""
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.walk()

    def all(self, test: str = "", *, tag: str = "", **attrs: str) -> list[Element]:
        """Return the elements inside with this data-test, tag and attributes (`class` as class_)."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attrs.items()}
        return [
            one
            for one in self.walk()
            if (not test or one.attrs.get("data-test") == test)
            and (not tag or one.tag == tag)
            and all(one.attrs.get(name) == value for name, value in wanted.items())
        ]

    def one(self, test: str = "", *, tag: str = "", **attrs: str) -> Element:
        """Return the element inside with this data-test, tag and attributes; there must be exactly one."""
        (found,) = self.all(test, tag=tag, **attrs)
        return found

    def has(self, test: str = "", *, tag: str = "", **attrs: str) -> bool:
        return bool(self.all(test, tag=tag, **attrs))

    @property
    def text(self) -> str:
        """Return the words inside, as a person reads them."""
        return " ".join("".join(self._pieces()).split())

    def _pieces(self) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.tag in INLINE and "cell-note" not in child.attrs.get("class", ""):
                yield from child._pieces()
            elif child.tag not in ("script", "style", "head"):
                yield " "
                yield from child._pieces()
                yield " "

    def texts(self, test: str = "", *, tag: str = "", **attrs: str) -> list[str]:
        return [one.text for one in self.all(test, tag=tag, **attrs)]

    @property
    def rows(self) -> list[list[str]]:
        """Return the words of each cell of the table's body; no rows where there is no table."""
        found = [row for body in self.all(tag="tbody") for row in body.all(tag="tr")]
        return [[cell.text for cell in row.walk() if cell.tag in ("th", "td")] for row in found]

    @property
    def figures(self) -> dict[str, str]:
        """Return the words of each <dd> by the data-test of its <div>, or by the words of its <dt> without one."""
        pairs = [one for one in self.all(tag="div") if [child.tag for child in one.elements] == ["dt", "dd"]]
        return {one.attrs.get("data-test", one.one(tag="dt").text): one.one(tag="dd").text for one in pairs}

    @property
    def messages(self) -> list[str]:
        """Return what the page says was done or refused before it was shown."""
        return [text for one in self.all(class_="messages") for text in one.texts(tag="li")]

    @property
    def errors(self) -> list[str]:
        """Return the errors beside fields and above forms."""
        return [text for one in self.all(class_="errorlist") for text in one.texts(tag="li")]


def numbers(text: str) -> list[str]:
    """Return the numbers that a sentence tells, in its order."""
    return re.findall(r"\d+(?:\.\d+)?", text)


def codes(form: Any) -> dict[str, list[str]]:
    """Return the codes of a form's errors by field; an error of our own words has none: its message is given."""
    return {
        field: [error.code or str(error.messages[0]) for error in errors]
        for field, errors in form.errors.as_data().items()
    }


def refused(response: Any, form: str = "form") -> dict[str, list[str]]:
    """Return the codes of the errors of a form in the context, by field; the page must show each of their messages."""
    bound, told = response.context[form], refusals(response)
    for message in (str(one) for errors in bound.errors.values() for one in errors):
        assert any(" ".join(message.split()) in one for one in told), (message, told)
    return codes(bound)


def refusal(act: Callable[[], object]) -> list[str]:
    """Return what the domain says against an act, line by line, with white space as on a page."""
    with pytest.raises(UserError) as caught:
        act()
    return [" ".join(line.split()) for line in str(caught.value).splitlines()]


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in (one.tag for one in self.open):
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(page: Any, status: int = 200) -> Element:
    """Return the page of a response, which must have this status, or of a text."""
    if not isinstance(page, str):
        assert page.status_code == status, page.status_code
    return parse(page)


def parse(page: Any) -> Element:
    """Return the page of a response of any status, or of a text."""
    return _parsed(page if isinstance(page, str) else page.content.decode())


@lru_cache(maxsize=4)
def _parsed(text: str) -> Element:
    """Parse a page once, however many things a test looks for in it; nobody changes what was parsed."""
    builder = _Builder()
    builder.feed(text)
    return builder.open[0]


def elements(page: Any, name: str) -> list[Element]:
    """Return the elements with this data-test; where there is none, the one with this id."""
    top = parse(page)
    return top.all(name) or top.all(id=name)


def element(page: Any, name: str) -> Element:
    """Return the only element with this data-test or id."""
    (found,) = elements(page, name)
    return found


def has(page: Any, name: str) -> bool:
    return bool(elements(page, name))


def content(page: Any) -> Element:
    """Return what is below the frame of a page."""
    top = parse(page)
    return next(iter(top.all(tag="main")), top)


def table(page: Any, name: str) -> list[list[str]]:
    """Return the words of each cell in the bodies of the tables inside an element."""
    return element(page, name).rows


def links(page: Any) -> dict[str, str]:
    """Return the words of each link in the content, by address."""
    return {a["href"]: a.text for a in content(page).all(tag="a")}


def posts(page: Any) -> list[str]:
    """Return the addresses to which the forms of the content post; "" is the page itself."""
    return [form.attrs.get("action", "") for form in content(page).all(tag="form", method="post")]


def fields(page: Any) -> dict[str, str]:
    """Return the value with which each field of the forms in the content begins, by name."""
    found = {}
    for one in content(page).walk():
        if one.tag == "input" and "name" in one:
            found[one["name"]] = one.attrs.get("value", "")
        elif one.tag == "textarea" and "name" in one:
            found[one["name"]] = one.text
        elif one.tag == "select":
            chosen = [option for option in one.all(tag="option") if "selected" in option]
            found[one["name"]] = chosen[0].attrs.get("value", chosen[0].text) if chosen else ""
    return found


def refusals(page: Any) -> list[str]:
    """Return what a page says against what was sent: of the whole form, then of its fields."""
    top = parse(page)
    whole = [one.text for one in top.walk() if "notice-error" in one.attrs.get("class", "").split()]
    return whole + top.errors


def notices(page: Any) -> list[str]:
    return parse(page).messages


def charts(page: Any) -> dict[str, Element]:
    """Return the charts of a page by their key."""
    return {one["data-chart"]: one for one in parse(page).walk() if "data-chart" in one}


def drawn(chart: Element) -> dict[str, list[str]]:
    """Return what hover says of each series of a chart, in its wide drawing."""
    marks = chart.all(tag="svg")[0].walk()  # the larger drawing
    return {one["data-name"]: one["data-says"].split("|") for one in marks if "data-says" in one}
