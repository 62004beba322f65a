"""The two themes: contrast by WCAG 2.2 AA in both, the same variables in both, and the switch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

CSS = Path(settings.BASE_DIR, "static/css/theme.css").read_text()
BLOCKS = re.findall(r"(:root[^{]*)\{([^{}]*)\}", CSS)
TEXT = ("--text", "--muted", "--accent", "--positive", "--negative", "--warn")
SERIES = tuple(f"--series-{n}" for n in range(1, 9))


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"(--[\w-]+):\s*(#[0-9a-f]{6})", block))


LIGHT, DARK, SWITCHED = (colours(block) for _, block in BLOCKS)


def luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_black_on_white_is_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_controls_are_readable(theme: dict[str, str]):
    poor = {
        (name, ground): round(contrast(theme[name], theme[ground]), 2)
        for name in TEXT
        for ground in ("--bg", "--surface", "--sunken")
        if contrast(theme[name], theme[ground]) < 4.5
    }
    pairs = [("--accent-text", "--accent", 4.5), ("--accent-text", "--accent-strong", 4.5)]
    pairs += [(name, f"{name}-soft", 4.5) for name in ("--positive", "--negative", "--warn", "--accent")]
    pairs += [("--text", f"--{name}-soft", 4.5) for name in ("positive", "negative", "warn", "accent")]
    pairs += [(name, "--surface", 3) for name in ("--control", "--focus", *SERIES)]
    poor |= {
        (one, other): round(contrast(theme[one], theme[other]), 2)
        for one, other, least in pairs
        if contrast(theme[one], theme[other]) < least
    }
    assert poor == {}


def test_themes_name_the_same_colours_and_the_switch_gives_the_dark_one():
    assert set(LIGHT) == set(DARK)
    assert DARK == SWITCHED


def test_every_page_loads_the_theme_before_it_is_painted(client, db):
    head = client.get("/login").content.decode().partition("</head>")[0]
    assert re.findall(r'<script src="[^"]*theme[^"]*"></script>', head) == [
        '<script src="/static/js/theme.js"></script>'
    ]
    assert re.findall(r'css/(\w+)\.css"', head) == ["theme", "base", "frame", "pages"]


def test_styles_use_variables_only():
    """A colour that is written out would be wrong in one of the themes; print is always on paper."""
    for name in ("base", "frame", "pages"):
        css = Path(settings.BASE_DIR, f"static/css/{name}.css").read_text().partition("@media print")[0]
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)|rgba?\(|hsla?\(", css) == []
