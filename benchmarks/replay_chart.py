"""Draw the chart of benchmarks/replay.py: an SVG for light and dark, in the colours of docs/images/flow.svg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP = 410, 270, 62, 58  # of a panel's plot, and the margins before it
STEP_X, STEP_Y = 470, 356
LIGHT = ("#14171f", "#7a8294", "#b3261e", "#2a46b3", "#00795c", "#9a5b00", "#7b2fa0", "#0086a8")
DARK = ("#eef1f6", "#98a2b6", "#ff8a80", "#8ea5ff", "#4cd3a7", "#ffb74d", "#d59bf0", "#5ad1ee")
DASHES = ("", "2 4", "", "", "", "7 4", "10 3 2 3", "7 4")

Lines = Mapping[str, Sequence[float]]  # of each order, at 0, 1, … 100 percent of the triples


def svg(panels: Sequence[tuple[str, str, Lines]], title: str, description: str) -> str:
    """Draw panels (title, name of the y axis, lines), two in a row, with one legend; y goes from 0 to 1."""
    names = list(panels[0][2])
    rows = (len(panels) + 1) // 2
    legend = TOP + rows * STEP_Y - 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 990 {legend + 66}" role="img" aria-labelledby="t d">',
        f'<title id="t">{title}</title>',
        f'<desc id="d">{description}</desc>',
        _style(len(names)),
        f'<rect class="ground" x="1" y="1" width="988" height="{legend + 64}" rx="8"/>',
    ]
    for i, panel in enumerate(panels):
        parts += _panel(*panel, LEFT + i % 2 * STEP_X, TOP + i // 2 * STEP_Y)
    for i, name in enumerate(names):
        x, y = LEFT + i % 4 * 220, legend + i // 4 * 28
        parts.append(f'<line class="s s{i}" x1="{x}" y1="{y}" x2="{x + 36}" y2="{y}"/>')
        parts.append(f'<text x="{x + 44}" y="{y + 5}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _style(lines: int) -> str:
    def colours(of: Sequence[str]) -> str:
        return "\n".join(f"    .s{i} {{ stroke: {of[i]}; }}" for i in range(lines))

    dashes = "\n".join(f"    .s{i} {{ stroke-dasharray: {DASHES[i]}; }}" for i in range(lines) if DASHES[i])
    return f"""<style>
    .ground {{ fill: #ffffff; stroke: #c9ced8; }}
    .grid {{ stroke: #e3e6ec; }}
    .s {{ fill: none; stroke-width: 2; }}
    .s0 {{ stroke-width: 5; }}
    text {{ font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #14171f; }}
    .name {{ font-weight: 600; }}
    .small {{ font-size: 12.5px; fill: #4a5263; }}
{colours(LIGHT)}
{dashes}
    @media (prefers-color-scheme: dark) {{
    .ground {{ fill: #14171f; stroke: #3a4252; }}
    .grid {{ stroke: #333b4a; }}
    text {{ fill: #eef1f6; }}
    .small {{ fill: #b4bccb; }}
{colours(DARK)}
    }}
</style>"""


def _panel(title: str, axis: str, lines: Lines, left: int, top: int) -> list[str]:
    parts = [
        f'<text class="name" x="{left}" y="{top - 28}">{title}</text>',
        f'<text class="small" x="{left}" y="{top - 9}">{axis}</text>',
    ]
    for tick in range(0, 101, 20):
        x, y = left + WIDTH * tick / 100, top + HEIGHT * (1 - tick / 100)
        parts += [
            f'<line class="grid" x1="{left}" y1="{y:g}" x2="{left + WIDTH}" y2="{y:g}"/>',
            f'<line class="grid" x1="{x:g}" y1="{top}" x2="{x:g}" y2="{top + HEIGHT}"/>',
            f'<text class="small" x="{left - 8}" y="{y + 4:g}" text-anchor="end">{tick / 100:g}</text>',
            f'<text class="small" x="{x:g}" y="{top + HEIGHT + 18}" text-anchor="middle">{tick} %</text>',
        ]
    for i, values in enumerate(lines.values()):
        points = " ".join(f"{left + WIDTH * x / 100:.1f},{top + HEIGHT * (1 - y):.1f}" for x, y in enumerate(values))
        parts.append(f'<polyline class="s s{i}" points="{points}"/>')
    return parts


def write(path: Path, text: str) -> None:
    aside = path.with_name(f".{path.name}.part")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)
